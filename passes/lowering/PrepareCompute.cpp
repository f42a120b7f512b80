//===- PrepareCompute.cpp - the order of loops in matrix products -----------------------------------------------===//
#include "braid/passes/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::braid {

#define GEN_PASS_DEF_BRAIDPREPARECOMPUTE
#include "braid/passes/Passes.h.inc"

namespace {

struct PrepareCompute : public impl::BraidPrepareComputeBase<PrepareCompute> {
  void runOnOperation() override {
    SmallVector<linalg::MatmulOp> products;
    getOperation()->walk([&](linalg::MatmulOp op) { products.push_back(op); });
    IRRewriter rewriter(&getContext());
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
