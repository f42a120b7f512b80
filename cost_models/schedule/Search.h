//===- Search.h - the plan's candidates -------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SCHEDULE_SEARCH_H
#define BRAID_COST_MODELS_SCHEDULE_SEARCH_H

#include "braid/cost_models/Schedule.h"
#include <optional>

namespace braid::cost {

/// The schedule of a baseline (every policy but Braid).
Schedule baselineSchedule(const Program &program, const Pricer &pricer, Policy policy, int inFlight);

/// Without overlap, and what costs memory as late as it can be.
Schedule leanSchedule(const Program &program);

/// Fills what a schedule's result reports: times without noise, quantiles, objective, counts, bytes, peak.
void measure(PolicyResult &result, const Program &program, const Pricer &pricer, const PlanOptions &options);

/// The best schedule by the objective within the memory limit, of the search's own and the baselines (measured). Never
/// worse than the best baseline within the limit, since those are candidates. Ties go to fewer launches, then to the
/// earlier one.
PolicyResult searchPlan(const Program &program, const Pricer &pricer, const PlanOptions &options,
                        const std::vector<PolicyResult> &baselines, std::vector<Alternative> *alternatives = nullptr,
                        std::optional<Bound> *bound = nullptr);

} // namespace braid::cost

#endif
