//===- PlannedLaunches.h - the launches of a planned module, as they stand in its text --------------------------===//
#ifndef BRAID_PASSES_PLANNEDLAUNCHES_H
#define BRAID_PASSES_PLANNEDLAUNCHES_H

#include "braid/cost_models/Price.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::braid {

struct PlannedLaunch {
  ::braid::cost::CollectiveSpec spec;
  /// What is sent, for each tensor: equal in all plans of one program, wherever its collective stands.
  std::vector<std::string> tensors;
  std::string algorithm; ///< "ring/LL"; empty: it has no plan
  std::string start;     ///< key of the computation before it; empty: there is none
  std::string behind;    ///< the same for people: "stablehlo.dot at f.mlir:3:7"
  int beside = 0;        ///< operations between start and wait
};

struct PlannedText {
  std::string program;                 ///< hash of the program before planning
  std::vector<PlannedLaunch> launches; ///< of kinds that are planned, in the order of the text
};

/// Errors are emitted on the collectives.
FailureOr<PlannedText> readPlannedLaunches(ModuleOp module);

} // namespace mlir::braid

#endif
