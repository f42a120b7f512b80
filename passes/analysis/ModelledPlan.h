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

/// A copy of the module in which collectives are cut, or run in the next trip of their loop.
struct CutModule {
  OwningOpRef<ModuleOp> module;
  ProgramModel model;
  struct Remark {
    Location where;
    StringRef name; ///< "split", "pipeline"
    std::string text;
  };
  std::vector<Remark> remarks; ///< what was done
};

struct ModelledPlan {
  ProgramModel model;             ///< of the module as it is, which is what the baselines are for
  std::unique_ptr<CutModule> cut; ///< what the plan is for; null: the module as it is
  std::string splits;             ///< what trying to cut collectives found; empty: nothing was tried
  std::string loops;              ///< what trying to pipeline loops found; empty: nothing was tried
  ProgramModel &planned() { return cut ? cut->model : model; }
  const ProgramModel &planned() const { return cut ? cut->model : model; }
  cost::Cluster cluster;
  std::unique_ptr<cost::Pricer> pricer; ///< null: nothing to plan
  cost::PlanOptions options;
  cost::PlanResult result;
  /// The bound becomes no higher than that of a changed program; `how` it was changed is added to the witness.
  void lowerBoundOf(const cost::Program &changed, const std::string &how);
};

/// Errors are emitted on the module. `category` is that of remarks.
FailureOr<ModelledPlan> modelAndPlan(ModuleOp module, const PlanRequest &request, StringRef category);

/// The scheduler knows fabrics, not communicators: what a policy put in flight together and must not be is separated, and its numbers
/// are taken again. A baseline that is better than the plan then is the plan.
void separate(const cost::Program &program, const cost::Pricer &pricer, const cost::PlanOptions &options,
              cost::PlanResult &result);

/// Tries the program with its loops pipelined, and makes the best such plan the plan if it gains, or if that is asked for
/// (PlanLoops.cpp).
void tryPipelines(ModuleOp module, LoopPolicy policy, const ModelOptions &options, ModelledPlan &plan);

/// Tries the planned program with its large collectives cut, and makes the best such plan the plan if it gains (PlanSplit.cpp).
void trySplits(ModuleOp module, const ModelOptions &options, ModelledPlan &plan);

/// A changed copy of the module with a plan of its own, which may become the plan.
struct PlannedCopy {
  std::unique_ptr<CutModule> cut;
  cost::PolicyResult plan;
  std::vector<cost::Alternative> alternatives;

  /// Models and plans the copy. False: it can't be, or needs more memory than there is.
  bool make(const ModelOptions &options, const ModelledPlan &plan, cost::Seconds budget) {
    return model(options) && search(plan, budget, plan.options.sampling);
  }
  bool model(const ModelOptions &options);
  /// Plans what was modelled, judged by so many samples.
  bool search(const ModelledPlan &plan, cost::Seconds budget, const cost::SampleOptions &sampling);
  /// Whether it takes less than the plan, by at least this share, under draws that neither was searched with.
  bool gains(const ModelledPlan &plan, double least) const;
  /// Makes it the plan. The bound is the lower of those of both programs. `how` it was changed: "with collectives cut".
  void adopt(ModelledPlan &plan, StringRef how) &&;
};
constexpr double leastGain = 0.01; ///< setting: of the objective, to prefer a changed copy
/// The share by which `after` is less than `before`: "1.5 %".
std::string gainText(cost::Seconds before, cost::Seconds after);

/// Rows of a schedule, in issue order.
std::vector<PlannedCollective> plannedCollectives(const ProgramModel &model, const cost::Schedule &schedule,
                                                  const cost::Pricer &pricer);

/// The engine of this name. Without it an error on the module, which says which there are.
FailureOr<cost::Engine> readEngine(ModuleOp module, StringRef name);

/// How a bucket is run, by who runs it.
cost::BucketForm bucketForm(cost::Engine engine, bool exported);

} // namespace mlir::braid

#endif
