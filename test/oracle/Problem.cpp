//===- Problem.cpp - a block as integers --------------------------------------------------------------------------===//
#include "Problem.h"
#include <algorithm>
#include <cmath>
#include <tuple>

using namespace braid;
using namespace braid::oracle;

Problem::Problem(const cost::Program &program, const cost::Pricer &pricer) {
  const std::vector<cost::Task> &tasks = program.blocks.back().tasks;
  auto alone = [&](const cost::Task &task) {
    return task.kind == cost::Task::Collective ? pricer.cheapestTime(task.spec).value : task.duration.value;
  };
  double sum = 0;
  for (const cost::Task &task : tasks)
    sum += alone(task);
  unit = sum / 1e6;
  auto whole = [&](double seconds) { return int(std::llround(seconds / unit)); };
  std::map<int, std::vector<int>> keys;
  for (size_t i = 0; i < tasks.size(); ++i) {
    Item item;
    item.kernel = tasks[i].kind != cost::Task::Collective;
    item.duration = whole(alone(tasks[i]));
    item.operands = tasks[i].operands;
    if (!item.kernel) {
      item.fabric = int(pricer.fabric(tasks[i].spec));
      if (tasks[i].key >= 0)
        keys[tasks[i].key].push_back(int(i));
    }
    for (int operand : item.operands)
      items[operand].readers.push_back(int(i));
    items.push_back(std::move(item));
  }
  for (auto &[key, members] : keys) {
    if (members.size() < 2)
      continue;
    Group group;
    for (int member : members) {
      items[member].group = int(groups.size());
      items[member].place = int(group.members.size());
      group.members.push_back(member);
    }
    group.durations.resize(size_t(1) << members.size());
    for (size_t set = 1; set < group.durations.size(); ++set) {
      cost::CollectiveSpec spec = tasks[members.front()].spec;
      spec.bytes = {};
      spec.tensors = 0;
      for (size_t i = 0; i < members.size(); ++i)
        if (set >> i & 1) {
          spec.bytes += tasks[members[i]].spec.bytes;
          ++spec.tensors;
        }
      group.durations[set] = whole(pricer.cheapestTime(spec).value);
    }
    groups.push_back(std::move(group));
  }
}

int braid::oracle::durationOf(const Problem &problem, const Solution &solution, int leader) {
  const Item &item = problem.items[leader];
  if (item.group < 0)
    return item.duration;
  size_t set = 0;
  for (int member : problem.groups[item.group].members)
    if (solution.leader[member] == leader)
      set |= size_t(1) << problem.items[member].place;
  return problem.groups[item.group].durations[set];
}

cost::Schedule braid::oracle::scheduleOf(const Problem &problem, const Solution &solution) {
  int count = int(problem.items.size());
  cost::BlockSchedule block;
  std::vector<int> bucketOf(count, -1), order;
  for (int i = 0; i < count; ++i) {
    if (problem.items[i].kernel) {
      order.push_back(i);
      continue;
    }
    if (solution.leader[i] == i) {
      bucketOf[i] = int(block.buckets.size());
      block.buckets.push_back({{}, 0});
      order.push_back(i);
    }
    bucketOf[i] = bucketOf[solution.leader[i]];
    block.buckets[bucketOf[i]].tasks.push_back(i);
  }
  // What begins together: a start before a kernel that takes time, for it would have to wait for the kernel's end; and what is
  // read before what reads it.
  std::vector<int> depth(count, 0);
  for (int round = 0; round < count; ++round) { // buckets make operands of a leader come later in the text than it
    bool changed = false;
    for (int i = 0; i < count; ++i) {
      int node = problem.items[i].kernel ? i : solution.leader[i];
      for (int operand : problem.items[i].operands) {
        int before = problem.items[operand].kernel ? operand : solution.leader[operand];
        if (depth[node] <= depth[before]) {
          depth[node] = depth[before] + 1;
          changed = true;
        }
      }
    }
    if (!changed)
      break;
  }
  auto duration = [&](int i) {
    return problem.items[i].kernel ? problem.items[i].duration : durationOf(problem, solution, i);
  };
  auto endsAtOnce = [&](int i) { return duration(i) == 0; };
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    auto key = [&](int i) {
      bool longKernel = problem.items[i].kernel && !endsAtOnce(i);
      return std::tuple(solution.begin[i], longKernel, depth[i], i);
    };
    return key(a) < key(b);
  });

  std::vector<char> awaited(block.buckets.size());
  int flying[2] = {-1, -1};
  std::vector<int> fabricOf(block.buckets.size());
  auto await = [&](int bucket) {
    if (!awaited[bucket])
      block.order.push_back({cost::Event::Wait, bucket});
    awaited[bucket] = 1;
    if (flying[fabricOf[bucket]] == bucket)
      flying[fabricOf[bucket]] = -1;
  };
  for (int i : order) {
    const Item &item = problem.items[i];
    auto awaitOperands = [&](int task) {
      for (int operand : problem.items[task].operands)
        if (bucketOf[operand] >= 0)
          await(bucketOf[operand]);
    };
    if (item.kernel) {
      awaitOperands(i);
      block.order.push_back({cost::Event::Run, i});
      continue;
    }
    int bucket = bucketOf[i];
    for (int member : block.buckets[bucket].tasks)
      awaitOperands(member);
    if (flying[item.fabric] >= 0)
      await(flying[item.fabric]);
    block.order.push_back({cost::Event::Start, bucket});
    fabricOf[bucket] = item.fabric;
    flying[item.fabric] = bucket;
  }
  for (int bucket : flying)
    if (bucket >= 0)
      await(bucket);
  return {{block}};
}
