//===- Verify.cpp - the constraints of collectives, C1, C2, ... as in their descriptions ------------------------===//
#include "Verify.h"
#include "braid/dialect/Groups.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::detail;

//===------------------------------------------------------------------------------------------------------------===//
// What several collectives have in common
//===------------------------------------------------------------------------------------------------------------===//

/// C1: at least one operand.
LogicalResult braid::detail::verifyOperands(Operation *op) {
  if (op->getNumOperands() == 0)
    return op->emitOpError("operands, expected at least one, got none");
  return success();
}

/// C2, C3: not more ranks than any program has.
static LogicalResult verifyCount(CollectiveOpInterface op, int64_t ids, const ModuleRanks &ranks) {
  if (ids > kMostRanks)
    return op->emitOpError("groups, expected at most ") << kMostRanks << " ranks, got " << ids;
  if (ranks.total() > kMostRanks)
    return op->emitOpError("groups, expected a module of at most ")
           << kMostRanks << " ranks, got " << ranks.replicas << " replicas of " << ranks.partitions << " partitions";
  return success();
}

/// C2: each id from 0 to N - 1 exactly once.
LogicalResult braid::detail::verifyIds(CollectiveOpInterface op) {
  GroupsAttrInterface groups = op.getGroupsAttr();
  int64_t ids = groups.getNumRanks();
  ModuleRanks ranks = moduleRanksAround(op);
  if (failed(verifyCount(op, ids, ranks)))
    return failure();
  if (ids == 0)
    return success(); // one group of all ranks
  bool stated = ranks.total() > 1;
  int64_t expected = stated ? ranks.idsIn(op.getIdSpace()) : ids;
  if (groups.isPermutationByConstruction() && ids == expected)
    return success();
  auto range = [&](InFlightDiagnostic &&diagnostic) -> InFlightDiagnostic && {
    if (stated)
      diagnostic << " (the module states " << ranks.replicas << " replicas of " << ranks.partitions
                 << " partitions, ids count " << stringifyIdSpace(op.getIdSpace()) << " ones)";
    return std::move(diagnostic);
  };
  SmallVector<SmallVector<int64_t>> rows;
  groups.expand(rows);
  SmallVector<int64_t> sorted;
  for (ArrayRef<int64_t> row : rows)
    for (int64_t id : row) {
      if (id < 0 || id >= expected)
        return range(op->emitOpError("groups, expected ids from 0 to ") << expected - 1 << ", got " << id);
      sorted.push_back(id);
    }
  llvm::sort(sorted);
  for (size_t index = 1; index < sorted.size(); ++index)
    if (sorted[index] == sorted[index - 1])
      return range(op->emitOpError("groups, expected each id once, got ") << sorted[index] << " twice");
  if (ids == expected)
    return success();
  int64_t missing = 0;
  while (missing < ids && sorted[missing] == missing)
    ++missing;
  return range(op->emitOpError("groups, expected each id from 0 to ") << expected - 1 << ", got no " << missing);
}

