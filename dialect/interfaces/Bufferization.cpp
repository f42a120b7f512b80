//===- Bufferization.cpp - what one-shot bufferization must know of launch, finish, compute -------------------===//
//
// The launch writes its destinations, and the finish reads what is in flight and reads the inputs once more. So bufferization sees that between the two nobody may write into the inputs' buffers, and that nobody else may use
// the destinations'. In place is a launch without inputs: if its operand is read later, bufferization copies first.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "braid/dialect/BraidOps.h"

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::bufferization;

template <typename OpT> static bool isInit(OpT op, OpOperand &operand) {
  OperandRange inits = op.getInits();
  if (inits.empty())
    return false;
  unsigned first = inits.getBeginOperandIndex();
  return operand.getOperandNumber() >= first && operand.getOperandNumber() < first + inits.size();
}

/// The result that has the buffer of a destination.
template <typename OpT> static AliasingValueList aliasOfInit(OpT op, OpOperand &operand) {
  if (!isInit(op, operand))
    return {};
  unsigned index = operand.getOperandNumber() - op.getInits().getBeginOperandIndex();
  return {{op.getResults()[index], BufferRelation::Equivalent}};
}

/// The buffers of tensors.
static FailureOr<SmallVector<Value>> buffersOf(RewriterBase &rewriter, ValueRange tensors,
                                               const BufferizationOptions &options, BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value tensor : tensors) {
    if (!isa<TensorType>(tensor.getType())) {
      buffers.push_back(tensor);
      continue;
    }
    FailureOr<Value> buffer = getBuffer(rewriter, tensor, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  return buffers;
}

//===------------------------------------------------------------------------------------------------------------===//
// Launch
//===------------------------------------------------------------------------------------------------------------===//

bool LaunchOp::bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) {
  return !isInit(*this, operand) || readsInits();
}
bool LaunchOp::bufferizesToMemoryWrite(OpOperand &operand, const AnalysisState &) { return isInit(*this, operand); }
bool LaunchOp::mustBufferizeInPlace(OpOperand &, const AnalysisState &) { return false; }
AliasingValueList LaunchOp::getAliasingValues(OpOperand &operand, const AnalysisState &) {
  return aliasOfInit(*this, operand);
}

LogicalResult LaunchOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                  BufferizationState &state) {
  FailureOr<SmallVector<Value>> inputs = buffersOf(rewriter, getInputs(), options, state);
  FailureOr<SmallVector<Value>> inits = buffersOf(rewriter, getInits(), options, state);
  if (failed(inputs) || failed(inits))
    return failure();
  Properties properties = getProperties();
  auto launch = LaunchOp::create(rewriter, getLoc(), TypeRange{getToken().getType()},
                                 llvm::to_vector(llvm::concat<Value>(*inputs, *inits)), properties,
                                 (*this)->getDiscardableAttrDictionary().getValue());
  SmallVector<Value> replacements = {launch.getToken()};
  llvm::append_range(replacements, *inits);
  replaceOpWithBufferizedValues(rewriter, getOperation(), replacements);
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// Finish
//===------------------------------------------------------------------------------------------------------------===//

bool FinishOp::bufferizesToMemoryRead(OpOperand &, const AnalysisState &) { return true; }
/// What the collective writes counts as the launch's. If the finish were a writer too, one that may not be given another
/// buffer, bufferization could not give the launch another one either.
bool FinishOp::bufferizesToMemoryWrite(OpOperand &, const AnalysisState &) { return false; }
/// A copy would not be the buffer that is in flight.
bool FinishOp::mustBufferizeInPlace(OpOperand &, const AnalysisState &) { return true; }
AliasingValueList FinishOp::getAliasingValues(OpOperand &operand, const AnalysisState &) {
  return aliasOfInit(*this, operand);
}

LogicalResult FinishOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                  BufferizationState &state) {
  FailureOr<SmallVector<Value>> inputs = buffersOf(rewriter, getInputs(), options, state);
  FailureOr<SmallVector<Value>> inits = buffersOf(rewriter, getInits(), options, state);
  if (failed(inputs) || failed(inits))
    return failure();
  FinishOp::create(rewriter, getLoc(), TypeRange(), getToken(), *inputs, *inits);
  replaceOpWithBufferizedValues(rewriter, getOperation(), *inits);
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// Compute
//===------------------------------------------------------------------------------------------------------------===//

bool ComputeOp::bufferizesToMemoryRead(OpOperand &, const AnalysisState &) { return true; }
bool ComputeOp::bufferizesToMemoryWrite(OpOperand &operand, const AnalysisState &) { return isInit(*this, operand); }
AliasingValueList ComputeOp::getAliasingValues(OpOperand &operand, const AnalysisState &) {
  return aliasOfInit(*this, operand);
}

LogicalResult ComputeOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                   BufferizationState &state) {
  FailureOr<SmallVector<Value>> inputs = buffersOf(rewriter, getInputs(), options, state);
  FailureOr<SmallVector<Value>> inits = buffersOf(rewriter, getInits(), options, state);
  if (failed(inputs) || failed(inits))
    return failure();
  ComputeOp::create(rewriter, getLoc(), TypeRange(), getNameAttr(), getDurationAttr(), *inputs, *inits);
  replaceOpWithBufferizedValues(rewriter, getOperation(), *inits);
  return success();
}
