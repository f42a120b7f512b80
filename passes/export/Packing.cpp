//===- Packing.cpp - several tensors as one, for consumers without buckets ===//

#include "Packing.h"

using namespace mlir;
using namespace mlir::braid;

CollectiveDims mlir::braid::dimsOf(CollectiveOpInterface collective, unsigned index) {
  Operation *op = collective;
  if (auto gather = dyn_cast<AllGatherOp>(op))
    return {gather.getDims()[index], 0};
  if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    return {scatter.getDims()[index], 0};
  if (auto exchange = dyn_cast<AllToAllOp>(op))
    return {exchange.getSplitDims()[index], exchange.getConcatDims()[index]};
  return {};
}

/// Whether tensors lie in rows, one for each rank of the group, on the way out and on the way in.
static bool sendsRows(CollectiveKind kind) {
  return kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll;
}
static bool receivesRows(CollectiveKind kind) {
  return kind == CollectiveKind::AllGather || kind == CollectiveKind::AllToAll;
}
static bool isFlat(CollectiveKind kind) { return !sendsRows(kind) && !receivesRows(kind); }

Packing::Packing(CollectiveOpInterface collective, ArrayRef<unsigned> memberIndices, int64_t groupSize,
                 SourceEncoding encoding, bool even)
    : kind(collective.getCollectiveKind()), groupSize(groupSize), encoding(encoding), loc(collective->getLoc()) {
  // A bucket's location is the fusion of its members' where a pass made it so: what is made for a member says whose it
  // is.
  auto fused = dyn_cast<FusedLoc>(loc);
  bool perMember = fused && fused.getLocations().size() == collective.getCommOperands().size();
  int64_t total = 0;
  Type element;
  for (unsigned index : memberIndices) {
    Member member{perMember ? fused.getLocations()[index] : loc,
                  cast<RankedTensorType>(collective.getCommOperands()[index].getType()),
                  cast<RankedTensorType>(collective.getCommResults()[index].getType()), dimsOf(collective, index)};
    member.elements = member.operand.getNumElements() / (sendsRows(kind) ? groupSize : 1);
    total += member.elements;
    element = member.operand.getElementType();
    members.push_back(member);
  }
  if (even)
    padding = llvm::alignTo(total, groupSize) - total;
  total += padding;
  auto rows = [&](bool many) {
    return RankedTensorType::get(
        isFlat(kind) ? ArrayRef<int64_t>{total} : ArrayRef<int64_t>{many ? groupSize : 1, total}, element);
  };
  sent = rows(sendsRows(kind));
  received = rows(receivesRows(kind));
}

Value Packing::reshape(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) const {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  auto result = RankedTensorType::get(shape, type.getElementType());
  return createSourceOp(builder, loc, "stablehlo.reshape", value, result, {}, encoding)->getResult(0);
}

Value Packing::transpose(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> permutation) const {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  bool identity = true;
  for (auto [position, dim] : llvm::enumerate(permutation)) {
    shape.push_back(type.getDimSize(dim));
    identity &= static_cast<int64_t>(position) == dim;
  }
  if (identity)
    return value;
  NamedAttribute attr = builder.getNamedAttr("permutation", builder.getDenseI64ArrayAttr(permutation));
  auto result = RankedTensorType::get(shape, type.getElementType());
  return createSourceOp(builder, loc, "stablehlo.transpose", value, result, attr, encoding)->getResult(0);
}

/// The permutation that moves dimension `from` to `to` among `rank` dimensions.
static SmallVector<int64_t> moveDim(int64_t rank, int64_t from, int64_t to) {
  SmallVector<int64_t> permutation;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != from)
      permutation.push_back(dim);
  permutation.insert(permutation.begin() + to, from);
  return permutation;
}

Value Packing::packOne(OpBuilder &builder, const Member &member, Value value) const {
  if (isFlat(kind))
    return reshape(builder, member.loc, value, {member.elements});
  if (!sendsRows(kind))
    return reshape(builder, member.loc, value, {1, member.elements});
  // Cut the dimension into blocks, one for each rank, and move their index to the front.
  SmallVector<int64_t> shape(member.operand.getShape());
  shape[member.dims.in] /= groupSize;
  shape.insert(shape.begin() + member.dims.in, groupSize);
  if (member.dims.in != 0) {
    value = reshape(builder, member.loc, value, shape);
    value = transpose(builder, member.loc, value, moveDim(shape.size(), member.dims.in, 0));
  }
  return reshape(builder, member.loc, value, {groupSize, member.elements});
}

Value Packing::unpackOne(OpBuilder &builder, const Member &member, Value slice) const {
  if (receivesRows(kind)) {
    // Rows in group order become blocks along the dimension that is gathered or concatenated.
    int64_t dim = kind == CollectiveKind::AllGather ? member.dims.in : member.dims.out;
    if (dim != 0) {
      SmallVector<int64_t> shape(member.result.getShape());
      shape[dim] /= groupSize;
      shape.insert(shape.begin(), groupSize);
      slice = reshape(builder, member.loc, slice, shape);
      slice = transpose(builder, member.loc, slice, moveDim(shape.size(), 0, dim));
    }
  }
  return reshape(builder, member.loc, slice, member.result.getShape());
}

Value Packing::zeros(OpBuilder &builder) const {
  auto type = RankedTensorType::get({padding}, sent.getElementType());
  Type element = sent.getElementType();
  DenseElementsAttr value;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    APFloat zero = APFloat::getZero(cast<FloatType>(complex.getElementType()).getFloatSemantics());
    value = DenseElementsAttr::get(type, std::complex<APFloat>(zero, zero));
  } else {
    value = DenseElementsAttr::get(type, Attribute(builder.getZeroAttr(element)));
  }
  return createSourceOp(builder, loc, "stablehlo.constant", {}, type, builder.getNamedAttr("value", value), encoding)
      ->getResult(0);
}

Value Packing::pack(OpBuilder &builder, ValueRange values) const {
  SmallVector<Value> parts;
  for (auto [member, value] : llvm::zip(members, values))
    parts.push_back(packOne(builder, member, value));
  if (padding)
    parts.push_back(zeros(builder));
  if (parts.size() == 1)
    return parts.front();
  NamedAttribute attr = builder.getNamedAttr("dimension", builder.getI64IntegerAttr(sent.getRank() - 1));
  return createSourceOp(builder, loc, "stablehlo.concatenate", parts, sent, attr, encoding)->getResult(0);
}

SmallVector<Value> Packing::unpack(OpBuilder &builder, Value packed) const {
  SmallVector<Value> results;
  int64_t offset = 0;
  for (const Member &member : members) {
    SmallVector<int64_t> starts, limits(received.getShape()), strides(received.getRank(), 1);
    starts.assign(received.getRank(), 0);
    starts.back() = offset;
    limits.back() = offset += member.elements;
    SmallVector<int64_t> shape(received.getShape());
    shape.back() = member.elements;
    NamedAttribute attrs[] = {builder.getNamedAttr("limit_indices", builder.getDenseI64ArrayAttr(limits)),
                              builder.getNamedAttr("start_indices", builder.getDenseI64ArrayAttr(starts)),
                              builder.getNamedAttr("strides", builder.getDenseI64ArrayAttr(strides))};
    Value slice = packed;
    if (shape.back() < received.getShape().back())
      slice = createSourceOp(builder, member.loc, "stablehlo.slice", packed,
                             RankedTensorType::get(shape, received.getElementType()), attrs, encoding)
                  ->getResult(0);
    results.push_back(unpackOne(builder, member, slice));
  }
  return results;
}
