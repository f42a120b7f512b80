//===- TensorPieces.h - slices and concatenations in the program's own spelling ---------------------------------===//
//
// A program that came as StableHLO gets stablehlo.slice, concatenate and reshape, in the encoding of its operations; any
// other gets upstream's tensor operations, of which slices and reshapes move no data.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_TRANSFORMS_TENSORPIECES_H
#define BRAID_PASSES_TRANSFORMS_TENSORPIECES_H

#include "braid/passes/StablehloOp.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace mlir::braid {

class TensorPieces {
public:
  explicit TensorPieces(ModuleOp module);

  /// `size` rows of `value` from `offset` on, along `dim`.
  Value slice(OpBuilder &builder, Location loc, Value value, int64_t dim, int64_t offset, int64_t size) const;
  /// `value`, copied if it is a slice that does not lie in memory in one piece.
  Value inOnePiece(OpBuilder &builder, Value value) const;
  Value concatenate(OpBuilder &builder, Location loc, ValueRange pieces, int64_t dim) const;
  /// Dimension `dim` becomes two, `outer` x the rest; and two become one.
  Value expand(OpBuilder &builder, Location loc, Value value, int64_t dim, int64_t outer) const;
  Value collapse(OpBuilder &builder, Location loc, Value value, int64_t dim) const;

private:
  std::optional<SourceEncoding> source; ///< none: tensor operations
};

} // namespace mlir::braid

#endif
