//===- Fingerprint.h - what a plan was made for -----------------------------------------------------------------===//
#ifndef BRAID_PASSES_FINGERPRINT_H
#define BRAID_PASSES_FINGERPRINT_H

#include "braid/dialect/BraidOps.h"
#include <string>

namespace mlir::braid {

/// Hash of kind, reduction, operand types, groups (by what they expand to) and the cluster's hash, 16 hexadecimal
/// digits. A plan whose fingerprint differs from that of its collective is stale.
std::string planFingerprint(CollectiveOpInterface op, StringRef clusterHash);

/// The collective has a plan, and it was made for exactly this collective on this cluster.
bool hasFreshPlan(CollectiveOpInterface op, StringRef clusterHash);

} // namespace mlir::braid

#endif
