//===- Passes.h - constructors and options of Braid's passes ----------------------------------------------------===//
#ifndef BRAID_PASSES_PASSES_H
#define BRAID_PASSES_PASSES_H

#include "braid/cost_models/Price.h"
#include "braid/cost_models/Schedule.h"
#include "braid/dialect/BraidDialect.h"
#include "braid/passes/Export.h"
#include "braid/passes/Lowering.h"
#include "braid/passes/PassEnums.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include <limits>

namespace mlir::braid {

#define GEN_PASS_DECL
#include "braid/passes/Passes.h.inc"

/// Options of `braid-default-pipeline`; every one but the cluster may be absent.
struct DefaultPipelineOptions : public PassPipelineOptions<DefaultPipelineOptions> {
  Option<std::string> cluster{*this, "cluster", llvm::cl::desc("cluster file; without it the module's braid.cluster")};
  Option<std::string> engine{*this, "engine", llvm::cl::desc("who will run the collectives: nccl or braid"),
                             llvm::cl::init("nccl")};
  Option<::braid::cost::ObjectiveKind> objective{
      *this, "objective", llvm::cl::desc("what the plan minimises"),
      llvm::cl::init(::braid::cost::ObjectiveKind::Training),
      llvm::cl::values(
          clEnumValN(::braid::cost::ObjectiveKind::Training, "training", "mean over steps at the quantile over jobs"),
          clEnumValN(::braid::cost::ObjectiveKind::Serving, "serving", "quantile over steps"))};
  Option<double> quantile{*this, "quantile", llvm::cl::desc("absent: the default of the cluster's fabric"),
                          llvm::cl::init(std::numeric_limits<double>::quiet_NaN())};
  Option<std::string> placement{*this, "placement", llvm::cl::desc("packed, or host:gpu,host:gpu,...")};
  Option<std::string> memoryLimit{*this, "memory-limit", llvm::cl::desc("absent: the device's memory")};
  Option<std::string> budget{*this, "budget", llvm::cl::desc("of the search (2s); 0: greedy; absent: 10 s")};
  Option<std::string> computeProfile{*this, "compute-profile", llvm::cl::desc("JSON file; absent: a roofline")};
  Option<bool> split{*this, "split", llvm::cl::desc("try cutting large collectives"), llvm::cl::init(true)};
  Option<LoopPolicy> loops{*this, "loops", llvm::cl::desc("whether collectives may run in the next trip of a loop"),
                           llvm::cl::init(LoopPolicy::Auto), loopPolicyValues()};
  Option<std::string> sidecar{*this, "sidecar", llvm::cl::desc("file for what the consumer needs beside the program")};
  Option<PlanTarget> target{*this, "target", llvm::cl::desc("who runs the result"),
                            llvm::cl::init(PlanTarget::Stablehlo), planTargetValues()};
  Option<::braid::cost::Policy> policy{*this, "policy", llvm::cl::desc("whose schedule is written"),
                                       llvm::cl::init(::braid::cost::Policy::Braid), planPolicyValues()};
};

/// import, simplify, plan, verify, and for target=stablehlo export. See passes/pipelines/DefaultPipeline.cpp.
void buildDefaultPipeline(OpPassManager &manager, const DefaultPipelineOptions &options);

} // namespace mlir::braid

#endif // BRAID_PASSES_PASSES_H
