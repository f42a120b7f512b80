//===- ApplySchedule.h - a schedule written back into the module ------------------------------------------------===//
#ifndef BRAID_PASSES_TRANSFORMS_APPLYSCHEDULE_H
#define BRAID_PASSES_TRANSFORMS_APPLYSCHEDULE_H

#include "analysis/ProgramModel.h"

namespace mlir::braid {

/// Called for each bucket once its operation exists: writes the plan.
using BucketHook = llvm::function_ref<void(int block, int bucket, CollectiveOpInterface op)>;

/// Reorders each block by its schedule, merges buckets, and wraps collectives whose start and wait stand apart. The
/// model's operations are gone afterwards where buckets were merged.
void applySchedule(ProgramModel &model, const cost::Schedule &schedule, BucketHook hook);

} // namespace mlir::braid

#endif