/// C3: one element type. C4: the reduction fits it. C5: so does the type of the accumulation.
LogicalResult braid::detail::verifyReduction(Operation *op, ReductionKind kind, std::optional<Type> accumulate) {
  Type element = getElementTypeOrSelf(op->getOperand(0));
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (Type other = getElementTypeOrSelf(operand); other != element) // C3
      return op->emitOpError("operand ") << index << ", expected the element type of operand 0, " << element << ", got "
                                         << other;
  auto wrong = [&](StringRef expected) {
    return op->emitOpError("reduction '")
           << stringifyReductionKind(kind) << "', expected " << expected << " elements, got " << element;
  };
  bool isFloat = isa<FloatType>(element), isInteger = element.isIntOrIndex();
  switch (kind) { // C4
  case ReductionKind::And:
  case ReductionKind::Or:
  case ReductionKind::Xor:
    if (!isInteger)
      return wrong("integer");
    break;
  case ReductionKind::Average:
    if (!isFloat)
      return wrong("floating-point");
    break;
  case ReductionKind::Min:
  case ReductionKind::Max:
    if (isa<ComplexType>(element))
      return wrong("ordered");
    break;
  case ReductionKind::Sum:
  case ReductionKind::Product:
    break;
  }
  if (!accumulate) // C5
    return success();
  if (!isFloat && !isa<IntegerType>(element))
    return op->emitOpError("attribute 'accumulate', expected none for ") << element << ", got " << *accumulate;
  bool sameClass =
      (isFloat && isa<FloatType>(*accumulate)) || (isa<IntegerType>(element) && isa<IntegerType>(*accumulate));
  if (!sameClass || accumulate->getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return op->emitOpError("attribute 'accumulate', expected ")
           << (isFloat ? "a floating-point" : "an integer") << " type of at least " << element.getIntOrFloatBitWidth()
           << " bits for " << element << ", got " << *accumulate;
  return success();
}

/// C6: one result for each operand, of its element type and rank. C7: one dimension for each operand, in its range.
LogicalResult braid::detail::verifyShapes(Operation *op, ArrayRef<std::pair<StringRef, ArrayRef<int64_t>>> dimLists) {
  // A rooted collective's operands end with one init for each.
  OperandRange operands = cast<CollectiveOpInterface>(op).getCommOperands();
  if (op->getNumResults() != operands.size()) // C6
    return op->emitOpError("results, expected one for each of ")
           << operands.size() << " operands, got " << op->getNumResults();
  for (auto [index, operand, result] : llvm::enumerate(operands.getTypes(), op->getResultTypes())) {
    auto from = cast<RankedTensorType>(operand), to = cast<RankedTensorType>(result);
    if (from.getElementType() != to.getElementType() || from.getRank() != to.getRank()) // C6
      return op->emitOpError("result ") << index << ", expected element type and rank of the operand, " << from
                                        << ", got " << to;
  }
  for (auto [name, dims] : dimLists) { // C7
    if (dims.size() != operands.size())
      return op->emitOpError("'") << name << "', expected one dimension for each of " << operands.size()
                                  << " operands, got " << dims.size();
    for (auto [index, dim] : llvm::enumerate(dims))
      if (int64_t rank = cast<RankedTensorType>(op->getOperand(index).getType()).getRank(); dim < 0 || dim >= rank)
        return op->emitOpError("'") << name << "', expected a dimension of operand " << index << ", which has " << rank
                                    << ", got " << dim;
  }
  return success();
}

/// C8: groups of one size. It is returned in ranks, or 0 if it is not known.
LogicalResult braid::detail::verifyUniform(CollectiveOpInterface op, int64_t &size) {
  GroupsAttrInterface groups = op.getGroupsAttr();
  if (!groups.isUniform())
    return op->emitOpError("groups, expected all of one size, since result shapes are the same on all ranks, got ")
           << groups;
  ModuleRanks ranks = moduleRanksAround(op);
  size = groups.getGroupSize();
  if (size == 0 && ranks.stated) // one group of all
    size = ranks.idsIn(op.getIdSpace());
  if (op.getIdSpace() == IdSpace::ReplicaAndPartition)
    size = ranks.stated ? size * ranks.partitions : 0;
  return success();
}

/// C9 for one dimension: `large` is `small` times the group size. Dynamic sizes are not checked.
LogicalResult braid::detail::verifyScaled(Operation *op, size_t index, int64_t dim, RankedTensorType large,
                                          RankedTensorType small, StringRef largeName, StringRef smallName,
                                          int64_t group) {
  if (large.isDynamicDim(dim)) {
    return success();
  }
  int64_t size = large.getDimSize(dim);
  if (group > 0 && size % group != 0)
    return op->emitOpError(largeName) << ' ' << index << ", expected dimension " << dim
                                      << " to be a multiple of the group size " << group << ", got " << size;
  if (small.isDynamicDim(dim))
    return success();
  int64_t part = small.getDimSize(dim);
  if (part == 0 ? size != 0 : size % part != 0 || (group > 0 && size / part != group))
    return op->emitOpError(largeName) << ' ' << index << ", expected dimension " << dim << " to be that of the "
                                      << smallName << ", " << part << ", times the group size "
                                      << (group > 0 ? std::to_string(group) : "(not known here)") << ", got " << size;
  return success();
}

/// C9 for the other dimensions: equal.
LogicalResult braid::detail::verifyOthersEqual(Operation *op, size_t index, RankedTensorType operand,
                                               RankedTensorType result, ArrayRef<int64_t> except) {
  for (int64_t dim = 0; dim < operand.getRank(); ++dim)
    if (!llvm::is_contained(except, dim) && !operand.isDynamicDim(dim) && !result.isDynamicDim(dim) &&
        operand.getDimSize(dim) != result.getDimSize(dim))
      return op->emitOpError("result ") << index << ", expected dimension " << dim << " to be the operand's, "
                                        << operand.getDimSize(dim) << ", got " << result.getDimSize(dim);
  return success();
}

/// C7 of rooted collectives: an index into every group; the smallest one decides.
LogicalResult braid::detail::verifyRoot(CollectiveOpInterface op, int64_t root) {
  GroupsAttrInterface groups = op.getGroupsAttr();
  int64_t smallest = groups.getGroupSize();
  if (!groups.isUniform()) {
    SmallVector<SmallVector<int64_t>> rows;
    groups.expand(rows);
    for (ArrayRef<int64_t> row : rows)
      smallest = std::min<int64_t>(smallest, row.size());
  }
  if (ModuleRanks ranks = moduleRanksAround(op); ranks.stated && op.getIdSpace() == IdSpace::ReplicaAndPartition)
    smallest = (smallest ? smallest : ranks.replicas) * ranks.partitions;
  else if (smallest == 0 && ranks.stated)
    smallest = ranks.idsIn(op.getIdSpace());
  else if (op.getIdSpace() == IdSpace::ReplicaAndPartition)
    smallest = 0;
  if (root < 0 || (smallest > 0 && root >= smallest))
    return op->emitOpError("root, expected an index into every group, the smallest of which has ")
           << smallest << " ranks, got " << root;
  return success();
}

static std::pair<RankedTensorType, RankedTensorType> typesAt(Operation *op, size_t index) {
  return {cast<RankedTensorType>(op->getOperand(index).getType()),
          cast<RankedTensorType>(op->getResult(index).getType())};
}

//===------------------------------------------------------------------------------------------------------------===//
// The collectives
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult AllReduceOp::verify() {
  return failure(failed(verifyOperands(*this)) || failed(verifyIds(*this)) ||
                 failed(verifyReduction(*this, getReduction(), getAccumulate())));
}

LogicalResult ReduceScatterOp::verify() {
  int64_t group;
  if (failed(verifyOperands(*this)) || failed(verifyIds(*this)) ||
      failed(verifyReduction(*this, getReduction(), getAccumulate())) ||
      failed(verifyShapes(*this, {{"dims", getDims()}})) || failed(verifyUniform(*this, group)))
    return failure();
  for (auto [index, dim] : llvm::enumerate(getDims())) { // C9
    auto [operand, result] = typesAt(*this, index);
    if (failed(verifyScaled(*this, index, dim, operand, result, "operand", "result", group)) ||
        failed(verifyOthersEqual(*this, index, operand, result, {dim})))
      return failure();
  }
  return success();
}

LogicalResult AllGatherOp::verify() {
  int64_t group;
  if (failed(verifyOperands(*this)) || failed(verifyIds(*this)) || failed(verifyShapes(*this, {{"dims", getDims()}})) ||
      failed(verifyUniform(*this, group)))
    return failure();
  for (auto [index, dim] : llvm::enumerate(getDims())) { // C9
    auto [operand, result] = typesAt(*this, index);
    if (failed(verifyScaled(*this, index, dim, result, operand, "result", "operand", group)) ||
        failed(verifyOthersEqual(*this, index, operand, result, {dim})))
      return failure();
  }
  return success();
}

LogicalResult AllToAllOp::verify() {
  int64_t group;
  if (failed(verifyOperands(*this)) || failed(verifyIds(*this)) ||
      failed(verifyShapes(*this, {{"split", getSplitDims()}, {"concat", getConcatDims()}})) ||
      failed(verifyUniform(*this, group)))
    return failure();
  for (auto [index, split, concat] : llvm::enumerate(getSplitDims(), getConcatDims())) { // C9
    auto [operand, result] = typesAt(*this, index);
    if (split == concat) {
      if (!operand.isDynamicDim(split) && group > 0 && operand.getDimSize(split) % group != 0)
        return emitOpError("operand ") << index << ", expected dimension " << split
                                       << " to be a multiple of the group size " << group << ", got "
                                       << operand.getDimSize(split);
      if (failed(verifyOthersEqual(*this, index, operand, result, {})))
        return failure();
      continue;
    }
    if (failed(verifyScaled(*this, index, split, operand, result, "operand", "result", group)) ||
        failed(verifyScaled(*this, index, concat, result, operand, "result", "operand", group)) ||
        failed(verifyOthersEqual(*this, index, operand, result, {split, concat})))
      return failure();
  }
  return success();
}

LogicalResult PermuteOp::verify() {
  if (failed(verifyOperands(*this)))
    return failure();
  ShapedType shape = getPairs().getType();
  if (shape.getRank() != 2 || shape.getDimSize(1) != 2) // C7
    return emitOpError("pairs, expected two columns, got ") << shape;
  ModuleRanks ranks = moduleRanksAround(*this);
  if (getIdSpace() == IdSpace::ReplicaAndPartition) // C3
    return emitOpError("attribute 'id_space', expected flattened, replica or partition, got replica_and_partition");
  if (failed(verifyCount(*this, 0, ranks)))
    return failure();
  int64_t expected = ranks.total() > 1 ? ranks.idsIn(getIdSpace()) : kMostRanks;
  llvm::DenseSet<int64_t> sources, targets;
  for (auto [source, target] : getPairList()) {
    for (int64_t id : {source, target})
      if (id < 0 || id >= expected) { // C3
        auto diagnostic = emitOpError("pairs, expected ids ");
        if (ranks.total() > 1 || id >= 0)
          diagnostic << "from 0 to " << expected - 1;
        else
          diagnostic << "that are not negative";
        return diagnostic << ", got " << id;
      }
    if (!sources.insert(source).second) // C2
      return emitOpError("pairs, expected each rank as a source once, got ") << source << " twice";
    if (!targets.insert(target).second) // C2
      return emitOpError("pairs, expected each rank as a target once, got ") << target << " twice";
  }
  return success();
}

LogicalResult BroadcastOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyIds(*this)))
    return failure();
  return verifyRoot(*this, getRootAttr().getInt());
}
