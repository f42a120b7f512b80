//===- ComputePieces.cpp - computation cut along a dimension ----------------------------------------------------===//
#include "transforms/ComputePieces.h"

#include "analysis/MeasuredTimes.h"
#include "analysis/OpWork.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::braid {

static RankedTensorType tensorOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

static bool isNamed(Operation *op, StringRef name) {
  StringRef own = op->getName().getStringRef();
  return (own.consume_front("stablehlo.") || own.consume_front("mhlo.")) && own == name;
}

/// Element i of the result depends on elements i of the operands, and on scalars.
static bool isElementwise(Operation *op) {
  RankedTensorType type = op->getNumResults() == 1 ? tensorOf(op->getResult(0)) : RankedTensorType();
  return type && type.hasStaticShape() && op->getNumOperands() && op->getNumRegions() == 0 && factsOf(op).elementwise &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           RankedTensorType other = tensorOf(operand);
           return !other || other.getRank() == 0 || other.getShape() == type.getShape();
         });
}

namespace {

/// Which dimension of each operand a dimension of a product's result comes from; -1: of neither.
struct ProductDims {
  int64_t lhs = -1, rhs = -1;
};

} // namespace

static bool isProduct(Operation *op) { return isNamed(op, "dot_general") || isNamed(op, "dot"); }

/// For each dimension of the result, in order: batch, free ones of the left operand, free ones of the right one.
static SmallVector<ProductDims> productDims(Operation *op) {
  RankedTensorType lhs = tensorOf(op->getOperand(0)), rhs = tensorOf(op->getOperand(1));
  SmallVector<int64_t> batchL, batchR, contractL{lhs.getRank() - 1}, contractR{0};
  if (Attribute numbers = getSourceAttr(op, "dot_dimension_numbers")) {
    std::string text = spellingOf(numbers);
    batchL = listIn(text, "lhs_batching_dimensions");
    batchR = listIn(text, "rhs_batching_dimensions");
    contractL = listIn(text, "lhs_contracting_dimensions");
    contractR = listIn(text, "rhs_contracting_dimensions");
  }
  SmallVector<ProductDims> dims;
  for (auto [left, right] : llvm::zip(batchL, batchR))
    dims.push_back({left, right});
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    if (!llvm::is_contained(batchL, dim) && !llvm::is_contained(contractL, dim))
      dims.push_back({dim, -1});
  for (int64_t dim = 0; dim < rhs.getRank(); ++dim)
    if (!llvm::is_contained(batchR, dim) && !llvm::is_contained(contractR, dim))
      dims.push_back({-1, dim});
  return dims;
}

static bool isConcatenation(Operation *op, int64_t dim) {
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return int64_t(concat.getDim()) == dim;
  auto along = isNamed(op, "concatenate") ? getSourceAttr<IntegerAttr>(op, "dimension") : IntegerAttr();
  return along && along.getInt() == dim;
}

/// A loop nest of upstream that reads each element of its operands for one element of its result only, or for whole rows.
static bool isTileable(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && op->getNumResults() == 1 && isa<TilingInterface>(op) && structured.hasPureTensorSemantics() &&
         !structured.hasIndexSemantics() &&
         llvm::all_of(structured.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(); });
}

/// Another operation like `op`, with these operands, for rows of its result.
static Value likeOp(OpBuilder &builder, Operation *op, ValueRange operands, Rows rows) {
  Operation *copy = builder.clone(*op);
  unmarkTime(copy);
  copy->setOperands(operands);
  SmallVector<int64_t> shape(tensorOf(op->getResult(0)).getShape());
  shape[rows.dim] = rows.size;
  copy->getResult(0).setType(tensorOf(op->getResult(0)).clone(shape));
  return copy->getResult(0);
}

bool ComputePieces::isCut(Value value, Operation *reader, int64_t dim) {
  auto [place, first] = decided.try_emplace({value, dim}, false);
  Operation *op = value.getDefiningOp();
  if (!first || !through || !op || op->getBlock() != reader->getBlock() ||
      !llvm::all_of(value.getUsers(), [&](Operation *user) { return user == reader; }))
    return place->second;
  return place->second = isElementwise(op) || isProduct(op) || isNamed(op, "transpose") || isConcatenation(op, dim) ||
                         isTileable(op);
}

Value ComputePieces::part(OpBuilder &builder, Value value, Operation *reader, Rows rows) {
  if (isCut(value, reader, rows.dim))
    if (Value made = computed(builder, value.getDefiningOp(), rows))
      return made;
  return notation.slice(builder, loc, value, rows.dim, rows.offset, rows.size);
}

