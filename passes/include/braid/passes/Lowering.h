//===- Lowering.h - options of the lowering pipeline --------------------------------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_LOWERING_H
#define BRAID_PASSES_LOWERING_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::braid {

/// Options of `braid-lower-pipeline`.
struct LowerPipelineOptions : public PassPipelineOptions<LowerPipelineOptions> {
  Option<std::string> cluster{
      *this, "cluster",
      llvm::cl::desc("cluster file that plans must have been made for; absent: the module's, else what the plans say")};
  Option<bool> marks{*this, "marks", llvm::cl::init(false),
                     llvm::cl::desc("marks between which a run measures computation (braid-mark-compute)")};
};

/// From collectives on tensors to the LLVM dialect. See passes/pipelines/LowerPipeline.cpp.
void buildLowerPipeline(OpPassManager &manager, const LowerPipelineOptions &options);

/// Its two parts, for who changes the program in between. The first reads it as it was planned: the plans are verified, marks set.
void buildPlannedPipeline(OpPassManager &manager, const LowerPipelineOptions &options);
void buildLowerPlannedPipeline(OpPassManager &manager);

} // namespace mlir::braid

#endif // BRAID_PASSES_LOWERING_H
