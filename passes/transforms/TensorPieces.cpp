//===- TensorPieces.cpp - slices and concatenations in the program's own spelling -------------------------------===//
#include "transforms/TensorPieces.h"

#include "braid/dialect/BraidOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::braid {

TensorPieces::TensorPieces(ModuleOp module) {
  module->walk([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    if (dialect == "stablehlo" || dialect == "mhlo") {
      source = encodingOf(op);
      if (!getSourceAttrs(op).empty()) // one without attributes does not tell
        return WalkResult::interrupt();
    } else if (isa<CollectiveOpInterface>(op) && op->hasAttr("source") && !source) {
      source = SourceEncoding::Properties;
    }
    return WalkResult::advance();
  });
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static SmallVector<int64_t> withSize(Value value, int64_t dim, int64_t size) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[dim] = size;
  return shape;
}

Value TensorPieces::slice(OpBuilder &builder, Location loc, Value value, int64_t dim, int64_t offset,
                          int64_t size) const {
  int64_t rank = typeOf(value).getRank();
  if (typeOf(value).getDimSize(dim) == size)
    return value;
  SmallVector<int64_t> starts(rank, 0), sizes = withSize(value, dim, size), strides(rank, 1);
  starts[dim] = offset;
  auto type = RankedTensorType::get(sizes, typeOf(value).getElementType());
  if (!source) {
    auto constants = [&](ArrayRef<int64_t> numbers) { return getAsIndexOpFoldResult(builder.getContext(), numbers); };
    return tensor::ExtractSliceOp::create(builder, loc, type, value, constants(starts), constants(sizes),
                                          constants(strides));
  }
  SmallVector<int64_t> limits(typeOf(value).getShape());
  limits[dim] = offset + size;
  NamedAttribute attrs[] = {builder.getNamedAttr("limit_indices", builder.getDenseI64ArrayAttr(limits)),
                            builder.getNamedAttr("start_indices", builder.getDenseI64ArrayAttr(starts)),
                            builder.getNamedAttr("strides", builder.getDenseI64ArrayAttr(strides))};
  return createSourceOp(builder, loc, "stablehlo.slice", value, type, attrs, *source)->getResult(0);
}

Value TensorPieces::inOnePiece(OpBuilder &builder, Value value) const {
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return value; // StableHLO's is a tensor of its own
  ArrayRef<int64_t> from = slice.getSourceType().getShape(), shape = typeOf(value).getShape();
  bool before = false; // several rows of what is before a dimension that is cut
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim) {
    if (before && shape[dim] != from[dim]) {
      Value destination = tensor::EmptyOp::create(builder, value.getLoc(), shape, typeOf(value).getElementType());
      return linalg::CopyOp::create(builder, value.getLoc(), value, destination).getResult(0);
    }
    before |= shape[dim] > 1;
  }
  return value;
}

Value TensorPieces::concatenate(OpBuilder &builder, Location loc, ValueRange pieces, int64_t dim) const {
  if (!source)
    return tensor::ConcatOp::create(builder, loc, dim, pieces);
  int64_t size = 0;
  for (Value piece : pieces)
    size += typeOf(piece).getDimSize(dim);
  auto type = RankedTensorType::get(withSize(pieces.front(), dim, size), typeOf(pieces.front()).getElementType());
  NamedAttribute attr = builder.getNamedAttr("dimension", builder.getI64IntegerAttr(dim));
  return createSourceOp(builder, loc, "stablehlo.concatenate", pieces, type, attr, *source)->getResult(0);
}

/// Every dimension alone, but `dim` together with the next one.
static SmallVector<ReassociationIndices> pairAt(int64_t rank, int64_t dim) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < rank; ++d) {
    groups.push_back({d});
    if (d == dim)
      groups.back().push_back(++d);
  }
  return groups;
}

Value TensorPieces::expand(OpBuilder &builder, Location loc, Value value, int64_t dim, int64_t outer) const {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[dim] /= outer;
  shape.insert(shape.begin() + dim, outer);
  auto type = RankedTensorType::get(shape, typeOf(value).getElementType());
  if (!source)
    return tensor::ExpandShapeOp::create(builder, loc, type, value, pairAt(type.getRank(), dim));
  return createSourceOp(builder, loc, "stablehlo.reshape", value, type, {}, *source)->getResult(0);
}

Value TensorPieces::collapse(OpBuilder &builder, Location loc, Value value, int64_t dim) const {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[dim] *= shape[dim + 1];
  shape.erase(shape.begin() + dim + 1);
  auto type = RankedTensorType::get(shape, typeOf(value).getElementType());
  if (!source)
    return tensor::CollapseShapeOp::create(builder, loc, type, value, pairAt(typeOf(value).getRank(), dim));
  return createSourceOp(builder, loc, "stablehlo.reshape", value, type, {}, *source)->getResult(0);
}

} // namespace mlir::braid
