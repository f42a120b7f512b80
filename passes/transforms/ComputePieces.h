//===- ComputePieces.h - computation cut along a dimension ------------------------------------------------------===//
//
// What surrounds a collective that is sent in pieces can be computed in pieces, one while another is in flight (Wang et al.,
// Overlap Communication with Dependent Computation via Decomposition in Large Deep Learning Models, ASPLOS 2023):
//
//   y = all_reduce(dot(x, w)) + b      ->      y_i = all_reduce(dot(x_i, w)) + b_i,   y = concatenation of y_i
//
// Only where the pieces together are no more work than the whole: elementwise operations, rows and columns of products,
// transposes, concatenations, linalg operations that read one element once; and only where nobody else reads the whole.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_TRANSFORMS_COMPUTEPIECES_H
#define BRAID_PASSES_TRANSFORMS_COMPUTEPIECES_H

#include "transforms/TensorPieces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::braid {

/// A part of a tensor: `size` rows of dimension `dim` from `offset` on.
struct Rows {
  int64_t dim, offset, size;
};

class ComputePieces {
public:
  /// `through`: cut computation too; false: slices and concatenations only, which are `loc`'s: a time that was measured for
  /// an operation is shared by its pieces, not by what was made beside them.
  ComputePieces(const TensorPieces &notation, bool through, Location loc)
      : notation(notation), through(through), loc(loc) {}

  /// The rows of `value`, which `reader` reads.
  Value part(OpBuilder &builder, Value value, Operation *reader, Rows rows);
  /// Lets the readers of `whole` read `pieces`, which lie along `dim`.
  void replace(Value whole, SmallVector<Value> pieces, int64_t dim);
  /// Removes what is no longer read.
  void erase();
  /// How many operations were cut.
  int64_t operations() const { return int64_t(cut.size()); }

private:
  bool isCut(Value value, Operation *reader, int64_t dim);
  Value computed(OpBuilder &builder, Operation *op, Rows rows);

  const TensorPieces &notation;
  bool through;
  Location loc;
  llvm::DenseMap<std::pair<Value, int64_t>, bool> decided;
  llvm::SetVector<Operation *> cut; ///< readers before what they read
};

} // namespace mlir::braid

#endif
