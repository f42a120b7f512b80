//===- PlanRemarks.h - a reason for every decision --------------------------------------------------------------===//
#ifndef BRAID_PASSES_TRANSFORMS_PLANREMARKS_H
#define BRAID_PASSES_TRANSFORMS_PLANREMARKS_H

#include "analysis/ProgramModel.h"
#include "braid/passes/PlanModule.h"
#include "transforms/WhyApart.h"

namespace mlir::braid {

// All of these read the model, so they come before a schedule is applied; without a listener they cost nothing.

/// Which collectives merged, and for each that did not, why: `why` says it where neither depends on the other.
void remarkBuckets(const ProgramModel &model, const cost::Schedule &schedule, StringRef category, WhyApart why);

/// Which collectives run beside other work, and which do not.
void remarkOverlap(const ProgramModel &model, const cost::Schedule &schedule, StringRef category);

/// The algorithm of each launch with its price and the runner-up's. `rows` are in issue order.
void remarkAlgorithms(const ProgramModel &model, const cost::Schedule &schedule,
                      const std::vector<PlannedCollective> &rows, StringRef category);

} // namespace mlir::braid

#endif
