//===- PrepareCompute.cpp - what upstream's bufferization and loops need from computation -----------------------===//
#include "braid/passes/Passes.h"
#include "lowering/Incoming.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::braid {

#define GEN_PASS_DEF_BRAIDPREPARECOMPUTE
#include "braid/passes/Passes.h.inc"

namespace {

/// What a tensor's buffer may be the buffer of, through views, loops, branches and calls. A computation's result is its own: where its
/// operand is read later too, bufferization gives it another buffer. `loop`: only what is made in one trip of it.
void addSources(Value value, llvm::SmallPtrSetImpl<Value> &sources, Operation *loop) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  if (!isa<RankedTensorType>(value.getType()) || (loop && !loop->isProperAncestor(op)) || !sources.insert(value).second)
    return;
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    for (Value given : incomingValues(branch, value))
      addSources(given, sources, loop);
  } else if (!argument && isa<tensor::ExtractSliceOp, tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                              tensor::ReshapeOp, tensor::InsertSliceOp, arith::SelectOp, CallOpInterface>(op)) {
    for (Value operand : op->getOperands())
      addSources(operand, sources, loop);
  }
}

/// A function that writes one argument in place, and reads another one, must not be given one buffer for both; nor may it give one
/// for two results, which its caller writes. So it is with a scf.for and the tensors that a trip hands to the next:
///
///   for (%p = a, %q = b) { %f = fill outs(%q); %v = add %p, %f outs(alloc); yield %v, %v }    the second trip's fill overwrote %p
///
/// Bufferization does not see that: it looks at the function and at the call one after the other, and at one trip of a loop. What a loop
/// had before the trip it copies itself, and all that a scf.while hands on.
void separateBuffers(Operation *user) {
  Operation *loop = isa<scf::YieldOp>(user) ? user->getParentOp() : nullptr;
  llvm::SmallPtrSet<Value, 16> given;
  for (OpOperand &operand : user->getOpOperands()) {
    llvm::SmallPtrSet<Value, 16> sources;
    addSources(operand.get(), sources, loop);
    if (llvm::any_of(sources, [&](Value source) { return given.contains(source); })) {
      OpBuilder builder(user);
      auto type = cast<RankedTensorType>(operand.get().getType());
      operand.set(bufferization::AllocTensorOp::create(builder, user->getLoc(), type, ValueRange(), operand.get()));
    }
    given.insert(sources.begin(), sources.end());
  }
}

struct PrepareCompute : public impl::BraidPrepareComputeBase<PrepareCompute> {
  void runOnOperation() override {
    SmallVector<linalg::MatmulOp> products;
    SmallVector<Operation *> whole; // of several steps
    getOperation()->walk([](Operation *op) {
      bool goesRound = isa<scf::YieldOp>(op) && isa<scf::ForOp>(op->getParentOp());
      if (isa<func::CallOp, func::ReturnOp>(op) || goesRound)
        separateBuffers(op);
    });
    bool failedOnce = false;
    getOperation()->walk([&](Operation *op) {
      if (auto product = dyn_cast<linalg::MatmulOp>(op))
        products.push_back(product);
      if (isa<linalg::SoftmaxOp, linalg::PackOp, linalg::UnPackOp>(op))
        whole.push_back(op);
      if (isa<tensor::GatherOp, tensor::ScatterOp>(op)) {
        op->emitOpError(
            "expected an operation that becomes loops: write it as a linalg.generic with tensor.extract, or as a "
            "loop with tensor.insert");
        failedOnce = true;
      }
    });
    if (failedOnce)
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (Operation *op : whole) {
      rewriter.setInsertionPoint(op);
      LogicalResult done = failure();
      if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op)) {
        FailureOr<SmallVector<Value>> steps = softmax.decomposeOperation(rewriter);
        done = steps;
        if (succeeded(steps))
          rewriter.replaceOp(op, *steps);
      } else if (auto pack = dyn_cast<linalg::PackOp>(op)) {
        done = linalg::lowerPack(rewriter, pack);
      } else {
        done = linalg::lowerUnPack(rewriter, cast<linalg::UnPackOp>(op));
      }
      if (failed(done)) {
        op->emitOpError("expected sizes that can be taken apart into steps");
        return signalPassFailure();
      }
    }
    for (linalg::MatmulOp product : products) {
      rewriter.setInsertionPoint(product);
      FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, product);
      if (succeeded(generic))
        (void)linalg::interchangeGenericOp(rewriter, *generic, {0, 2, 1});
    }
  }
};

} // namespace
} // namespace mlir::braid
