//===- ExpandCopies.cpp - copies between strided buffers --------------------------------------------------------===//
#include "braid/passes/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::braid {

#define GEN_PASS_DEF_BRAIDEXPANDCOPIES
#include "braid/passes/Passes.h.inc"

namespace {

struct ExpandCopies : public impl::BraidExpandCopiesBase<ExpandCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) {
      auto strided = [](Value buffer) {
        auto type = dyn_cast<MemRefType>(buffer.getType());
        return type && !type.getLayout().isIdentity();
      };
      if (strided(copy.getSource()) || strided(copy.getTarget()))
        copies.push_back(copy);
    });
    for (memref::CopyOp copy : copies) {
      OpBuilder builder(copy);
      linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    }
  }
};

} // namespace
} // namespace mlir::braid
