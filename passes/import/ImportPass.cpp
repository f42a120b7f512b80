//===- ImportPass.cpp - StableHLO in, collectives in the braid dialect out ===//

#include "CollectiveImporter.h"

#include "braid/passes/Import.h"
#include "braid/passes/Passes.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDIMPORT
#include "braid/passes/Passes.h.inc"
} // namespace mlir::braid

using namespace mlir;
using namespace mlir::braid;

LogicalResult mlir::braid::importStablehlo(ModuleOp module) {
  // Collected first: importing erases what a walk would stand on. A start comes before what it holds.
  SmallVector<Operation *> starts, collectives;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getName().getStringRef() == "stablehlo.async_start") {
      starts.push_back(op);
      return WalkResult::skip(); // what is inside shares its fate
    }
    if (CollectiveImporter::isCollective(op))
      collectives.push_back(op);
    return WalkResult::advance();
  });

  CollectiveImporter importer(module);
  bool valid = true;
  for (Operation *op : starts)
    valid &= importer.importAsync(op) != ImportResult::Invalid;
  for (Operation *op : collectives)
    valid &= importer.importCollective(op) != ImportResult::Invalid;
  return success(valid);
}

namespace {
struct ImportPass : public mlir::braid::impl::BraidImportBase<ImportPass> {
  void runOnOperation() override {
    if (failed(importStablehlo(getOperation())))
      signalPassFailure();
  }
};
} // namespace
