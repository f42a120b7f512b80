//===- StepBuilder.cpp - writes a block anew --------------------------------------------------------------------===//
#include "schedule/StepBuilder.h"
#include <algorithm>
#include <map>

using namespace braid::cost;

StepBuilder::StepBuilder(const Program &program, const DataParallelStep &step)
    : program(program), step(step), before(program.blocks[step.block]), at(before.tasks.size(), -1) {
  block.name = before.name;
  block.live = before.live;
  for (size_t i = 0; i < before.tasks.size(); ++i)
    for (int operand : before.tasks[i].operands)
      if (step.reduction[operand])
        readers[operand].push_back(int(i));
}

int StepBuilder::push(Task task) {
  std::sort(task.operands.begin(), task.operands.end());
  task.operands.erase(std::unique(task.operands.begin(), task.operands.end()), task.operands.end());
  block.tasks.push_back(std::move(task));
  bucketOf.push_back(-1);
  inFlight.push_back(false);
  return int(block.tasks.size()) - 1;
}

std::vector<int> StepBuilder::mapped(const std::vector<int> &operands) const {
  std::vector<int> now;
  for (int operand : operands)
    now.push_back(at[operand]);
  return now;
}

void StepBuilder::wait(const std::vector<int> &collectives) {
  for (int task : collectives)
    if (inFlight[task]) {
      inFlight[task] = false;
      schedule.order.push_back({Event::Wait, bucketOf[task]});
    }
}

void StepBuilder::awaitAll() {
  for (size_t task = 0; task < inFlight.size(); ++task)
    if (inFlight[task])
      wait({int(task)});
}

void StepBuilder::startTask(Task task) {
  wait(task.operands);
  int now = push(std::move(task));
  bucketOf[now] = int(schedule.buckets.size());
  inFlight[now] = true;
  schedule.order.push_back({Event::Start, bucketOf[now]});
  schedule.buckets.push_back({{now}, 0});
}

void StepBuilder::copy(int old) {
  Task task = before.tasks[old];
  task.operands = mapped(task.operands);
  if (task.kind == Task::Collective) {
    startTask(std::move(task));
    at[old] = int(block.tasks.size()) - 1;
    if (!before.tasks[old].asynchronous)
      wait({at[old]});
    return;
  }
  if (task.kind == Task::Compute)
    task.operands.insert(task.operands.end(), holds.begin(), holds.end());
  wait(task.operands);
  if (task.kind != Task::Compute)
    awaitAll();
  at[old] = push(std::move(task));
  schedule.order.push_back({Event::Run, at[old]});
}

void StepBuilder::copyUpdate(int shards) {
  for (size_t i = 0; i < before.tasks.size(); ++i)
    if (step.update[i] && !step.reduction[i]) {
      copy(int(i));
      block.tasks.back().result.value /= shards;
    }
}

std::vector<int> StepBuilder::start(CollectiveKind kind, const std::vector<int> &gradients,
                                    const std::vector<int> &reads) {
  std::map<std::pair<const RankGroups *, std::string>, std::vector<int>> keys; // group and type
  std::vector<std::pair<const RankGroups *, std::string>> order;               // of their first gradients
  for (int g : gradients) {
    const CollectiveSpec &spec = step.gradients[g].spec;
    std::vector<int> &members = keys[{spec.groups.get(), spec.elementType}];
    if (members.empty())
      order.push_back({spec.groups.get(), spec.elementType});
    members.push_back(g);
  }
  std::vector<int> started;
  for (const auto &key : order) {
    const std::vector<int> &members = keys[key];
    const Gradient &first = step.gradients[members.front()];
    Task task;
    task.kind = Task::Collective;
    task.name = std::string(algorithms::name(kind)) + " of " + before.tasks[first.collective].name +
                (members.size() > 1 ? " and " + std::to_string(members.size() - 1) + " more" : "");
    task.spec = first.spec;
    task.spec.kind = kind;
    task.spec.tensors = 0;
    task.spec.bytes = {};
    for (int g : members) {
      task.spec.tensors += step.gradients[g].spec.tensors;
      task.spec.bytes += step.gradients[g].spec.bytes;
    }
    task.operands = reads;
    task.result = task.spec.bytes;
    // All tensors of the bucket lie in one buffer, padded so that every rank has a shard of whole elements.
    int64_t unit = elementBytes(first.spec.elementType) * first.ranks;
    int64_t shard = (task.spec.bytes.value + unit - 1) / unit * unit / first.ranks;
    if (kind == CollectiveKind::AllGather)
      task.spec.bytes = {shard};
    if (kind == CollectiveKind::ReduceScatter) {
      task.spec.bytes = {shard * first.ranks};
      task.result = {shard};
    }
    startTask(std::move(task));
    started.push_back(int(block.tasks.size()) - 1);
  }
  return started;
}

std::vector<int> StepBuilder::reduce(CollectiveKind kind, const std::vector<int> &gradients) {
  std::vector<int> started;
  std::map<std::pair<const RankGroups *, std::string>, std::vector<int>> keys;
  for (int g : gradients) // apart by group and type, so that each reads its own makers only
    keys[{step.gradients[g].spec.groups.get(), step.gradients[g].spec.elementType}].push_back(g);
  while (!keys.empty()) {
    auto earliest = std::min_element(keys.begin(), keys.end(),
                                     [](auto &a, auto &b) { return a.second.front() < b.second.front(); });
    std::vector<int> reads;
    for (int g : earliest->second)
      for (int made : mapped(before.tasks[step.gradients[g].collective].operands))
        reads.push_back(made);
    started.push_back(start(kind, earliest->second, reads).front());
    for (int g : earliest->second)
      at[step.gradients[g].collective] = started.back();
    keys.erase(earliest);
  }
  return started;
}

std::vector<int> StepBuilder::gatherUpdated(const std::vector<int> &gradients) {
  std::vector<int> reads;
  for (int g : gradients) {
    int collective = step.gradients[g].collective;
    reads.push_back(at[collective]);
    for (int reader : readers[collective])
      reads.push_back(at[reader]);
  }
  std::vector<int> started = start(CollectiveKind::AllGather, gradients, reads);
  for (int task : started)
    block.tasks[task].result = {}; // into the parameters, which the update's results hold already
  return started;
}

SystemStep StepBuilder::finish(const Pricer &pricer, std::string how) && {
  awaitAll();
  SystemStep result;
  ListOptions list;
  list.fillWaits = true;
  result.schedule = scheduleProgram(program, {}, pricer, list);
  result.program = program;
  for (size_t i = 0; i < before.tasks.size(); ++i)
    if (step.update[i])
      result.updateSaves += before.tasks[i].duration * (1 - 1.0 / step.gradients.front().ranks);
  block.live = {std::max<int64_t>(0, block.live.value - notHeld.value)};
  result.program.blocks[step.block] = std::move(block);
  result.schedule.blocks[step.block] = std::move(schedule);
  result.how = std::move(how);
  return result;
}
