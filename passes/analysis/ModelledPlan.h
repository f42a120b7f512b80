//===- ModelledPlan.h - a plan together with the module it is for -----------------------------------------------===//
//
// What planModule (the public API, plain structs only) and braid-plan (which writes the plan into the module) share.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_MODELLEDPLAN_H
#define BRAID_PASSES_ANALYSIS_MODELLEDPLAN_H

#include "analysis/JobCluster.h"
#include "analysis/ProgramModel.h"
#include "braid/passes/PlanModule.h"

namespace mlir::braid {

struct ModelledPlan {
  ProgramModel model;
  cost::Cluster cluster;
  std::unique_ptr<cost::Pricer> pricer; ///< null: nothing to plan
  cost::PlanOptions options;
  cost::PlanResult result;
};

/// Errors are emitted on the module. `category` is that of remarks.
FailureOr<ModelledPlan> modelAndPlan(ModuleOp module, const PlanRequest &request, StringRef category);

/// Rows of a schedule, in issue order.
std::vector<PlannedCollective> plannedCollectives(const ProgramModel &model, const cost::Schedule &schedule,
                                                  const cost::Pricer &pricer);

/// The engine of this name. Without it an error on the module, which says which there are.
FailureOr<cost::Engine> readEngine(ModuleOp module, StringRef name);

/// How a bucket is run, by who runs it.
cost::BucketForm bucketForm(cost::Engine engine, bool exported);

} // namespace mlir::braid

#endif
