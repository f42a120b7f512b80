//===- MeasuredOps.h - a profiler's measurements as times of a program's locations ------------------------------===//
//
// A profiler measures what a compiler made of a program: kernels, which have lost the program's operations and kept names
// and source lines. This finds the operations that a measured kernel stands for, and gives their locations its time.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_MEASUREDOPS_H
#define BRAID_PASSES_MEASUREDOPS_H

#include "braid/cost_models/Units.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

namespace mlir::braid {

/// What a profiler says of where an operation comes from; either may be empty.
struct SourcePlace {
  std::string name; ///< "jit(step)/jvp()/dot_general"
  std::string line; ///< "model.py:12"
};

/// One kernel or operation of a trace.
struct MeasuredOp {
  std::string label;           ///< the trace's own name, for reports
  ::braid::cost::Seconds time; ///< of all its executions in one step
  /// What it is made of: a fused kernel has a part for each operation. Of a part, the places that it may be known by, the most
  /// exact first; the first one that the program knows counts.
  std::vector<std::vector<SourcePlace>> parts;
};

struct MatchedOps {
  std::map<std::string, ::braid::cost::Seconds> locations; ///< as a compute profile has them
  std::vector<const MeasuredOp *> unmatched;               ///< those that take longest first
  int64_t kernels = 0, measuredKernels = 0;          ///< of the program, where computation takes time; with a time
  ::braid::cost::Seconds roofline, measuredRoofline; ///< of these, per step
};

/// Where an operation's time goes, in one step:
///
///   time of a location   += time x weight of the location / weight of all locations of the parts
///   weight of a location  = sum over the tasks that carry it of roofline x executions in a step
///
/// and a task takes, of its location's, a share in proportion to its roofline. Weights are equal where no roofline is known.
/// `cluster` as in PlanRequest. Failure has been reported on the module.
FailureOr<MatchedOps> matchMeasured(ModuleOp module, StringRef cluster, const std::vector<MeasuredOp> &measured);

} // namespace mlir::braid

#endif
