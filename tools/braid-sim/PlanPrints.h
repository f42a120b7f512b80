//===- PlanPrints.h - what compare, play and explain say of a plan, for report to say the same ------------------===//
#ifndef BRAID_SIM_PLANPRINTS_H
#define BRAID_SIM_PLANPRINTS_H

#include "braid/passes/PlanModule.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::braid::sim {

struct SystemRows;

/// What "before" means: the defaults of XLA on GPUs.
constexpr ::braid::cost::Policy before = ::braid::cost::Policy::Xla30MiB;

const ::braid::cost::PolicyResult &resultOf(const ModulePlan &plan, ::braid::cost::Policy policy);

/// Compare.cpp: sentences on what the cluster file's compute section adds to the plan; none where it has none.
std::vector<std::string> computeNoise(const ModulePlan &plan);

/// Compare.cpp: what `braid-sim compare` prints.
llvm::json::Object planToJson(const ModulePlan &plan, const SystemRows &systems);
void printPlan(const ModulePlan &plan, const SystemRows &systems, llvm::StringRef input, llvm::raw_ostream &os);

/// Play.cpp: what `braid-sim play` prints.
llvm::json::Object playedToJson(const ::braid::cost::Played &played);

/// Explain.cpp: what `braid-sim explain` prints, of all collectives if `only` is negative.
void printReasons(const ModulePlan &plan, int only, llvm::raw_ostream &os);

} // namespace mlir::braid::sim

#endif
