//===- ModelledPlan.h - a plan together with the module it is for -----------------------------------------------===//
//
// What planModule (the public API, plain structs only) and braid-plan (which writes the plan into the module) share.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_MODELLEDPLAN_H
#define BRAID_PASSES_ANALYSIS_MODELLEDPLAN_H

#include "analysis/JobCluster.h"
#include "analysis/ProgramModel.h"
#include "braid/passes/PlanModule.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::braid {

/// A copy of the module in which collectives are cut.
struct CutModule {
  OwningOpRef<ModuleOp> module;
  ProgramModel model;
  SmallVector<std::pair<Location, std::string>> remarks; ///< what was cut, and into what
};

struct ModelledPlan {
  ProgramModel model;             ///< of the module as it is, which is what the baselines are for
  std::unique_ptr<CutModule> cut; ///< what the plan is for; null: the module as it is
  std::string splits;             ///< what trying to cut collectives found; empty: nothing was tried
  ProgramModel &planned() { return cut ? cut->model : model; }
  const ProgramModel &planned() const { return cut ? cut->model : model; }
  cost::Cluster cluster;
  std::unique_ptr<cost::Pricer> pricer; ///< null: nothing to plan
  cost::PlanOptions options;
  cost::PlanResult result;
};

/// Errors are emitted on the module. `category` is that of remarks.
FailureOr<ModelledPlan> modelAndPlan(ModuleOp module, const PlanRequest &request, StringRef category);

/// The scheduler knows fabrics, not communicators: what it put in flight together and must not be is separated, and the
/// plan's numbers are taken again.
void separate(const ProgramModel &model, const cost::Pricer &pricer, const cost::PlanOptions &options,
              cost::PolicyResult &plan);

/// Tries the program with its large collectives cut, and makes the best such plan the plan if it gains (PlanSplit.cpp).
void trySplits(ModuleOp module, const ModelOptions &options, ModelledPlan &plan);

/// Rows of a schedule, in issue order.
std::vector<PlannedCollective> plannedCollectives(const ProgramModel &model, const cost::Schedule &schedule,
                                                  const cost::Pricer &pricer);

/// The engine of this name. Without it an error on the module, which says which there are.
FailureOr<cost::Engine> readEngine(ModuleOp module, StringRef name);

/// How a bucket is run, by who runs it.
cost::BucketForm bucketForm(cost::Engine engine, bool exported);

} // namespace mlir::braid

#endif
