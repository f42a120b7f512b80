//===- PlanModule.h - plan a module without changing it ---------------------------------------------------------===//
//
// The analysis behind `braid-plan` and `braid-sim compare`: read the cluster, build the plain scheduling program from
// IR, try every policy, bound the result. Changes nothing in the module.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PLANMODULE_H
#define BRAID_PASSES_PLANMODULE_H

#include "braid/cost_models/Schedule.h"
#include "braid/passes/PassEnums.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::braid {

/// What a user asks for; every field but the cluster may stay at its default.
struct PlanRequest {
  std::string cluster; ///< file; empty: the module's braid.cluster attribute
  std::string engine = "nccl";
  std::string objective = "training"; ///< or "serving"
  std::optional<double> quantile;     ///< default: the cluster's profile
  std::string placement = "packed";
  std::string memoryLimit;             ///< "80GiB"; empty: the device's memory
  std::string computeProfile;          ///< JSON file with measured times by location; empty: roofline
  std::string target = "stablehlo";    ///< who runs the result: "stablehlo" or "braid"
  bool split = true;                   ///< try cutting large collectives
  LoopPolicy loops = LoopPolicy::Auto; ///< collectives in the next trip of a loop
  bool inlineLoops = false;            ///< first put functions that communicate into the loops that call them
  std::string budget;                  ///< of the search, with its unit: "2 s"; "0": the greedy plan; empty: 10 s
  bool baselines = true;               ///< false: at a budget of 0, only the program as written
  uint64_t seed = 1;
  /// Whose schedule is the plan: Braid's own, or that of a baseline, for who wants it in the program.
  ::braid::cost::Policy policy = ::braid::cost::Policy::Braid;
};

/// One planned launch, for reports.
struct PlannedCollective {
  std::string kind;
  int64_t bytes = 0; ///< operand bytes per rank
  int tensors = 1;
  int groupSize = 0;
  std::string fabric; ///< "intra" or "inter"
  std::string algorithm, protocol;
  ::braid::cost::Seconds price{};       ///< expected (mean over draws)
  ::braid::cost::Seconds runnerUpPrice; ///< by the same measure as `price`
  std::string runnerUp;                 ///< "tree/LL128 1.3 ms", empty when there is none
  ::braid::cost::PriceTerm why;
  std::string location;
};

struct ModulePlan {
  int64_t ranks = 0;
  std::unique_ptr<::braid::cost::Pricer> pricer;
  ::braid::cost::Program program; ///< of the module as it is: the baselines are for it
  /// Of each block's tasks: the operation, where the task communicates (a collective; a barrier that is one), else null.
  std::vector<std::vector<Operation *>> operations;
  /// A copy of the module with collectives cut or loops pipelined, its program and operations.
  struct Cut {
    OwningOpRef<ModuleOp> module;
    ::braid::cost::Program program;
    std::vector<std::vector<Operation *>> operations;
  };
  std::unique_ptr<Cut> cut; ///< what the plan is for; null: the module as it is
  std::string splits;       ///< what trying to cut collectives found; empty: nothing was tried
  /// The program that a policy's schedule is for.
  const ::braid::cost::Program &programOf(const ::braid::cost::PolicyResult &policy) const {
    return cut && policy.policy == ::braid::cost::Policy::Braid ? cut->program : program;
  }
  ::braid::cost::PlanResult result;
  ::braid::cost::PlanOptions options;
  std::vector<PlannedCollective> collectives; ///< of the braid policy, in issue order
  std::vector<std::string> openQuestions;     ///< why the order of collectives is not certified; empty: it is
  ModuleOp module;                            ///< which was planned
  PlanRequest request;
};

/// Errors are emitted on the module. A module without collectives gives a plan with an empty `collectives`.
FailureOr<ModulePlan> planModule(ModuleOp module, const PlanRequest &request);

/// The program that the plan is for, with computation as fast as on another cluster. The planned module must exist still.
FailureOr<::braid::cost::Program> programOn(const ModulePlan &plan, const ::braid::cost::Cluster &cluster);

/// Says as remarks of braid-plan, to who listens in the module's context, which collectives merged, which run beside other
/// work, and why the others do not.
void remarkPlan(const ModulePlan &plan);

} // namespace mlir::braid

#endif
