//===- DefaultPipeline.cpp - from a program as people have it to a planned one ----------------------------------===//
#include "braid/passes/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::braid {

void buildDefaultPipeline(OpPassManager &manager, const DefaultPipelineOptions &options) {
  // Collectives become operations that Braid understands; all else stays as it is.
  manager.addPass(createBraidImport());

  // Fewer collectives before counting what they cost. Nothing may be planned before this: it changes operands.
  manager.addPass(createBraidSimplify());
  manager.addPass(createBraidScatterReductions());

  // One decision: buckets, start times, algorithms. Nothing may touch collectives between this and the export, or
  // fingerprints and the order in the certificate no longer fit.
  BraidPlanOptions plan;
  plan.cluster = options.cluster;
  plan.engine = options.engine;
  plan.objective = options.objective;
  plan.quantile = options.quantile;
  plan.placement = options.placement;
  plan.memoryLimit = options.memoryLimit;
  plan.budget = options.budget;
  plan.computeProfile = options.computeProfile;
  plan.split = options.split;
  plan.loops = options.loops;
  plan.target = options.target;
  plan.policy = options.policy;
  manager.addPass(createBraidPlan(plan));

  // Trust nobody: the IR that will be exported is checked by code that did not write it.
  BraidVerifyPlanOptions verify;
  verify.cluster = options.cluster;
  manager.addPass(createBraidVerifyPlan(verify));

  if (options.target == PlanTarget::Braid)
    return; // lowering to the runtime comes later

  // Back to what the consumer reads, with the options without which the consumer would merge and order again.
  BraidExportOptions exported;
  exported.sidecar = options.sidecar;
  manager.addPass(createBraidExport(exported));
}

} // namespace mlir::braid
