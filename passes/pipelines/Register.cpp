//===- Register.cpp - registers passes and pipelines with MLIR's textual pipeline parser -------------------------===//
#include "braid/passes/Register.h"
#include "braid/passes/Passes.h"
#include "mlir/Pass/PassRegistry.h"

namespace mlir::braid {

#define GEN_PASS_REGISTRATION
#include "braid/passes/Passes.h.inc"

void registerBraidPasses() { registerBraidGeneratedPasses(); }

void registerBraidPipelines() {
  PassPipelineRegistration<DefaultPipelineOptions>("braid-default-pipeline",
                                                   "import, simplify, plan, verify, and for target=stablehlo export",
                                                   buildDefaultPipeline);
  PassPipelineRegistration<LowerPipelineOptions>(
      "braid-lower-pipeline", "from collectives on tensors to the LLVM dialect and calls of Braid's runtime",
      buildLowerPipeline);
}

} // namespace mlir::braid
