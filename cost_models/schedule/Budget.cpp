//===- Budget.cpp - what sampling and pricing cost ----------------------------------------------------------------===//
#include "schedule/Budget.h"
#include "schedule/ExactBuckets.h"
#include "simulate/Flatten.h"
#include <algorithm>
#include <map>

using namespace braid::cost;

double braid::cost::objectiveWork(const Program &program, const Schedule &schedule, const Objective &objective,
                                  const SampleOptions &sampling) {
  std::vector<double> step(program.blocks.size()); // of each block, callees first: one run of it
  double once = 0;
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    const BlockSchedule &order = schedule.blocks[b];
    step[b] = work::draw * double(order.buckets.size()) + work::playedEvent * double(order.order.size());
    for (const Task &task : program.blocks[b].tasks)
      if (task.kind == Task::Nested)
        step[b] += std::min(task.trips, double(drawnTrips)) * step[task.block];
    once += work::scheduledTask / 8 * double(order.order.size()); // made flat
  }
  double steps = objective.kind == ObjectiveKind::Serving ? sampling.samples : double(sampling.jobs) * sampling.steps;
  return once + steps * (step.empty() ? 0 : step.back());
}

double braid::cost::exactWork(const Block &block) {
  std::map<int, double> members;
  for (const Task &task : block.tasks)
    if (task.kind == Task::Collective && task.key >= 0)
      ++members[task.key];
  double pairs = 0;
  for (auto &[key, count] : members)
    pairs += count <= mostExactMembers ? count * count : 0;
  return work::scheduledTask * double(block.tasks.size()) + work::cutPair * pairs;
}

double braid::cost::priceWork(const Program &program, const Pricer &pricer) {
  return work::price * (pricer.engine() == Engine::Nccl ? 1 : 1 + std::max(1, program.ranks));
}
