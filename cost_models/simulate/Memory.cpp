//===- Memory.cpp - peak bytes of a schedule --------------------------------------------------------------------===//
#include "simulate/Liveness.h"
#include <algorithm>

using namespace braid::cost;

std::vector<Lifetime> braid::cost::lifetimes(const Block &block, const BlockSchedule &schedule) {
  std::vector<Lifetime> life(block.tasks.size());
  int end = int(schedule.order.size());
  auto finish = [&](int task, int event) {
    for (int operand : block.tasks[task].operands) // it reads its operands until here
      life[operand].end = std::max(life[operand].end, event);
  };
  for (int e = 0; e < end; ++e) {
    const Event &event = schedule.order[e];
    if (event.kind == Event::Run) {
      life[event.index] = {e, e};
      finish(event.index, e);
      continue;
    }
    for (int task : schedule.buckets[event.index].tasks) {
      if (event.kind == Event::Start)
        life[task] = {e, e};
      life[task].end = std::max(life[task].end, e);
      finish(task, e);
    }
  }
  for (size_t i = 0; i < life.size(); ++i)
    if (block.tasks[i].escapes)
      life[i].end = end;
  return life;
}

std::vector<Bytes> braid::cost::liveBytes(const Program &program, int block, const BlockSchedule &schedule,
                                          const std::vector<Bytes> *peaks) {
  const Block &body = program.blocks[block];
  std::vector<Lifetime> life = lifetimes(body, schedule);
  std::vector<Bytes> change(schedule.order.size() + 1);
  for (size_t i = 0; i < life.size(); ++i) {
    if (life[i].begin < 0)
      continue;
    change[life[i].begin] += body.tasks[i].result;
    if (life[i].end + 1 < int(change.size()))
      change[life[i].end + 1] -= body.tasks[i].result;
  }
  std::vector<Bytes> live(schedule.order.size());
  Bytes now = body.live;
  for (size_t e = 0; e < live.size(); ++e) {
    now += change[e];
    live[e] = now;
    const Event &event = schedule.order[e];
    if (peaks && event.kind == Event::Run && body.tasks[event.index].kind == Task::Nested) {
      live[e] += (*peaks)[body.tasks[event.index].block];
    }
  }
  return live;
}

/// Of the first `count` blocks, the last one's peak.
static Peak peakOf(const Program &program, const Schedule &schedule, size_t count) {
  std::vector<Bytes> peaks;
  Peak peak;
  for (size_t b = 0; b < count; ++b) {
    std::vector<Bytes> live = liveBytes(program, int(b), schedule.blocks[b], &peaks);
    auto largest = std::max_element(live.begin(), live.end());
    peak = {live.empty() ? program.blocks[b].live : *largest, int(b), live.empty() ? -1 : int(largest - live.begin())};
    peaks.push_back(peak.bytes);
  }
  return peak;
}

Peak braid::cost::peakMemory(const Program &program, const Schedule &schedule) {
  return peakOf(program, schedule, program.blocks.size()); // the entry comes last
}

std::vector<std::pair<std::string, Bytes>> braid::cost::liveAtPeak(const Program &program, const Schedule &schedule,
                                                                   const Peak &peak, size_t count) {
  std::vector<std::pair<std::string, Bytes>> holders;
  if (peak.block < 0)
    return holders;
  const Block &block = program.blocks[peak.block];
  if (block.live.value > 0)
    holders.push_back({"arguments and captured values of " + block.name, block.live});
  std::vector<Lifetime> life = lifetimes(block, schedule.blocks[peak.block]);
  for (size_t i = 0; i < life.size(); ++i)
    if (life[i].begin <= peak.event && peak.event <= life[i].end && life[i].begin >= 0 &&
        block.tasks[i].result.value > 0)
      holders.push_back({block.tasks[i].name, block.tasks[i].result});
  if (peak.event >= 0) {
    const Event &event = schedule.blocks[peak.block].order[peak.event];
    int callee = event.kind == Event::Run ? block.tasks[event.index].block : -1;
    if (callee >= 0)
      for (auto &[name, bytes] : liveAtPeak(program, schedule, peakOf(program, schedule, callee + 1), count))
        holders.push_back({name, bytes});
  }
  std::sort(holders.begin(), holders.end(),
            [](auto &a, auto &b) { return a.second == b.second ? a.first < b.first : a.second > b.second; });
  if (holders.size() > count)
    holders.resize(count);
  return holders;
}
