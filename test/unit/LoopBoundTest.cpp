//===- LoopBoundTest.cpp - no schedule of a loop whose trips overlap lies below its bound ----------------------------===//
#include "RandomProgram.h"
#include "cost_models/bounds/Cycles.h"
#include <catch2/catch.hpp>
#include <functional>
#include <map>

using namespace braid::cost;
using namespace braid::cost::testing;
using Catch::Contains;

namespace {

/// A loop by itself.
Program loopOf(Block body, double trips) {
  Program program;
  program.ranks = 8;
  body.name = "loop";
  program.blocks.push_back(std::move(body));
  Block entry;
  entry.name = "main";
  Task loop = compute("the loop", 0);
  loop.kind = Task::Nested;
  loop.block = 0;
  loop.trips = trips;
  entry.tasks.push_back(loop);
  program.blocks.push_back(entry);
  return program;
}

/// Two to five tasks, one or two of them collectives, and what they hand on.
Block smallBody(std::mt19937_64 &random) {
  auto below = [&](int n) { return int(random() % uint64_t(n)); };
  Block body;
  int count = 2 + below(4), collectives = 0;
  for (int i = 0; i < count; ++i) {
    std::vector<int> operands;
    for (int other = 0; other < i; ++other)
      if (below(3) == 0)
        operands.push_back(other);
    bool communicates = collectives < 2 && (below(2) || (i == count - 1 && !collectives));
    collectives += communicates;
    body.tasks.push_back(communicates
                             ? collective("c" + std::to_string(i), int64_t(1) << (10 + below(14)), operands, -1,
                                          CollectiveKind::AllGather, below(3) ? everyone() : pairsInHosts())
                             : compute("t" + std::to_string(i), 1 + below(300), operands));
  }
  for (int k = 1 + below(3); k > 0; --k) {
    Carried value;
    value.from = below(count);
    value.readers = {below(count)};
    body.carried.push_back(value);
  }
  if (body.carried.size() > 1 && below(3) == 0) { // one goes on as another, and comes back a trip later
    body.carried[1].from = -1;
    body.carried[1].passes = 0;
  }
  return body;
}

/// Every order of a trip's events, each in its own trip or in the next one, played for a number of trips: the shortest time of those
/// in which each task has what it reads. Written apart from Braid's player.
class EverySchedule {
public:
  EverySchedule(const Block &body, const Pricer &pricer, int trips) : body(body), pricer(pricer), trips(trips) {
    for (int task = 0; task < int(body.tasks.size()); ++task) {
      events.push_back({task, false});
      if (body.tasks[task].kind == Task::Collective)
        events.push_back({task, true});
    }
    for (size_t k = 0; k < body.carried.size(); ++k) // made how many trips before it is read
      for (int reader : body.carried[k].readers) {
        int distance = 1;
        int from = int(k);
        while (body.carried[size_t(from)].passes >= 0 && distance < trips) {
          from = body.carried[size_t(from)].passes;
          ++distance;
        }
        if (body.carried[size_t(from)].from >= 0)
          reads.push_back({body.carried[size_t(from)].from, reader, distance});
      }
    for (int task = 0; task < int(body.tasks.size()); ++task)
      for (int operand : body.tasks[task].operands)
        reads.push_back({operand, task, 0});
  }

