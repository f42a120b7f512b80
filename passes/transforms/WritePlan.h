//===- WritePlan.h - a candidate as a plan attribute ------------------------------------------------------------===//
#ifndef BRAID_PASSES_TRANSFORMS_WRITEPLAN_H
#define BRAID_PASSES_TRANSFORMS_WRITEPLAN_H

#include "braid/cost_models/Price.h"
#include "braid/dialect/BraidOps.h"

namespace mlir::braid {

namespace cost = ::braid::cost;

/// Sets the plan with the fingerprint of what it is made for.
void writePlan(CollectiveOpInterface op, cost::Engine engine, const cost::Candidate &candidate, StringRef clusterHash);

/// "ring/LL128", or "ring" for an engine without protocols.
std::string describe(const cost::Candidate &candidate);
/// Why its flows have these connections and ports; empty: it has no path.
std::string describePath(const cost::Candidate &candidate);

} // namespace mlir::braid

#endif
