//===- LowerPipeline.cpp - from collectives on tensors to the LLVM dialect --------------------------------------===//
#include "braid/passes/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::braid {

void buildLowerPipeline(OpPassManager &manager, const LowerPipelineOptions &options) {
  buildPlannedPipeline(manager, options);
  buildLowerPlannedPipeline(manager);
}

void buildPlannedPipeline(OpPassManager &manager, const LowerPipelineOptions &options) {
  // A stale plan is an error here: it would run something that nobody decided.
  BraidVerifyPlanOptions verify;
  verify.cluster = options.cluster;
  manager.addPass(createBraidVerifyPlan(verify));

  // While operations are those that the planner saw.
  if (options.marks)
    manager.addPass(createBraidMarkCompute());
}

void buildLowerPlannedPipeline(OpPassManager &manager) {
  // Destinations before bufferization, which then sees what is in flight: first of computation, then of collectives.
  manager.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  manager.addPass(createBraidToDestination());
  manager.addPass(createCanonicalizerPass()); // loops drop the operands that they carried for a wait
  manager.addNestedPass<func::FuncOp>(createBraidPrepareCompute());
  manager.addNestedPass<func::FuncOp>(
      vector::createLowerVectorMaskPass()); // a mask holds one operation, not its buffers
  manager.addNestedPass<func::FuncOp>(vector::createLowerVectorMultiReductionPass());

  // To buffers. Arguments and results of functions are plain contiguous memory.
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.allowReturnAllocsFromLoops = true; // what a trip hands on may be the result of a collective
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  bufferization::buildBufferDeallocationPipeline(manager, bufferization::BufferDeallocationPipelineOptions());

  // Trust nobody: not bufferization, and not where it frees.
  manager.addPass(createBraidVerifyInFlight());
  manager.addPass(createConvertBufferizationToMemRefPass());
  manager.addPass(createBraidToRuntime());

  // The rest is upstream's.
  manager.addNestedPass<func::FuncOp>(createBraidExpandCopies());
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addNestedPass<func::FuncOp>(createConvertVectorToSCFPass());
  manager.addPass(createLowerAffinePass());
  manager.addNestedPass<func::FuncOp>(math::createMathExpandOpsPass());
  manager.addPass(createConvertMathToFuncs()); // powers of integers
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addNestedPass<func::FuncOp>(arith::createArithExpandOpsPass());
  manager.addPass(createConvertComplexToStandardPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass()); // what LLVM has; then what the C library has
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

} // namespace mlir::braid
