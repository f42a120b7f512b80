//===- PlanCopy.cpp - a changed copy of the module, which may become the plan -----------------------------------===//
#include "analysis/ModelledPlan.h"

namespace mlir::braid {

bool PlannedCopy::model(const ModelOptions &options) {
  FailureOr<ProgramModel> model = buildProgramModel(*cut->module, options);
  if (failed(model))
    return false;
  cut->model = std::move(*model);
  return true;
}

bool PlannedCopy::search(const ModelledPlan &of, cost::Seconds budget, const cost::SampleOptions &sampling) {
  cost::PlanOptions alone = of.options;
  alone.compared = false;
  alone.budget = budget;
  alone.sampling = sampling;
  cost::Result<cost::PlanResult> result = cost::plan(cut->model.program, *of.pricer, alone);
  if (!result)
    return false; // needs more memory than there is
  separate(cut->model.program, *of.pricer, alone, *result);
  plan = std::move(result->policies.back());
  alternatives = std::move(result->alternatives);
  return true;
}

/// The best of several looks better by its own draws than it is.
bool PlannedCopy::gains(const ModelledPlan &than, double least) const {
  cost::SampleOptions other = than.options.sampling;
  other.seed = other.seed * 0x9e3779b97f4a7c15 + 1;
  auto judged = [&](const cost::Program &program, const cost::PolicyResult &policy) {
    return cost::objective(program, policy.schedule, *than.pricer, than.options.objective, other);
  };
  return judged(cut->model.program, plan) <= (1 - least) * judged(than.planned().program, than.result.braid());
}

void ModelledPlan::lowerBoundOf(const cost::Program &changed, const std::string &how) {
  cost::Bound bound = cost::lowerBound(changed, *pricer);
  if (bound.time < result.bound.time)
    result.bound = {bound.time, bound.witness + how};
  cost::QuantileBound &drawn = result.quantileBound,
                      own = cost::quantileBound(changed, *pricer, bound, options.objective,
                                                cost::unseen(options.sampling), &result.quantileBound);
  drawn = {std::min(drawn.p50, own.p50), std::min(drawn.p95, own.p95), std::min(drawn.p99, own.p99),
           std::min(drawn.objective, own.objective)};
}

void PlannedCopy::adopt(ModelledPlan &as, StringRef how) && {
  const cost::PolicyResult &whole = as.result.braid();
  alternatives.push_back({whole.rule, whole.objective, whole.collectives, false});
  llvm::stable_sort(alternatives, [](auto &a, auto &b) { return a.objective < b.objective; });
  as.lowerBoundOf(cut->model.program, (", " + how).str());
  if (as.cut) // the copy is one of a copy
    cut->remarks.insert(cut->remarks.begin(), as.cut->remarks.begin(), as.cut->remarks.end());
  as.result.alternatives = std::move(alternatives);
  as.result.policies.back() = std::move(plan);
  as.cut = std::move(cut);
}

std::string gainText(cost::Seconds before, cost::Seconds after) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", 100 * (1 - after / before));
  return text;
}

} // namespace mlir::braid
