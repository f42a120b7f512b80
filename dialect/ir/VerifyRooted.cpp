//===- VerifyRooted.cpp - constraints of rooted collectives, messages and the barrier ---------------------------===//
#include "Verify.h"
#include "braid/dialect/Groups.h"

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::detail;

/// C6: one init for each operand, of the type of its result.
static LogicalResult verifyInits(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  size_t sent = collective.getCommOperands().size();
  if (op->getNumOperands() != 2 * sent || op->getNumResults() != sent)
    return op->emitOpError("operands, expected as many inits and results as operands, got ")
           << op->getNumOperands() << " operands and inits together and " << op->getNumResults() << " results";
  for (auto [index, init, result] :
       llvm::enumerate(op->getOperands().drop_front(sent).getTypes(), op->getResultTypes()))
    if (init != result)
      return op->emitOpError("init ") << index << ", expected the type of its result, " << result << ", got " << init;
  return success();
}

/// C9: the large side is the small one times the group size along its dimension.
static LogicalResult verifyBlocks(CollectiveOpInterface op, ArrayRef<int64_t> dims, bool resultIsLarge) {
  int64_t group;
  if (failed(verifyUniform(op, group)))
    return failure();
  for (auto [index, dim] : llvm::enumerate(dims)) {
    auto operand = cast<RankedTensorType>(op.getCommOperands()[index].getType());
    auto result = cast<RankedTensorType>(op.getCommResults()[index].getType());
    LogicalResult scaled = resultIsLarge ? verifyScaled(op, index, dim, result, operand, "result", "operand", group)
                                         : verifyScaled(op, index, dim, operand, result, "operand", "result", group);
    if (failed(scaled) || failed(verifyOthersEqual(op, index, operand, result, {dim})))
      return failure();
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyInits(*this)) || failed(verifyIds(*this)) ||
      failed(verifyReduction(*this, getReduction(), getAccumulate())))
    return failure();
  for (auto [index, operand, result] : llvm::enumerate(getCommOperands().getTypes(), getResultTypes()))
    if (operand != result) // C6
      return emitOpError("result ") << index << ", expected the type of its operand, " << operand << ", got " << result;
  return verifyRoot(*this, getRootAttr().getInt());
}

LogicalResult GatherOp::verify() {
  return failure(failed(verifyOperands(*this)) || failed(verifyInits(*this)) || failed(verifyIds(*this)) ||
                 failed(verifyShapes(*this, {{"dims", getDims()}})) ||
                 failed(verifyRoot(*this, getRootAttr().getInt())) || failed(verifyBlocks(*this, getDims(), true)));
}

LogicalResult ScatterOp::verify() {
  return failure(failed(verifyOperands(*this)) || failed(verifyIds(*this)) ||
                 failed(verifyShapes(*this, {{"dims", getDims()}})) ||
                 failed(verifyRoot(*this, getRootAttr().getInt())) || failed(verifyBlocks(*this, getDims(), false)));
}

/// C3 of messages.
static LogicalResult verifyPeer(Operation *op, int64_t peer, int64_t tag) {
  ModuleRanks ranks = moduleRanksAround(op);
  if (peer < 0 || (ranks.stated && peer >= ranks.total()))
    return op->emitOpError("peer, expected a rank of the program")
           << (ranks.stated ? ", from 0 to " + std::to_string(ranks.total() - 1) : std::string()) << ", got " << peer;
  if (tag < 0)
    return op->emitOpError("tag, expected a number that is not negative, got ") << tag;
  return success();
}

LogicalResult SendOp::verify() {
  return failure(failed(verifyOperands(*this)) || failed(verifyPeer(*this, getPeer(), getTag())));
}

LogicalResult RecvOp::verify() {
  if (getResults().empty()) // C1
    return emitOpError("results, expected at least one, got none");
  for (auto [index, type] : llvm::enumerate(getResultTypes()))
    if (!cast<RankedTensorType>(type).hasStaticShape()) // C6
      return emitOpError("result ") << index << ", expected a static shape, got " << type;
  return verifyPeer(*this, getPeer(), getTag());
}

LogicalResult BarrierOp::verify() { return verifyIds(*this); }
