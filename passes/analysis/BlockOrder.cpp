//===- BlockOrder.cpp - schedules that need no prices -----------------------------------------------------------===//
#include "analysis/BlockOrder.h"

#include <queue>

namespace mlir::braid {

cost::BlockSchedule orderAsWritten(const cost::Block &block, std::vector<cost::Bucket> buckets) {
  int count = int(block.tasks.size());
  // Nodes are tasks; the members of a bucket share the node of its last one.
  std::vector<int> node(count), bucketOf(count, -1), missing(count, 0), segment(count, 0);
  for (int task = 0; task < count; ++task)
    node[task] = task;
  for (size_t bucket = 0; bucket < buckets.size(); ++bucket)
    for (int task : buckets[bucket].tasks) {
      bucketOf[task] = int(bucket);
      node[task] = buckets[bucket].tasks.back();
    }
  std::vector<std::vector<int>> readers(count);
  auto edge = [&](int from, int to) {
    if (from == to)
      return;
    readers[from].push_back(to);
    ++missing[to];
  };
  // A barrier follows all before it, and all behind follow it: through the last barrier, which keeps the edges few.
  int barrier = -1;
  for (int task = 0; task < count; ++task) {
    for (int operand : block.tasks[task].operands)
      edge(node[operand], node[task]);
    if (barrier >= 0)
      edge(node[barrier], node[task]);
    if (block.tasks[task].kind == cost::Task::Barrier) {
      for (int before = std::max(barrier, 0); before < task; ++before)
        edge(node[before], task);
      barrier = task;
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int task = 0; task < count; ++task)
    if (node[task] == task && missing[task] == 0)
      ready.push(task);
  cost::BlockSchedule schedule;
  while (!ready.empty()) {
    int task = ready.top();
    ready.pop();
    if (bucketOf[task] >= 0) {
      schedule.order.push_back({cost::Event::Start, bucketOf[task]});
      schedule.order.push_back({cost::Event::Wait, bucketOf[task]});
    } else {
      schedule.order.push_back({cost::Event::Run, task});
    }
    for (int reader : readers[task])
      if (--missing[reader] == 0)
        ready.push(reader);
  }
  schedule.buckets = std::move(buckets);
  return schedule;
}

cost::BlockSchedule startEarlyWaitLate(const cost::Block &block) {
  int count = int(block.tasks.size());
  cost::BlockSchedule schedule;
  std::vector<int> bucketOf(count, -1);
  for (int task = 0; task < count; ++task)
    if (block.tasks[task].kind == cost::Task::Collective) {
      bucketOf[task] = int(schedule.buckets.size());
      schedule.buckets.push_back({{task}, 0});
    }
  // A collective is started when the last of its operands has run; one whose operand is a collective waits for that
  // first, so it stays where it is written.
  std::vector<std::vector<int>> startAfter(count + 1); // after task - 1
  int segment = 0;                                     // first task that nothing in front may cross
  for (int task = 0; task < count; ++task) {
    const cost::Task &plain = block.tasks[task];
    if (bucketOf[task] >= 0) {
      int after = segment;
      for (int operand : plain.operands)
        after = std::max(after, (bucketOf[operand] >= 0 ? task : operand + 1));
      startAfter[plain.asynchronous ? after : task].push_back(bucketOf[task]);
    } else if (plain.kind != cost::Task::Compute) {
      segment = task + 1;
    }
  }
  std::vector<int> flight;
  std::vector<char> awaited(schedule.buckets.size(), 0);
  auto await = [&](int bucket) {
    if (awaited[bucket])
      return;
    awaited[bucket] = 1;
    flight.erase(std::find(flight.begin(), flight.end(), bucket));
    schedule.order.push_back({cost::Event::Wait, bucket});
  };
  auto start = [&](int bucket) {
    int task = schedule.buckets[bucket].tasks.front();
    for (int operand : block.tasks[task].operands)
      if (bucketOf[operand] >= 0)
        await(bucketOf[operand]);
    schedule.order.push_back({cost::Event::Start, bucket});
    flight.push_back(bucket);
    if (!block.tasks[task].asynchronous)
      await(bucket);
  };
  for (int task = 0; task < count; ++task) {
    for (int bucket : startAfter[task])
      start(bucket);
    if (bucketOf[task] >= 0)
      continue;
    for (int operand : block.tasks[task].operands)
      if (bucketOf[operand] >= 0)
        await(bucketOf[operand]);
    if (block.tasks[task].kind != cost::Task::Compute)
      while (!flight.empty())
        await(flight.front());
    schedule.order.push_back({cost::Event::Run, task});
  }
  while (!flight.empty())
    await(flight.front());
  return schedule;
}

} // namespace mlir::braid
