//===- Enumerate.cpp - every schedule of a tiny program -------------------------------------------------------------===//
#include "Enumerate.h"
#include <algorithm>

using namespace braid;
using namespace braid::oracle;
using cost::Event;

namespace {

class Enumeration {
public:
  Enumeration(const cost::Program &program, const cost::Pricer &pricer)
      : program(program), block(program.blocks.back()), pricer(pricer), holder(block.tasks.size(), -1) {}

  double run() {
    partition(0);
    return shortest;
  }

private:
  void partition(size_t task) {
    if (task == block.tasks.size()) {
      ran.assign(task, 0);
      for (cost::Bucket &bucket : buckets)
        bucket.candidate = pricer.cheapest(cost::mergedSpec(block, bucket));
      started.assign(buckets.size(), 0);
      order.clear();
      extend();
      return;
    }
    if (block.tasks[task].kind != cost::Task::Collective)
      return partition(task + 1);
    for (size_t b = 0; b <= buckets.size(); ++b) {
      bool fresh = b == buckets.size();
      if (!fresh) {
        int key = block.tasks[size_t(buckets[b].tasks.front())].key;
        if (key < 0 || key != block.tasks[task].key)
          continue;
        buckets[b].tasks.push_back(int(task));
      } else {
        buckets.push_back({{int(task)}, 0});
      }
      holder[task] = int(b);
      partition(task + 1);
      if (fresh) {
        buckets.pop_back();
        break;
      }
      buckets[b].tasks.pop_back();
    }
  }

  /// Everything that may come next, in turn.
  void extend() {
    bool all = true;
    for (size_t b = 0; b < buckets.size(); ++b) {
      all &= started[b];
      bool may = !started[b];
      for (int member : buckets[b].tasks)
        may = may && operandsOf(member);
      if (!may)
        continue;
      started[b] = 1;
      order.push_back({Event::Start, int(b)});
      extend();
      order.pop_back();
      started[b] = 0;
    }
    for (size_t i = 0; i < block.tasks.size(); ++i) {
      if (holder[i] >= 0)
        continue;
      all &= ran[i];
      if (ran[i] || !operandsOf(int(i)))
        continue;
      ran[i] = 1;
      order.push_back({Event::Run, int(i)});
      extend();
      order.pop_back();
      ran[i] = 0;
    }
    if (all)
      shortest = std::min(shortest, cost::playWithoutNoise(program, {{withWaits()}}, pricer).total.value);
  }
  bool operandsOf(int task) const {
    for (int operand : block.tasks[size_t(task)].operands)
      if (!(holder[size_t(operand)] >= 0 ? started[size_t(holder[size_t(operand)])] : ran[size_t(operand)]))
        return false;
    return true;
  }

  cost::BlockSchedule withWaits() const {
    cost::BlockSchedule schedule{buckets, {}};
    std::vector<char> awaited(buckets.size());
    int flying[2] = {-1, -1};
    auto fabric = [&](int b) { return int(pricer.fabric(block.tasks[size_t(buckets[size_t(b)].tasks.front())].spec)); };
    auto await = [&](int b) {
      if (b < 0 || awaited[size_t(b)])
        return;
      awaited[size_t(b)] = 1;
      schedule.order.push_back({Event::Wait, b});
      if (flying[fabric(b)] == b)
        flying[fabric(b)] = -1;
    };
    auto awaitOperands = [&](int task) {
      for (int operand : block.tasks[size_t(task)].operands)
        await(holder[size_t(operand)]);
    };
    for (const Event &event : order) {
      if (event.kind == Event::Run) {
        awaitOperands(event.index);
      } else {
        for (int member : buckets[size_t(event.index)].tasks)
          awaitOperands(member);
        int &last = flying[fabric(event.index)];
        await(last);
        last = event.index;
      }
      schedule.order.push_back(event);
    }
    await(flying[0]);
    await(flying[1]);
    return schedule;
  }

  const cost::Program &program;
  const cost::Block &block;
  const cost::Pricer &pricer;
  std::vector<cost::Bucket> buckets;
  std::vector<int> holder;
  std::vector<char> ran, started;
  std::vector<Event> order;
  double shortest = 1e300;
};

} // namespace

cost::Seconds braid::oracle::shortestOfAll(const cost::Program &program, const cost::Pricer &pricer) {
  return {Enumeration(program, pricer).run()};
}
