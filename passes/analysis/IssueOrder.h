//===- IssueOrder.h - the order of collectives as hashes --------------------------------------------------------===//
//
// All ranks run the same module, so the order in which a module issues collectives is the order of every rank, as long
// as control flow is uniform. Ranks compare the hashes before the first step. Reads the IR only: it shares no code with
// the planner.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_ISSUEORDER_H
#define BRAID_PASSES_ANALYSIS_ISSUEORDER_H

#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>

namespace mlir::braid {

struct IssueOrder {
  std::string all; ///< hash over every collective, in text order, with loops and calls around them
  std::map<std::string, std::string>
      communicators; ///< by groups ("1x128-5eed1234": count, size, hash of ids): those of it alone
  int64_t collectives = 0;
};

/// Over (kind, type, bytes, groups, algorithm, protocol, chunks) of each collective.
IssueOrder issueOrder(ModuleOp module);

} // namespace mlir::braid

#endif
