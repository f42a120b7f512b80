//===- PrepareCompute.cpp - what upstream's bufferization and loops need from computation -----------------------===//
#include "braid/passes/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::braid {

#define GEN_PASS_DEF_BRAIDPREPARECOMPUTE
#include "braid/passes/Passes.h.inc"

namespace {

struct PrepareCompute : public impl::BraidPrepareComputeBase<PrepareCompute> {
  void runOnOperation() override {
    SmallVector<linalg::MatmulOp> products;
    SmallVector<Operation *> whole; // of several steps
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
