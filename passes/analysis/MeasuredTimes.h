//===- MeasuredTimes.h - times that stay with their operations ------------------------------------------===//
//
// How long operations take is known where they stand in one program: by a compute profile, or as the kernels that they are fused to there.
// In a copy where they stand elsewhere, or several times, each carries its time as an attribute.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_MEASUREDTIMES_H
#define BRAID_PASSES_ANALYSIS_MEASUREDTIMES_H

#include "analysis/ProgramModel.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::braid {

/// Writes the model's times onto the copies of its operations: a task's time is shared by the bytes that its operations make.
void markTimes(const ProgramModel &model, const IRMapping &copies);
/// An operation that is but a part of what it was; all of a module.
void unmarkTime(Operation *op);
void unmarkTimes(ModuleOp module);

/// The time that a task's operations carry; of those that carry none, their share of what the task is said to take.
cost::Seconds markedTime(ArrayRef<Operation *> ops, cost::Seconds said);

} // namespace mlir::braid

#endif
