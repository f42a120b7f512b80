//===- Plan.cpp - every baseline, the search, the bound, the proof ----------------------------------------------===//
#include "schedule/Search.h"
#include <algorithm>

using namespace braid::cost;

/// `least`: of the baselines the one that needs least. `subject`: which one it is.
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
  auto tooLarge = [&](const PolicyResult &policy) {
    return options.memoryLimit.value > 0 && policy.peak.bytes > options.memoryLimit;
  };
  std::vector<PolicyResult> lean; // where the program as it is written needs too much: its gathers may come later
  bool wanted = options.baselines || options.budget.value > 0 || options.policy != Policy::Braid;
  for (Policy policy : {Policy::NoOverlap, Policy::PerTensor, Policy::Ddp25MiB, Policy::Xla30MiB, Policy::OneBucket}) {
    if (!options.compared || (policy != Policy::NoOverlap && !wanted))
      break;
    result.policies.push_back(runPolicy(program, pricer, policy, options));
    if (policy != Policy::NoOverlap || !tooLarge(result.policies.back()))
      continue;
    lean.emplace_back().policy = policy;
    lean.back().schedule = leanSchedule(program);
    measure(lean.back(), program, pricer, options);
    wanted |= tooLarge(lean.back()); // another baseline may need less than both
  }
  if (!lean.empty() && tooLarge(lean.back()) && std::all_of(result.policies.begin(), result.policies.end(), tooLarge)) {
    auto least = std::min_element(result.policies.begin(), result.policies.end(),
                                  [](auto &a, auto &b) { return a.peak.bytes < b.peak.bytes; });
    if (lean.back().peak.bytes < least->peak.bytes)
      return aboveLimit(program, lean.back(), options.memoryLimit, "with each gather as late as it can be");
    return aboveLimit(program, *least, options.memoryLimit,
                      least->policy == Policy::NoOverlap ? "before planning"
                                                         : std::string("as ") + name(least->policy));
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
