//===- Main.cpp - plan_oracle: plans beside schedules that are proven optimal --------------------------------------===//
//
//   plan_oracle order FIRST LAST [FAILURES]      instances by seed (Instances.h), the order is the decision
//   plan_oracle buckets FIRST LAST [FAILURES]    buckets and algorithms, too
//   plan_oracle tiny FIRST LAST [--planted]      the model against enumeration of all schedules; planted: collectives may begin
//                                                while a kernel runs
//
// The oracle knows neither plan nor bound: annealing of its own, then Gecode for something shorter by more than `slack`, until the
// search ends without one (proven) or has failed FAILURES times. What no search can refute is at least `proven_s`. Its schedule
// goes through Braid's verifier and player. Then the plan is made. One line of JSON for each instance; exits 1 if a schedule is
// wrong, or the plan shorter than what was proven.
//===------------------------------------------------------------------------------------------------------------===//
#include "Enumerate.h"
#include "Heuristic.h"
#include "Instances.h"
#include "Model.h"
#include "unit/RandomProgram.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace braid;
using namespace braid::oracle;

namespace {

/// Optimal means: nothing is shorter by more than this.
constexpr double slackShare = 1e-3;
constexpr int64_t annealingSteps = 300000;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

[[noreturn]] void wrong(const Instance &instance, const std::string &what) {
  std::printf("%s: %s\n", instance.name.c_str(), what.c_str());
  std::exit(1);
}

/// In seconds, as Braid plays it; its end as the oracle has it must be the same but for rounding.
double played(const Instance &instance, const Problem &problem, const Solution &solution, const cost::Pricer &pricer) {
  cost::Schedule schedule = scheduleOf(problem, solution);
  for (size_t b = 0; b < schedule.blocks.size(); ++b) // as the problem prices them
    for (cost::Bucket &bucket : schedule.blocks[b].buckets)
      bucket.candidate = pricer.cheapest(cost::mergedSpec(instance.program.blocks[b], bucket));
  std::string broken = cost::verifySchedule(instance.program, schedule, {}, &pricer);
  if (!broken.empty())
    wrong(instance, "the oracle's schedule, expected a valid one, got: " + broken);
  double time = cost::playWithoutNoise(instance.program, schedule, pricer).total.value,
         own = solution.end * problem.unit;
  double rounding = double(problem.items.size()) * problem.unit;
  if (time > own + rounding)
    wrong(instance, "the oracle's schedule, expected " + std::to_string(own * 1e3) + " ms, got " +
                        std::to_string(time * 1e3) + " when played");
  return time;
}

struct Found {
  Solution best;
  int refuted = 0; ///< no solution ends by it
  uint64_t failures = 0;
  bool proven = false;
};

Found optimum(const Problem &problem, uint64_t seed, uint64_t mostFailures, double share) {
  Found found;
  found.best = anneal(problem, seed, annealingSteps);
  Solution other = anneal(problem, seed + 1, annealingSteps);
  if (other.end < found.best.end)
    found.best = other;
  found.refuted = rootBound(problem, 0, found.best.end) - 1;
  while (true) {
    int slack = int(share * found.best.end);
    found.proven = found.refuted + 1 >= found.best.end - slack;
    if (found.proven)
      return found;
    SearchResult result = solve(problem, found.best.end - slack - 1, mostFailures - found.failures);
    found.failures += result.failures;
    if (result.solution)
      found.best = *result.solution;
    else if (result.complete)
      found.refuted = found.best.end - slack - 1;
    else
      return found;
  }
}

void compare(const Instance &instance, uint64_t seed, uint64_t mostFailures, const cost::Pricer &pricer) {
  double begun = now();
  Problem problem(instance.program, pricer);
  Found found = optimum(problem, seed, mostFailures, slackShare);
  double best = played(instance, problem, found.best, pricer), solved = now();
  double rounding = double(problem.items.size()) * problem.unit;
  double proven = std::min(best, (found.refuted + 1) * problem.unit - rounding);

  cost::Result<cost::PlanResult> plan = cost::plan(instance.program, pricer, {});
  double planned = now();
  if (!plan)
    wrong(instance, plan.error().message);
  double ours = plan->braid().total.value, baseline = 1e300;
  for (const cost::PolicyResult &policy : plan->policies)
    if (policy.policy != cost::Policy::Braid)
      baseline = std::min(baseline, policy.total.value);
  if (ours < proven)
    wrong(instance, "the plan, expected no less than the proven " + std::to_string(proven * 1e3) + " ms, got " +
                        std::to_string(ours * 1e3));
  size_t tensors = 0, merged = 0;
  for (const cost::Task &task : instance.program.blocks[0].tasks)
    tensors += task.kind == cost::Task::Collective;
  for (size_t i = 0; i < problem.items.size(); ++i)
    merged += found.best.leader[i] != int(i);
  std::printf("{\"name\": \"%s\", \"tasks\": %zu, \"collectives\": %zu, \"contention\": %.3f, \"proven\": %s, "
              "\"optimum_s\": %.9g, \"proven_s\": %.9g, \"merged\": %zu, \"bound_s\": %.9g, \"plan_s\": %.9g, "
              "\"baseline_s\": %.9g, \"failures\": %llu, \"oracle_took_s\": %.2f, \"plan_took_s\": %.2f}\n",
              instance.name.c_str(), problem.items.size(), tensors, instance.contention,
              found.proven ? "true" : "false", best, proven, merged, plan->bound.time.value, ours, baseline,
              (unsigned long long)found.failures, solved - begun, planned - solved);
  std::fflush(stdout);
}

void enumerate(const Instance &instance, uint64_t seed, const cost::Pricer &pricer, bool planted) {
  Problem problem(instance.program, pricer);
  problem.beginsAnywhere = planted;
  Found found = optimum(problem, seed, 1000000, 0);
  if (!found.proven)
    wrong(instance, "expected a proof for a tiny instance");
  double shortest = cost::Seconds(shortestOfAll(instance.program, pricer)).value, own = found.best.end * problem.unit;
  double rounding = double(problem.items.size()) * problem.unit;
  if (std::abs(own - shortest) > rounding)
    wrong(instance, "the solver's optimum, expected the shortest of all schedules, " + std::to_string(shortest * 1e6) +
                        " us, got " + std::to_string(own * 1e6));
  double bound = cost::lowerBound(instance.program, pricer).time.value;
  std::printf("{\"name\": \"%s\", \"optimum_s\": %.9g, \"bound_s\": %.9g}\n", instance.name.c_str(), shortest, bound);
}

} // namespace

int main(int argc, char **argv) {
  std::string mode = argc > 3 ? argv[1] : "", more = argc > 4 ? argv[4] : "";
  if (mode != "order" && mode != "buckets" && mode != "tiny") {
    std::fprintf(stderr,
                 "usage: plan_oracle order|buckets FIRST LAST [FAILURES], plan_oracle tiny FIRST LAST [--planted]\n");
    return 2;
  }
  uint64_t first = std::strtoull(argv[2], nullptr, 10), last = std::strtoull(argv[3], nullptr, 10);
  uint64_t failures = more.empty() ? 20000 : std::strtoull(more.c_str(), nullptr, 10);
  cost::Pricer pricer = cost::testing::smallPricer();
  for (uint64_t seed = first; seed <= last; ++seed) {
    if (mode == "tiny")
      enumerate(tinyInstance(seed, pricer, 4 + int(seed % 4)), seed, pricer, more == "--planted");
    else
      compare(mode == "order" ? orderInstance(seed, pricer) : bucketInstance(seed, pricer), seed, failures, pricer);
  }
  return 0;
}
