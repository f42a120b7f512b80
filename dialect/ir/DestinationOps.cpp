//===- DestinationOps.cpp - launch and finish: effects and constraints ------------------------------------------===//
#include "DestinationForm.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::braid;

//===------------------------------------------------------------------------------------------------------------===//
// Effects
//===------------------------------------------------------------------------------------------------------------===//

void LaunchOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), CommunicationResource::get());
  addEffect<MemoryEffects::Read>(effects, getInputsMutable());
  if (readsInits())
    addEffect<MemoryEffects::Read>(effects, getInitsMutable());
  addEffect<MemoryEffects::Write>(effects, getInitsMutable());
}

/// The collective reads its inputs and writes its destinations up to here.
void FinishOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), CommunicationResource::get());
  addEffect<MemoryEffects::Read>(effects, getInputsMutable());
  addEffect<MemoryEffects::Read>(effects, getInitsMutable());
  addEffect<MemoryEffects::Write>(effects, getInitsMutable());
}

//===------------------------------------------------------------------------------------------------------------===//
// Constraints
//===------------------------------------------------------------------------------------------------------------===//

/// C2: all tensors or all buffers, one result for each destination that is a tensor.
LogicalResult mlir::braid::verifyDestinationForm(Operation *op, ValueRange inits, ResultRange results) {
  SmallVector<Value> shaped;
  for (Value operand : op->getOperands())
    if (!isa<TokenType>(operand.getType()))
      shaped.push_back(operand);
  for (Value operand : shaped)
    if (isa<RankedTensorType>(operand.getType()) != isa<RankedTensorType>(shaped.front().getType()))
      return op->emitOpError("operands, expected all tensors or all buffers, got ")
             << shaped.front().getType() << " and " << operand.getType();
  size_t expected = llvm::count_if(inits, [](Value init) { return isa<RankedTensorType>(init.getType()); });
  if (results.size() != expected)
    return op->emitOpError("results, expected one for each of ")
           << expected << " destinations that are tensors, got " << results.size();
  for (auto [index, result] : llvm::enumerate(results))
    if (result.getType() != inits[index].getType())
      return op->emitOpError("result ") << index << ", expected the type of its destination, " << inits[index].getType()
                                        << ", got " << result.getType();
  return success();
}

/// C4 for one pair.
static bool sizesFit(CollectiveKind kind, ShapedType input, ShapedType init) {
  if (!input.hasStaticShape() || !init.hasStaticShape())
    return true;
  int64_t in = input.getNumElements(), out = init.getNumElements();
  switch (kind) {
  case CollectiveKind::AllGather:
  case CollectiveKind::Gather:
    return in == 0 ? out == 0 : out % in == 0;
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::Scatter:
    return out == 0 ? in == 0 : in % out == 0;
  default:
    return in == out;
  }
}

/// C3: the attributes that a collective needs.
static StringRef missingAttribute(LaunchOp op) {
  CollectiveKind kind = op.getCollective();
  bool message = kind == CollectiveKind::Send || kind == CollectiveKind::Recv;
  if (message)
    return !op.getPeer() ? "peer" : !op.getTag() ? "tag" : "";
  if (kind == CollectiveKind::Permute)
    return op.getPairs() ? "" : "pairs";
  if (!op.getGroups())
    return "groups";
  if (llvm::is_contained({CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::Reduce}, kind) &&
      !op.getReduction())
    return "reduction";
  if (llvm::is_contained(
          {CollectiveKind::Broadcast, CollectiveKind::Reduce, CollectiveKind::Gather, CollectiveKind::Scatter}, kind) &&
      !op.getRoot())
    return "root";
  if (llvm::is_contained({CollectiveKind::AllGather, CollectiveKind::ReduceScatter, CollectiveKind::AllToAll,
                          CollectiveKind::Gather, CollectiveKind::Scatter},
                         kind) &&
      (!op.getDims() || op.getDims()->size() != op.getInputs().size()))
    return "dims";
  if (kind == CollectiveKind::AllToAll && (!op.getConcatDims() || op.getConcatDims()->size() != op.getInputs().size()))
    return "concat_dims";
  return "";
}