Value ComputePieces::computed(OpBuilder &builder, Operation *op, Rows rows) {
  SmallVector<Value> operands(op->getOperands());
  if (isConcatenation(op, rows.dim)) {
    cut.insert(op);
    SmallVector<Value> parts;
    int64_t begin = 0;
    for (Value operand : operands) {
      int64_t size = tensorOf(operand).getDimSize(rows.dim);
      int64_t from = std::max(rows.offset, begin), to = std::min(rows.offset + rows.size, begin + size);
      if (from < to)
        parts.push_back(part(builder, operand, op, {rows.dim, from - begin, to - from}));
      begin += size;
    }
    return parts.size() == 1 ? parts.front() : notation.concatenate(builder, loc, parts, rows.dim);
  }
  if (isTileable(op)) {
    SmallVector<OpFoldResult> offsets, sizes;
    for (auto [dim, size] : llvm::enumerate(tensorOf(op->getResult(0)).getShape())) {
      offsets.push_back(builder.getIndexAttr(int64_t(dim) == rows.dim ? rows.offset : 0));
      sizes.push_back(builder.getIndexAttr(int64_t(dim) == rows.dim ? rows.size : size));
    }
    FailureOr<TilingResult> tile = cast<TilingInterface>(op).generateResultTileValue(builder, 0, offsets, sizes);
    if (failed(tile) || tile->tiledValues.size() != 1)
      return {};
    cut.insert(op);
    return tile->tiledValues.front();
  }
  if (isProduct(op)) {
    ProductDims dims = productDims(op)[rows.dim];
    if (dims.lhs >= 0)
      operands[0] = part(builder, operands[0], op, {dims.lhs, rows.offset, rows.size});
    if (dims.rhs >= 0)
      operands[1] = part(builder, operands[1], op, {dims.rhs, rows.offset, rows.size});
  } else if (isNamed(op, "transpose")) {
    auto order = getSourceAttr<DenseI64ArrayAttr>(op, "permutation");
    if (!order)
      return {};
    operands[0] = part(builder, operands[0], op, {order[rows.dim], rows.offset, rows.size});
  } else {
    for (Value &operand : operands)
      if (tensorOf(operand) && tensorOf(operand).getRank() > 0)
        operand = part(builder, operand, op, rows);
  }
  cut.insert(op);
  return likeOp(builder, op, operands, rows);
}

/// The dimension of `op`'s result along which it can be computed from pieces of `whole` along `dim`; -1: none.
static int64_t resultDim(Operation *op, Value whole, int64_t dim) {
  if (isElementwise(op))
    return tensorOf(op->getResult(0)).getShape() == tensorOf(whole).getShape() ? dim : -1;
  if (!isProduct(op) || (op->getOperand(0) == whole) == (op->getOperand(1) == whole))
    return -1;
  bool left = op->getOperand(0) == whole;
  for (auto [number, dims] : llvm::enumerate(productDims(op)))
    if ((left ? dims.lhs : dims.rhs) == dim)
      return int64_t(number);
  return -1;
}

void ComputePieces::replace(Value whole, SmallVector<Value> pieces, int64_t dim) {
  OpBuilder builder(whole.getContext());
  builder.setInsertionPoint(whole.getDefiningOp());
  while (through && !whole.use_empty()) {
    Operation *reader = *whole.user_begin();
    int64_t along = reader->getBlock() == whole.getParentBlock() &&
                            llvm::all_of(whole.getUsers(), [&](Operation *user) { return user == reader; })
                        ? resultDim(reader, whole, dim)
                        : -1;
    if (along < 0)
      break;
    builder.setInsertionPoint(reader);
    int64_t offset = 0;
    for (Value &piece : pieces) {
      SmallVector<Value> operands(reader->getOperands());
      int64_t size = tensorOf(piece).getDimSize(dim);
      for (auto [number, operand] : llvm::enumerate(operands)) {
        int64_t of = isProduct(reader) ? (number == 0 ? productDims(reader)[along].lhs : productDims(reader)[along].rhs)
                                       : (tensorOf(operand) && tensorOf(operand).getRank() > 0 ? along : -1);
        if (operand == whole)
          operand = piece;
        else if (of >= 0)
          operand = notation.slice(builder, loc, operand, of, offset, size);
      }
      piece = likeOp(builder, reader, operands, {along, offset, size});
      offset += size;
    }
    cut.insert(reader);
    whole = reader->getResult(0);
    dim = along;
  }
  whole.replaceAllUsesWith(notation.concatenate(builder, loc, pieces, dim));
}

void ComputePieces::erase() {
  for (bool any = true; any;) {
    any = false;
    for (Operation *op : llvm::to_vector(cut))
      if (op->use_empty()) {
        cut.remove(op);
        op->erase();
        any = true;
      }
  }
}

} // namespace mlir::braid
