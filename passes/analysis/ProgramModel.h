//===- ProgramModel.h - the plain scheduling problem of a module ------------------------------------------------===//
//
// Reads a module into cost::Program (cost_models/Schedule.h), which knows no MLIR, and keeps which operations each task
// stands for. Functions, loop bodies and branches that communicate become blocks; a function called from several places
// is one block.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_PROGRAMMODEL_H
#define BRAID_PASSES_ANALYSIS_PROGRAMMODEL_H

#include "analysis/ComputeProfile.h"
#include "analysis/RankSets.h"
#include "braid/cost_models/Schedule.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::braid {

struct BlockModel {
  Block *block = nullptr; ///< null: made up, to hold several entries
  std::vector<SmallVector<Operation *, 1>>
      operations; ///< of each task, program order; empty for tasks without operations
};

struct ProgramModel {
  ProgramRanks ranks;
  cost::Program program;
  std::vector<BlockModel> blocks;         ///< parallel to program.blocks
  std::vector<std::string> openQuestions; ///< why the order of collectives is not certified; empty: it is
  int64_t collectives = 0;                ///< that may be scheduled
  /// Locations of the compute profile that no computation carries, those that take longest first.
  std::vector<std::pair<std::string, cost::Seconds>> unmatched;
  CollectiveOpInterface collective(int block, int task) const;
};

/// What a collective that already has a plan may still do.
enum class PlannedPolicy {
  Fixed, ///< stays as it is and where it is (planning)
  Moves, ///< may start early, never merges: its plan is for its size (overlap, fuse)
};

struct ModelOptions {
  const cost::Device *device = nullptr; ///< null: computation costs nothing
  const ComputeProfile *profile = nullptr;
  bool marked = false;     ///< operations carry their times (MeasuredTimes.h)
  std::string clusterHash; ///< stale plans are found by it; empty: plans count as fresh
  PlannedPolicy planned = PlannedPolicy::Fixed;
  std::optional<cost::Engine> engine; ///< who will run the collectives; none: nobody prices them
  StringRef category;                 ///< of remarks: the pass's flag
};

/// Errors are emitted on the operations. Remarks: barriers and why, costs that are not known, trip counts that are not
/// known.
FailureOr<ProgramModel> buildProgramModel(ModuleOp module, const ModelOptions &options);

} // namespace mlir::braid

#endif
