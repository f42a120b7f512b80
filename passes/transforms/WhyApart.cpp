//===- WhyApart.cpp - why two launches that might be one are two ------------------------------------------------===//
#include "transforms/WhyApart.h"
#include <algorithm>
#include <optional>

namespace mlir::braid {

namespace cost = ::braid::cost;

static cost::Bucket merged(const cost::Bucket &one, const cost::Bucket &other) {
  cost::Bucket both = one;
  both.tasks.insert(both.tasks.end(), other.tasks.begin(), other.tasks.end());
  std::sort(both.tasks.begin(), both.tasks.end());
  return both;
}

/// Collectives that no launch joins wherever they are: they keep their place.
static std::string keptInPlace(const cost::Block &block, const cost::Bucket &both) {
  for (int task : both.tasks)
    if (!block.tasks[task].asynchronous || block.tasks[task].ordered)
      return "one of them keeps its place in the program";
  for (int task = both.tasks.front(); task < both.tasks.back(); ++task)
    if (block.tasks[task].kind == cost::Task::Barrier)
      return "an operation of unknown effects is between them, " + block.tasks[task].name;
  return "";
}

std::string apartByRule(const cost::Block &block, const cost::BucketRule &rule, const cost::Bucket &one,
                        const cost::Bucket &other) {
  cost::Bucket both = merged(one, other);
  if (std::string kept = keptInPlace(block, both); !kept.empty())
    return kept;
  if (rule.cap.value == 0)
    return "they are in a loop, where this rule merges nothing";
  if (int(one.tasks.size()) >= rule.countCap)
    return "the launch has max-count, " + std::to_string(rule.countCap);
  cost::Bytes bytes = cost::mergedSpec(block, both).bytes;
  cost::Bytes cap = rule.firstCap.value > 0 ? std::min(rule.firstCap, rule.cap) : rule.cap;
  if (bytes > cap)
    return "together " + cost::toString(bytes) + " are above " +
           (cap == rule.cap ? "max-bytes, " : "first-max-bytes, ") + cost::toString(cap);
  return "the launch was closed between them, by a collective that would have taken it above max-bytes, " +
         cost::toString(rule.cap) + (rule.scanPastDependents ? "" : ", or that depends on it");
}

std::string ApartInPlan::operator()(int number, int one, int other) {
  const cost::Block &block = program.blocks[number];
  const cost::BlockSchedule &is = plan.schedule.blocks[number];
  cost::Bucket both = merged(is.buckets[one], is.buckets[other]);
  if (std::string kept = keptInPlace(block, both); !kept.empty())
    return kept;
  if (options.policy != cost::Policy::Braid)
    return std::string("policy ") + cost::name(options.policy) + " was asked for";
  cost::CollectiveSpec spec = cost::mergedSpec(block, both);
  std::string launch = "one launch of " + cost::toString(spec.bytes);
  int64_t tasks = 0;
  for (const cost::Block &each : program.blocks)
    tasks += int64_t(each.tasks.size());
  if ((left -= 2 * tasks) < 0)
    return launch + " was not tried for this remark, in a program of this size";

  both.candidate = pricer.cheapest(spec);
  cost::Schedule joined = plan.schedule;
  std::vector<cost::Bucket> buckets = is.buckets;
  buckets[one] = both;
  buckets.erase(buckets.begin() + other);
  std::sort(buckets.begin(), buckets.end(), [](auto &a, auto &b) { return a.tasks < b.tasks; });
  cost::ListOptions list;
  list.inFlight = options.inFlight;
  std::optional<cost::Seconds> soonest;
  std::optional<cost::Bytes> least;
  for (bool fillWaits : {false, true}) {
    list.fillWaits = fillWaits;
    joined.blocks[number] = cost::listSchedule(program, number, buckets, pricer, list);
    cost::Bytes peak = cost::peakMemory(program, joined).bytes;
    least = least ? std::min(*least, peak) : peak;
    if (options.memoryLimit.value > 0 && peak > options.memoryLimit)
      continue;
    cost::Seconds total = cost::playWithoutNoise(program, joined, pricer).total;
    soonest = soonest ? std::min(*soonest, total) : total;
  }
  if (!soonest)
    return launch + " needs " + cost::toString(*least) + " of memory, the limit is " +
           cost::toString(options.memoryLimit);
  std::string would = cost::toString(*soonest), does = cost::toString(plan.total);
  if (would == does)
    return launch + " gains nothing: the step ends at " + does + " either way, without noise";
  launch += " would end the step at " + would;
  if (*soonest > plan.total)
    return launch + ", separate ones do at " + does + ", without noise";
  return launch + ", before the plan's " + does + ", without noise; the plan was chosen by the objective, with it";
}

} // namespace mlir::braid
