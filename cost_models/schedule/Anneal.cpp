//===- Anneal.cpp - local search over orders, buckets and algorithms ----------------------------------------------===//
//
// Simulated annealing (Kirkpatrick, Gelatt, Vecchi, Optimization by Simulated Annealing, Science 220, 1983): a change that makes
// the block longer by r is kept with probability exp(-r / heat). The probability is drawn before the change is played, which gives
// the longest time that would do, so that playing can stop early.
//
//   order     A node goes earlier, with what it reads, or later, with what reads it. Three of four changes begin at the critical
//             chain: what is not on it cannot make the block end earlier.
//   buckets   One in six: a collective leaves its bucket, or two buckets of a key become one. Algorithms are the cheapest of each.
//   memory    Where some order of the block could need more than there is, a change that does is not kept, however short. What callers
//             hold around the block counts, as their own schedules are by then.
//   heat      In units of the mean duration of a node; falls from each of `heats` to `cold`, each time from the best found so far:
//             small blocks with long paths want much heat, large ones that the list scheduler has nearly solved little.
//===------------------------------------------------------------------------------------------------------------===//
#include "schedule/Anneal.h"
#include "schedule/EventOrder.h"
#include "simulate/Liveness.h"
#include <cmath>
#include <random>

using namespace braid::cost;

namespace {

// setting: temperatures, of what a step would save
constexpr double heats[] = {0.8, 0.3, 0.1, 0.03};
constexpr double cold = 0.002;
constexpr int rounds = int(std::size(heats));

/// What a block may need, if all others stay as they are.
struct MemoryRule {
  bool binds = false; ///< some order could need more than `most`
  Bytes most;
  const std::vector<Bytes> &peaks; ///< of the blocks before
};

class Annealing {
public:
  Annealing(EventOrder &order, const MemoryRule &memory) : order(order), memory(memory) {}

  /// Leaves the best state found in `order`; its time.
  double run(int64_t budget, double goal) {
    EventOrder::State best = order.state();
    double unit = order.meanDuration(), shortest = order.restore(best);
    int64_t begun = order.looked(), share = std::max<int64_t>(1, budget / rounds);
    for (int round = 0; round < rounds; ++round) {
      double value = order.restore(best);
      while (shortest > goal) {
        int64_t spent = order.looked() + moves * 8 - begun - round * share;
        if (spent >= share)
          break;
        ++moves;
        double heat = unit * heats[round] * std::pow(cold / heats[round], double(spent) / double(share));
        if (!change())
          continue;
        double limit = value - heat * std::log(uniform()), time = order.play(limit);
        if (time > limit || (memory.binds && order.peak(memory.peaks) > memory.most)) {
          order.reject();
          continue;
        }
        order.accept();
        value = time;
        if (value < shortest * (1 - 1e-12)) {
          shortest = value;
          best = order.state();
        }
      }
    }
    order.restore(best);
    return shortest;
  }

private:
  /// Above 0 and up to 1; the same with every standard library.
  double uniform() { return (double(random() >> 11) + 1) * 0x1p-53; }
  int below(size_t n) { return int(random() % n); }
  template <class T> T any(const std::vector<T> &list) { return list[size_t(below(list.size()))]; }

  bool change() {
    if (!order.mergeable().empty() && below(6) == 0) {
      int task = any(order.mergeable());
      if (below(2) && order.membersOf(order.bucketOf(task)) > 1)
        return order.leave(task, below(17) - 8);
      return order.join(order.bucketOf(task), order.bucketOf(any(order.like(task))));
    }
    int size = order.size(), reach = int(std::pow(double(size), uniform()));
    bool earlier = below(2);
    int at = below(size_t(size));
    if (below(4)) {
      at = order.place(any(order.criticalChain()));
      if (!earlier && --at < 0) // what stands before it makes way
        return false;
    }
    return order.shift(at, earlier ? std::max(0, at - reach) : std::min(size - 1, at + reach));
  }

  EventOrder &order;
  const MemoryRule &memory;
  std::mt19937_64 random;
  int64_t moves = 0;
};

/// Of each block: the most that is alive around it where it is run.
std::vector<Bytes> aliveAround(const Program &program, const Schedule &schedule) {
  std::vector<Bytes> around(program.blocks.size());
  for (size_t b = program.blocks.size(); b-- > 0;) { // callers come after what they call
    std::vector<Bytes> live = liveBytes(program, int(b), schedule.blocks[b], nullptr);
    for (size_t e = 0; e < live.size(); ++e) {
      const Event &event = schedule.blocks[b].order[e];
      if (event.kind == Event::Run && program.blocks[b].tasks[event.index].kind == Task::Nested) {
        Bytes &inside = around[program.blocks[b].tasks[event.index].block];
        inside = std::max(inside, around[b] + live[e]);
      }
    }
  }
  return around;
}

/// No order of the block needs more: all results at once.
Bytes allResults(const Block &block, const std::vector<Bytes> &peaks) {
  Bytes all = block.live, nested{};
  for (const Task &task : block.tasks) {
    all += task.result;
    if (task.kind == Task::Nested)
      nested = std::max(nested, peaks[task.block]);
  }
  return all + nested;
}

} // namespace

Schedule braid::cost::anneal(const Program &program, const Schedule &start, const Pricer &pricer,
                             const AnnealOptions &options) {
  Schedule schedule = start;
  size_t tasks = 0;
  for (size_t b = 0; b < program.blocks.size(); ++b)
    if (!schedule.blocks[b].buckets.empty())
      tasks += program.blocks[b].tasks.size();
  std::vector<Seconds> times;
  std::vector<Bytes> around = aliveAround(program, start), peaks;
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    const Block &block = program.blocks[b];
    EventOrder order(block, schedule.blocks[b], pricer, options.inFlight, times, options.slowed);
    MemoryRule memory{false, std::max(options.memoryLimit - around[b], order.peak(peaks)), peaks};
    memory.binds = options.memoryLimit.value > 0 && allResults(block, peaks) > memory.most;
    double share = double(block.tasks.size()) / double(std::max<size_t>(1, tasks));
    if (!schedule.blocks[b].buckets.empty() && order.size() > 1) {
      bool whole = b + 1 == program.blocks.size();
      Annealing(order, memory).run(int64_t(share * double(options.budget)), whole ? options.goal.value : 0);
      schedule.blocks[b] = order.written();
    }
    times.push_back({order.play(1e300)});
    peaks.push_back(order.peak(peaks));
  }
  // Prices that were read off a line may have misled it.
  bool longer = playWithoutNoise(program, schedule, pricer).total > playWithoutNoise(program, start, pricer).total;
  return longer ? start : schedule;
}