LogicalResult LaunchOp::verify() {
  CollectiveKind kind = getCollective();
  size_t inputs = getInputs().size(), inits = getInits().size();
  bool counts;
  switch (kind) { // C1
  case CollectiveKind::Send:
    counts = inputs > 0 && inits == 0;
    break;
  case CollectiveKind::Recv:
    counts = inputs == 0 && inits > 0;
    break;
  case CollectiveKind::Barrier:
    counts = inputs == 0 && inits == 0;
    break;
  case CollectiveKind::AllReduce:
  case CollectiveKind::Broadcast:
    counts = inits > 0 && (inputs == 0 || inputs == inits);
    break;
  default:
    counts = inits > 0 && inputs == inits;
  }
  if (!counts)
    return emitOpError("operands, expected what '")
           << stringifyCollectiveKind(kind) << "' takes, got " << inputs << " inputs and " << inits << " destinations";
  if (failed(verifyDestinationForm(*this, getInits(), getResults())))
    return failure();
  if (StringRef missing = missingAttribute(*this); !missing.empty()) // C3
    return emitOpError("attribute '") << missing << "', expected as '" << stringifyCollectiveKind(kind)
                                      << "' needs it, got none that fits";
  for (size_t index = 0; index < std::min(inputs, inits); ++index) { // C4
    auto from = cast<ShapedType>(getInputs()[index].getType()), to = cast<ShapedType>(getInits()[index].getType());
    if (from.getElementType() != to.getElementType() || !sizesFit(kind, from, to))
      return emitOpError("destination ") << index << ", expected element type and sizes of '"
                                         << stringifyCollectiveKind(kind) << "' for " << from << ", got " << to;
  }
  SmallVector<FinishOp> finishes; // C5. Other uses (loops, branches) hide where it is finished: then nothing is said.
  for (Operation *user : getToken().getUsers()) {
    auto finish = dyn_cast<FinishOp>(user);
    if (!finish)
      return success();
    finishes.push_back(finish);
  }
  if (finishes.empty())
    return emitOpError("token, expected one finish, got none");
  Region *home = (*this)->getParentRegion();
  for (FinishOp finish : finishes) {
    for (Operation *around = finish->getParentOp(); around && around != home->getParentOp();
         around = around->getParentOp())
      if (isa<LoopLikeOpInterface>(around)) {
        auto diagnostic = emitOpError("token, expected one finish, got one in a loop that does not hold the launch");
        diagnostic.attachNote(finish->getLoc()) << "the finish is here";
        return diagnostic;
      }
    for (FinishOp other : finishes)
      if (finish != other && finish->getBlock()->findAncestorOpInBlock(*other)) {
        auto diagnostic = emitOpError("token, expected one finish, got two on one path");
        diagnostic.attachNote(other->getLoc()) << "another finish is here";
        return diagnostic;
      }
  }
  return success();
}

LaunchOp FinishOp::getLaunch() { return getToken().getDefiningOp<LaunchOp>(); }

/// Canonicalization makes the inputs of a finish more static, as those of any operation with destinations; not a launch's.
static Value uncast(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

LogicalResult FinishOp::verify() {
  if (failed(verifyDestinationForm(*this, getInits(), getResults())))
    return failure();
  LaunchOp launch = getLaunch();
  if (!launch)
    return success();
  auto wrong = [&](StringRef what) {
    auto diagnostic = emitOpError(what);
    diagnostic.attachNote(launch.getLoc()) << "the launch is here";
    return diagnostic;
  };
  bool tensors = !launch.getResults().empty();
  auto isSame = [](Value mine, Value theirs) { return uncast(mine) == uncast(theirs); };
  if (tensors ? !llvm::equal(getInputs(), launch.getInputs(), isSame)
              : getInputs().size() != launch.getInputs().size()) // C1
    return wrong("inputs, expected those of the launch in order");
  if (tensors ? !llvm::equal(getInits(), launch.getResults()) : getInits().size() != launch.getInits().size()) // C2
    return wrong("destinations, expected those of the launch in order");
  return success();
}
