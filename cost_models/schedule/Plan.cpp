//===- Plan.cpp - every baseline, the search, the bound, the proof ----------------------------------------------===//
#include "schedule/Search.h"

using namespace braid::cost;

/// The program as written needs too much: no schedule of it can be expected to need less.
static Error aboveLimit(const Program &program, const PolicyResult &written, Bytes limit) {
  Error error;
  std::string allowed = toString(limit), needed = toString(written.peak.bytes);
  if (allowed == needed) { // three digits do not tell them apart
    allowed = std::to_string(limit.value) + " B";
    needed = std::to_string(written.peak.bytes.value) + " B";
  }
  error.message = "memory of the program before planning, expected at most " + allowed + ", got a peak of " + needed;
  std::string holders;
  for (const auto &[name, bytes] : liveAtPeak(program, written.schedule, written.peak))
    holders += (holders.empty() ? "" : ", ") + name + " (" + toString(bytes) + ")";
  if (!holders.empty())
    error.message += "; held by " + holders;
  return error;
}

Result<PlanResult> braid::cost::plan(const Program &program, const Pricer &pricer, const PlanOptions &options) {
  if (program.blocks.empty())
    return Error{"plan, expected a program with an entry block, got none", ""};
  PlanResult result;
  for (Policy policy : {Policy::NoOverlap, Policy::PerTensor, Policy::Ddp25MiB, Policy::Xla30MiB, Policy::OneBucket}) {
    result.policies.push_back(runPolicy(program, pricer, policy, options));
    const PolicyResult &last = result.policies.back();
    if (policy == Policy::NoOverlap && options.memoryLimit.value > 0 && last.peak.bytes > options.memoryLimit)
      return aboveLimit(program, last, options.memoryLimit);
  }
  PolicyResult best = searchPlan(program, pricer, options, result.policies, &result.alternatives);
  ListOptions rules;
  rules.inFlight = options.inFlight;
  rules.memoryLimit = options.memoryLimit;
  std::string broken = verifySchedule(program, best.schedule, rules, &pricer);
  if (!broken.empty())
    return Error{"plan, expected a schedule that passes the verifier, got: " + broken, ""};
  result.policies.push_back(std::move(best));
  result.bound = lowerBound(program, pricer);
  return result;
}
