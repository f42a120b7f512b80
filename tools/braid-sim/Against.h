//===- Against.h - the plans of one program for two clusters ----------------------------------------------------===//
#ifndef BRAID_SIM_AGAINST_H
#define BRAID_SIM_AGAINST_H

#include "braid/passes/PlanModule.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace mlir::braid::sim {

/// By what fraction of the objective the best other buckets or algorithms tried lose to the plan; negative: none were
/// tried.
double marginOf(const ModulePlan &plan);

/// The schedule of `from`'s plan for `program`, the same on `to`'s cluster, with each bucket's algorithm found by name:
/// candidates are sorted by price, which differs between clusters. The cheapest where it is not offered.
::braid::cost::Schedule translated(const ModulePlan &from, const ModulePlan &to, const ::braid::cost::Program &program);

/// What the choice of the cluster changed in the plan, and what it is worth.
struct Difference {
  bool differ = false;    ///< in a bucket or an algorithm
  std::string first;      ///< the first launch that differs; empty when none does
  double lossHere = 0;    ///< this cluster, running the other's plan: objective over its own plan's, minus 1
  double lossThere = 0;   ///< the other cluster, running this one's plan
  double marginHere = -1; ///< see marginOf
  double marginThere = -1;
};

/// Plans must be of the same program.
Difference differenceOf(const ModulePlan &here, const ModulePlan &there);

std::string toText(const Difference &difference, llvm::StringRef here, llvm::StringRef there);
llvm::json::Value toJson(const Difference &difference, llvm::StringRef there);

} // namespace mlir::braid::sim

#endif