  double shortest() {
    std::vector<int> stage(events.size());
    for (unsigned set = 0; set < (1u << events.size()); ++set) {
      for (size_t e = 0; e < events.size(); ++e)
        stage[e] = int(set >> e & 1);
      std::vector<int> order;
      std::vector<char> used(events.size());
      extend(stage, order, used);
    }
    return best;
  }

private:
  struct Event {
    int task;
    bool wait;
  };
  struct Read {
    int from, to, distance;
  };
  int eventOf(int task, bool end) const {
    bool waits = end && body.tasks[size_t(task)].kind == Task::Collective;
    for (int e = 0; e < int(events.size()); ++e)
      if (events[size_t(e)].task == task && events[size_t(e)].wait == waits)
        return e;
    return -1;
  }
  /// Whether event a of a trip precedes event b of `distance` trips later.
  static bool precedes(int a, int b, int distance, const std::vector<int> &stage, const std::vector<int> &place) {
    int slots = stage[size_t(b)] + distance - stage[size_t(a)];
    return slots > 0 || (slots == 0 && place[size_t(a)] < place[size_t(b)]);
  }
  bool legal(const std::vector<int> &stage, const std::vector<int> &order) const {
    std::vector<int> place(events.size());
    for (size_t at = 0; at < order.size(); ++at)
      place[size_t(order[at])] = int(at);
    for (const Read &read : reads)
      if (!precedes(eventOf(read.from, true), eventOf(read.to, false), read.distance, stage, place))
        return false;
    for (int e = 0; e < int(events.size()); ++e)
      if (events[size_t(e)].wait && !precedes(eventOf(events[size_t(e)].task, false), e, 0, stage, place))
        return false;
    return true;
  }
  void extend(const std::vector<int> &stage, std::vector<int> &order, std::vector<char> &used) {
    if (order.size() == events.size()) {
      if (legal(stage, order))
        best = std::min(best, play(stage, order));
      return;
    }
    for (int e = 0; e < int(events.size()); ++e)
      if (!used[size_t(e)]) {
        used[size_t(e)] = 1;
        order.push_back(e);
        extend(stage, order, used);
        order.pop_back();
        used[size_t(e)] = 0;
      }
  }
  double play(const std::vector<int> &stage, const std::vector<int> &order) const {
    double clock = 0, channel[2] = {0, 0};
    std::map<std::pair<int, int>, double> ends; // of a task's trip
    for (int slot = 0; slot <= trips; ++slot)
      for (int e : order) {
        int trip = slot - stage[size_t(e)];
        if (trip < 0 || trip >= trips)
          continue;
        const Task &task = body.tasks[size_t(events[size_t(e)].task)];
        if (events[size_t(e)].wait) {
          clock = std::max(clock, ends.at({events[size_t(e)].task, trip}));
        } else if (task.kind == Task::Collective) {
          double &free = channel[int(pricer.fabric(task.spec))];
          free = std::max(clock, free) + pricer.cheapestTime(task.spec).value;
          ends[{events[size_t(e)].task, trip}] = free;
        } else {
          for (double left = task.duration.value; left > 0;) {
            double factor = 1, until = 1e300; // of what is in flight, and when that changes
            for (int fabric : {0, 1})
              if (channel[fabric] > clock) {
                factor *= pricer.cluster().compute.slowdown[fabric];
                until = std::min(until, channel[fabric]);
              }
            double end = std::min(until, clock + left * factor);
            left = end < until ? 0 : left - (end - clock) / factor;
            clock = end;
          }
        }
      }
    return clock;
  }

  const Block &body;
  const Pricer &pricer;
  const int trips;
  std::vector<Event> events;
  std::vector<Read> reads;
  double best = 1e300;
};

} // namespace

TEST_CASE("loop bound: no schedule of overlapping trips lies below it", "[loops]") {
  Pricer pricer = smallPricer();
  std::mt19937_64 random(7);
  int below = 0, tight = 0, count = 0;
  for (int i = 0; i < 100; ++i) {
    Block body = smallBody(random);
    if (body.tasks.size() + 2 > 6) // 6! orders in 2^6 stages
      continue;
    for (int trips : {2, 5}) {
      ++count;
      double shortest = EverySchedule(body, pricer, trips).shortest();
      Program program = loopOf(body, trips);
      double bound = lowerBound(program, pricer).time.value;
      CHECK(bound <= shortest * (1 + 1e-9));
      tight += shortest <= 1.05 * bound;
      // The control: a bound by trips that do not overlap, which was the bound before, is one that schedules fall below.
      program.blocks[0].carried.clear();
      below += shortest < lowerBound(program, pricer).time.value * (1 - 1e-9);
    }
  }
  CHECK(count > 100);
  CHECK(below > count / 10);
  CHECK(tight > count / 4); // and it is not idle
}

