#include "braid/passes/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::braid {
void buildDefaultPipeline(OpPassManager &manager, const DefaultPipelineOptions &options) {}
} // namespace mlir::braid
