//===- Policies.cpp - what people run today, as policies --------------------------------------------------------===//
//
//   no-overlap   the program as written, each collective blocks where it stands
//   per-tensor   no bucketing
//   ddp-25mib    PyTorch DDP's buckets: 25 MiB, the first of each key 1 MiB
//   xla-30mib    XLA's combiner with its GPU threshold of 30 MiB, closing at the first dependent
//   one-bucket   as much together as dependences allow
//   braid        the plan, see Search.cpp
// All but the first with the same list scheduler and in-flight limit, so that only the buckets differ.
//===------------------------------------------------------------------------------------------------------------===//
#include "schedule/Search.h"
#include <limits>

using namespace braid::cost;

static constexpr Policy allPolicies[] = {Policy::NoOverlap, Policy::PerTensor, Policy::Ddp25MiB,
                                         Policy::Xla30MiB,  Policy::OneBucket, Policy::Braid};
static constexpr int64_t mebibyte = int64_t(1) << 20; // setting: a unit

const char *braid::cost::name(Policy policy) {
  switch (policy) {
  case Policy::NoOverlap:
    return "no-overlap";
  case Policy::PerTensor:
    return "per-tensor";
  case Policy::Ddp25MiB:
    return "ddp-25mib";
  case Policy::Xla30MiB:
    return "xla-30mib";
  case Policy::OneBucket:
    return "one-bucket";
  case Policy::Braid:
    break;
  }
  return "braid";
}

std::optional<Policy> braid::cost::parsePolicy(const std::string &text) {
  for (Policy policy : allPolicies)
    if (text == name(policy))
      return policy;
  return std::nullopt;
}

Schedule braid::cost::scheduleProgram(const Program &program, const BucketRule &rule, const Pricer &pricer,
                                      const ListOptions &options) {
  Schedule schedule;
  std::vector<Seconds> times;
  ListOptions withTimes = options;
  withTimes.times = &times;
  for (size_t b = 0; b < program.blocks.size(); ++b)
    schedule.blocks.push_back(listSchedule(program, int(b), bucketize(program.blocks[b], rule), pricer, withTimes));
  return schedule;
}

Schedule braid::cost::baselineSchedule(const Program &program, const Pricer &pricer, Policy policy, int inFlight) {
  BucketRule rule;
  ListOptions list;
  list.inFlight = inFlight;
  list.fillWaits = true;
  if (policy == Policy::NoOverlap)
    list.overlap = false;
  if (policy == Policy::Ddp25MiB) {
    rule.cap = {25 * mebibyte};
    rule.firstCap = {mebibyte};
  }
  if (policy == Policy::Xla30MiB)
    rule.cap = {30 * mebibyte};
  if (policy == Policy::OneBucket) {
    rule.cap = {std::numeric_limits<int64_t>::max()};
    rule.scanPastDependents = true;
  }
  return scheduleProgram(program, rule, pricer, list);
}

std::vector<double> braid::cost::runs(const Program &program) {
  std::vector<double> times(program.blocks.size(), -1);
  if (!times.empty())
    times.back() = 1;
  for (size_t b = program.blocks.size(); b-- > 0;)
    if (times[b] >= 0)
      for (const Task &task : program.blocks[b].tasks)
        if (task.kind == Task::Nested)
          times[task.block] = std::max(times[task.block], 0.0) + times[b] * task.trips;
  return times;
}

void braid::cost::measure(PolicyResult &result, const Program &program, const Pricer &pricer,
                          const PlanOptions &options) {
  Played played = playWithoutNoise(program, result.schedule, pricer);
  result.total = played.total;
  result.exposed = played.exposed;
  result.slowed = played.slowed;
  result.quantiles = quantiles(program, result.schedule, pricer, unseen(options.sampling));
  result.objective = objective(program, result.schedule, pricer, options.objective, unseen(options.sampling));
  result.peak = peakMemory(program, result.schedule);

  std::vector<double> times = runs(program);
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    if (times[b] < 0)
      continue;
    result.collectives += int64_t(result.schedule.blocks[b].buckets.size());
    result.executed += times[b] * double(result.schedule.blocks[b].buckets.size());
    for (const Task &task : program.blocks[b].tasks)
      if (task.kind == Task::Collective) {
        result.bytes += task.spec.bytes;
        result.executedBytes += times[b] * double(task.spec.bytes.value);
      }
  }
}

PolicyResult braid::cost::runPolicy(const Program &program, const Pricer &pricer, Policy policy,
                                    const PlanOptions &options) {
  auto baseline = [&](Policy which) {
    PolicyResult result;
    result.policy = which;
    result.schedule = baselineSchedule(program, pricer, which, options.inFlight);
    measure(result, program, pricer, options);
    return result;
  };
  if (policy != Policy::Braid)
    return baseline(policy);
  std::vector<PolicyResult> baselines;
  for (Policy each : allPolicies)
    if (each != Policy::Braid)
      baselines.push_back(baseline(each));
  return searchPlan(program, pricer, options, baselines);
}
