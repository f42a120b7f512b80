//===- Plan.cpp - every baseline, the search, the bound, the proof ----------------------------------------------===//
#include "schedule/Search.h"

using namespace braid::cost;

/// `least`: of the schedules without overlap the one that needs least. `subject`: which one it is.
static Error aboveLimit(const Program &program, const PolicyResult &least, Bytes limit, const std::string &subject) {
  Error error;
  std::string allowed = toString(limit), needed = toString(least.peak.bytes);
  if (allowed == needed) { // three digits do not tell them apart
    allowed = std::to_string(limit.value) + " B";
    needed = std::to_string(least.peak.bytes.value) + " B";
  }
  error.message = "memory of the program " + subject + ", expected at most " + allowed + ", got a peak of " + needed;
  std::string holders;
  for (const auto &[name, bytes] : liveAtPeak(program, least.schedule, least.peak))
    holders += (holders.empty() ? "" : ", ") + name + " (" + toString(bytes) + ")";
  if (!holders.empty())
    error.message += "; held by " + holders;
  return error;
}

Result<PlanResult> braid::cost::plan(const Program &program, const Pricer &pricer, const PlanOptions &options) {
  if (program.blocks.empty())
    return Error{"plan, expected a program with an entry block, got none", ""};
  PlanResult result;
  std::vector<PolicyResult> lean; // where the program as it is written needs too much: its gathers may come later
  for (Policy policy : {Policy::NoOverlap, Policy::PerTensor, Policy::Ddp25MiB, Policy::Xla30MiB, Policy::OneBucket}) {
    if (!options.compared || (policy != Policy::NoOverlap && !options.baselines && options.budget.value <= 0 &&
                              options.policy == Policy::Braid))
      break;
    result.policies.push_back(runPolicy(program, pricer, policy, options));
    const PolicyResult &last = result.policies.back();
    if (policy != Policy::NoOverlap || options.memoryLimit.value <= 0 || last.peak.bytes <= options.memoryLimit)
      continue;
    lean.emplace_back().policy = policy;
    lean.back().schedule = leanSchedule(program);
    measure(lean.back(), program, pricer, options);
    if (lean.back().peak.bytes > options.memoryLimit)
      return lean.back().peak.bytes < last.peak.bytes
                 ? aboveLimit(program, lean.back(), options.memoryLimit, "with each gather as late as it can be")
                 : aboveLimit(program, last, options.memoryLimit, "before planning");
  }
  PolicyResult best;
  std::optional<Bound> bound;
  if (options.policy == Policy::Braid) {
    std::vector<PolicyResult> offers = result.policies;
    offers.insert(offers.end(), lean.begin(), lean.end());
    best = searchPlan(program, pricer, options, offers, &result.alternatives, &bound);
    std::string unplanned = std::string("as ") + name(Policy::NoOverlap);
    if (!lean.empty() && best.rule.rfind(unplanned, 0) == 0)
      best.rule.insert(unplanned.size(), ", with each gather as late as it can be");
  } else {
    for (const PolicyResult &baseline : result.policies)
      if (baseline.policy == options.policy)
        best = baseline;
    best.policy = Policy::Braid;
    best.rule = std::string("as asked for: ") + name(options.policy);
  }
  ListOptions rules;
  rules.inFlight = options.inFlight;
  rules.memoryLimit = options.memoryLimit;
  rules.overlap = options.policy != Policy::NoOverlap;
  std::string broken = verifySchedule(program, best.schedule, rules, &pricer);
  if (!broken.empty())
    return Error{"plan, expected a schedule that passes the verifier, got: " + broken, ""};
  result.policies.push_back(std::move(best));
  if (options.compared) {
    result.bound = bound ? *bound : lowerBound(program, pricer);
    result.quantileBound = quantileBound(program, pricer, result.bound, options.objective, unseen(options.sampling));
  }
  return result;
}
