//===- DiffPlans.h - where two plans of one program differ, what that costs, and what made it so ----------------===//
#ifndef BRAID_SIM_DIFFPLANS_H
#define BRAID_SIM_DIFFPLANS_H

#include "braid/passes/PlanModule.h"
#include <string>
#include <vector>

namespace mlir::braid::sim {

/// One launch of one of two plans.
struct LaunchSide {
  int number = 0;        ///< in issue order
  std::string what;      ///< "all_reduce of 1.0 MiB in 3 tensors by ring/LL"
  std::string algorithm; ///< "ring/LL"
  std::string start;     ///< "behind 'dot at f.mlir:3:7'"
};

/// Launches of both plans that carry the same tensors, as few as possible.
struct LaunchDifference {
  std::vector<LaunchSide> a, b;
  bool buckets = false, algorithm = false, order = false, start = false; ///< what differs
  ::braid::cost::Seconds onA[2], onB[2];                                 ///< price of a's and of b's on each cluster
};

struct PlanDifference {
  std::vector<LaunchDifference> launches;
  int same = 0; ///< launches of A that B has just so
  /// Objective of A's and of B's plan on each cluster.
  ::braid::cost::Seconds onA[2], onB[2];
};

/// The plans are of one program, without cuts: tasks are the same but for their times.
PlanDifference planDifference(const ModulePlan &a, const ModulePlan &b);

/// What differs between two requests, and what it does alone: A planned again with this from B.
struct Cause {
  std::string key, inA, inB;
  int launches = 0; ///< of A's that it changes
  bool all = false; ///< the plan is then B's, to buckets and algorithms
  double step = 0;  ///< objective of the plan then, as a factor on A's
  std::string error;
};

/// Whatever differs between the requests, that which changes most of A's launches first.
std::vector<Cause> causesOf(const ModulePlan &a, const ModulePlan &b, const PlanRequest &askedA,
                            const PlanRequest &askedB);

} // namespace mlir::braid::sim

#endif
