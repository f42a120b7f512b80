//===- ExportPass.cpp - collectives in the braid dialect in, StableHLO out ===//

#include "CollectiveExporter.h"

#include "../import/CollectiveImporter.h"

#include "braid/passes/Passes.h"
#include "braid/passes/PlaceholderDialects.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDEXPORT
#include "braid/passes/Passes.h.inc"
} // namespace mlir::braid

using namespace mlir;
using namespace mlir::braid;

LogicalResult mlir::braid::exportStablehlo(ModuleOp module, const ExportOptions &options) {
  CollectiveExporter exporter(module, options);
  SmallVector<StartOp> starts;
  SmallVector<CollectiveOpInterface> collectives;
  SmallVector<Operation *> others;
  module->walk([&](Operation *op) {
    if (auto start = dyn_cast<StartOp>(op))
      starts.push_back(start);
    else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      if (isa<BraidDialect>(op->getDialect()) && !isa<StartOp>(op->getParentOp()))
        collectives.push_back(collective);
    } else if (CollectiveImporter::isCollective(op))
      others.push_back(op);
  });
  for (CollectiveOpInterface collective : collectives)
    if (failed(exporter.exportCollective(collective)))
      return failure();
  for (StartOp start : starts)
    if (failed(exporter.exportStart(start)))
      return failure();
  for (Operation *op : others)
    exporter.writeGroupsAsList(op);
  exporter.cleanModule();

  // What is left has no form in StableHLO: a wait whose start is not visible.
  WalkResult left = module->walk([](Operation *op) {
    if (!isa_and_nonnull<BraidDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("has no form in StableHLO: expected a token that comes straight from braid.start");
    return WalkResult::interrupt();
  });
  return failure(left.wasInterrupted());
}

namespace {
struct ExportPass : public mlir::braid::impl::BraidExportBase<ExportPass> {
  using BraidExportBase::BraidExportBase;

  LogicalResult initialize(MLIRContext *context) override {
    // A program written by hand may come from a context that knows no StableHLO.
    loadPlaceholderDialects(*context);
    return success();
  }

  void runOnOperation() override {
    ExportOptions chosen{consumer, async};
    if (failed(exportStablehlo(getOperation(), chosen)) ||
        (!sidecar.empty() && failed(writeXlaSidecar(getOperation().getLoc(), sidecar))))
      signalPassFailure();
  }
};
} // namespace
