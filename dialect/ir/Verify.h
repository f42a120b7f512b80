//===- Verify.h - constraints that several collectives share ------------------------------------------*- C++ -*-===//
#ifndef BRAID_IR_VERIFY_H
#define BRAID_IR_VERIFY_H

#include "braid/dialect/BraidOps.h"

namespace mlir::braid::detail {

/// C1: at least one operand.
LogicalResult verifyOperands(Operation *op);
/// C2: each id from 0 to N - 1 exactly once.
LogicalResult verifyIds(CollectiveOpInterface op);
/// C3: one element type. C4: the reduction fits it. C5: so does the type of the accumulation.
LogicalResult verifyReduction(Operation *op, ReductionKind kind, std::optional<Type> accumulate);
/// C6: one result for each operand, of its element type and rank. C7: one dimension for each operand, in its range.
LogicalResult verifyShapes(Operation *op, ArrayRef<std::pair<StringRef, ArrayRef<int64_t>>> dimLists);
/// C7 of rooted collectives: an index into every group.
LogicalResult verifyRoot(CollectiveOpInterface op, int64_t root);
/// C8: groups of one size. It is returned in ranks, or 0 if it is not known.
LogicalResult verifyUniform(CollectiveOpInterface op, int64_t &size);
/// C9 for one dimension: `large` is `small` times the group size. Dynamic sizes are not checked.
LogicalResult verifyScaled(Operation *op, size_t index, int64_t dim, RankedTensorType large, RankedTensorType small,
                           StringRef largeName, StringRef smallName, int64_t group);
/// C9 for the other dimensions: equal.
LogicalResult verifyOthersEqual(Operation *op, size_t index, RankedTensorType operand, RankedTensorType result,
                                ArrayRef<int64_t> except);

} // namespace mlir::braid::detail

#endif // BRAID_IR_VERIFY_H