TEST_CASE("bound: no order of small programs and loops whose collectives slow kernels lies below it",
          "[loops][slowdown]") {
  Cluster cluster = smallCluster();
  cluster.compute.slowdown[int(Fabric::Intra)] = 1.3;
  cluster.compute.slowdown[int(Fabric::Inter)] = 2;
  Pricer pricer(cluster, {{0, 1, 2, 3, 4, 5, 6, 7}}, Engine::Nccl, BucketForm::OneLaunch), unslowed = smallPricer();
  std::mt19937_64 random(11);
  int count = 0, tight = 0, tighter = 0, below = 0;
  for (int i = 0; i < 100; ++i) {
    Block body = smallBody(random);
    if (body.tasks.size() + 2 > 6)
      continue;
    for (int trips : {1, 2, 4}) {
      ++count;
      Program program = loopOf(body, trips);
      if (trips == 1)
        program = programOf(body.tasks);
      double shortest = EverySchedule(body, pricer, trips).shortest(), bound = lowerBound(program, pricer).time.value,
             without = lowerBound(program, unslowed).time.value;
      CHECK(bound <= shortest * (1 + 1e-9));
      tight += shortest <= 1.05 * bound;
      tighter += bound > 1.01 * without;
      // The control: as if no collective could be in flight beside no kernel.
      double loss = 0;
      for (const Task &task : body.tasks)
        if (task.kind == Task::Collective)
          loss = std::max(loss, pricer.cheapestTime(task.spec).value *
                                    (1 - 1 / cluster.compute.slowdown[int(pricer.fabric(task.spec))]));
      below += shortest < (without + trips * loss) * (1 - 1e-9);
    }
  }
  CHECK(count > 100);
  CHECK(tight > count / 4);
  CHECK(tighter > count / 10);
  CHECK(below > count / 10);
}

TEST_CASE("loop bound: the witness of each", "[loops]") {
  Pricer pricer = smallPricer();
  auto gather = [](int64_t bytes, std::vector<int> operands) {
    return collective("gather", bytes, std::move(operands), -1, CollectiveKind::AllGather);
  };
  // What the gather gives is needed by the second of two tasks.
  auto body = [&](double us, int64_t bytes, bool chained) {
    Block block;
    block.tasks = {compute("first", us), compute("second", us, {0}), gather(bytes, {chained ? 1 : 0})};
    block.carried = {{2, -1, {1}}};
    return block;
  };
  auto boundOf = [&](const Block &block) { return lowerBound(loopOf(block, 100), pricer); };
  double price = pricer.cheapestTime(gather(1 << 26, {}).spec).value;

  Bound bound = boundOf(body(5000, 1 << 10, false));
  CHECK(bound.time.value == Approx(100 * 10e-3));
  CHECK_THAT(bound.witness, Contains("steady state, 100 trips of at least 10.0 ms: the compute stream"));

  bound = boundOf(body(1, 1 << 26, false));
  CHECK(bound.time.value == Approx(100 * price));
  CHECK_THAT(bound.witness, Contains("inter: one message of 64.0 MiB"));

  bound = boundOf(body(50, 1 << 26, true));
  CHECK(bound.time.value == Approx(100 * (price + 50e-6)));
  CHECK_THAT(bound.witness, Contains("a recurrence of") && Contains("from 'second' to 'gather', through 1 collective"));

  // Handed on through another place: back in two trips.
  Block two = body(50, 1 << 26, true);
  two.carried = {{2, -1, {}}, {-1, 0, {1}}};
  bound = boundOf(two);
  CHECK(bound.time.value == Approx(100 * price));
  Recurrence recurrence = longestRecurrence(two, {{50e-6}, {50e-6}, {price}});
  CHECK(recurrence.trips == 2);
  CHECK(recurrence.perTrip() == Approx((price + 50e-6) / 2));
  CHECK(recurrence.of(5) == Approx(2 * (price + 50e-6)));
}
