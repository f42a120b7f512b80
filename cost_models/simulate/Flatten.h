//===- Flatten.h - a schedule as flat arrays, and the engine that plays it --------------------------------------===//
//
// The engine is a template over the time of a collective and over a watcher, so that sampling (no watcher, neighbouring
// kernels added up) is a tight loop and the timeline uses the very same rules.
//
// Model: one compute stream, whose kernels are slower while a channel is busy (Slowdown.h); per fabric one channel that serves one
// collective at a time in the order of starts. A
// nested block begins and ends with nothing in flight. Its trips are drawn one by one up to `drawnTrips`; further trips
// repeat those draws in turn, so a loop of 1,000 trips costs no more than one of 8 (and averages less than the real
// one: its spread is overestimated). All ranks share one clock here, by which the slowest rank computes: it is
// so for the whole step, comes last to each collective, and waits for none but noise. RankClocks.h gives each rank its own.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SIMULATE_FLATTEN_H
#define BRAID_COST_MODELS_SIMULATE_FLATTEN_H

#include "braid/cost_models/Schedule.h"
#include "simulate/Slowdown.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

constexpr int drawnTrips = 8; // setting: of a loop whose trips are drawn one by one

/// The most collectives that a step draws for, whatever their buckets.
double drawnLaunches(const Program &program);

struct FlatEvent {
  enum Kind { Compute, Nested, Start, Wait } kind;
  int index;    ///< task (the first one of an added-up run), task, bucket, bucket
  int fabric;   ///< Start
  int block;    ///< Nested
  double value; ///< Compute: duration; Nested: trips; Start: the candidate's price
};

struct FlatBlock {
  std::vector<FlatEvent> events;
  std::vector<const Candidate *> candidates; ///< of each bucket
  bool communicates = false;                 ///< it or what it calls has a collective
};

struct FlatProgram {
  std::vector<FlatBlock> blocks;
  Slowdown slowdown;
};

/// `merge`: neighbouring compute tasks become one event.
FlatProgram flatten(const Program &program, const Schedule &schedule, const Pricer &pricer, bool merge);

struct NoWatcher {
  /// setting: trips of a nested block whose inside is watched, beyond those that are drawn
  static constexpr int shownTrips = 0;
  void compute(int block, const FlatEvent &, double begin, double end) {}
  void collective(int block, const FlatEvent &, double begin, double end) {}
  void wait(int block, const FlatEvent &, double begin, double end) {}
};

struct FlatTimes {
  double total = 0, compute = 0, exposed = 0, slowed = 0;
  void add(const FlatTimes &other, double times) {
    total += times * other.total;
    compute += times * other.compute;
    exposed += times * other.exposed;
    slowed += times * other.slowed;
  }
};

template <class Time, class Watcher> class StepPlayer {
public:
  StepPlayer(const FlatProgram &program, Time time, Watcher &watcher)
      : program(program), time(time), watcher(watcher), ends(program.blocks.size()) {
    for (size_t b = 0; b < ends.size(); ++b)
      ends[b].resize(program.blocks[b].candidates.size());
  }

  /// One step: the entry block. Operations are numbered anew. `factor`: on the time that kernels take.
  FlatTimes step(double factor = 1) {
    operation = 0;
    computeFactor = factor;
    return run(int(program.blocks.size()) - 1, 0);
  }

private:
  FlatTimes run(int number, double origin) {
    const FlatBlock &block = program.blocks[number];
    FlatTimes times;
    double &clock = times.total, channel[2] = {0, 0};
    double *end = ends[number].data();
    for (const FlatEvent &event : block.events)
      switch (event.kind) {
      case FlatEvent::Compute: {
        double work = event.value * computeFactor, elapsed = program.slowdown.elapsed(work, clock, channel);
        watcher.compute(number, event, origin + clock, origin + clock + elapsed);
        clock += elapsed;
        times.compute += elapsed;
        times.slowed += elapsed - work;
        break;
      }
      case FlatEvent::Start: {
        double begin = std::max(clock, channel[event.fabric]);
        end[event.index] = channel[event.fabric] =
            begin + time(number, event, *block.candidates[event.index], operation++, origin + begin);
        watcher.collective(number, event, origin + begin, origin + end[event.index]);
        break;
      }
      case FlatEvent::Wait:
        if (end[event.index] > clock) {
          watcher.wait(number, event, origin + clock, origin + end[event.index]);
          times.exposed += end[event.index] - clock;
          clock = end[event.index];
        }
        break;
      case FlatEvent::Nested:
        nested(event, origin + clock, times);
        break;
      }
    return times;
  }

  void nested(const FlatEvent &event, double origin, FlatTimes &times) {
    double trips = event.value;
    FlatTimes drawn[drawnTrips], sum, round;
    uint64_t from[drawnTrips];
    int distinct = program.blocks[event.block].communicates ? drawnTrips : 1;
    int count = int(std::min<double>(distinct, std::ceil(trips)));
    for (int trip = 0; trip < count; ++trip) {
      from[trip] = operation;
      drawn[trip] = run(event.block, origin + sum.total);
      sum.add(drawn[trip], std::min(1.0, trips - trip));
      round.add(drawn[trip], 1);
    }
    if (trips > count) {
      uint64_t after = operation;
      double begin = origin + sum.total;
      for (int trip = count; trip < std::min<double>(Watcher::shownTrips, trips); ++trip) {
        operation = from[trip % count];
        begin += run(event.block, begin).total;
      }
      operation = after;
      double rounds = std::floor((trips - count) / count), left = trips - count - rounds * count;
      sum.add(round, rounds);
      for (int trip = 0; left > 0; ++trip, left -= 1)
        sum.add(drawn[trip], std::min(1.0, left));
    }
    times.add(sum, 1);
  }

  const FlatProgram &program;
  Time time;
  Watcher &watcher;
  std::vector<std::vector<double>> ends;
  uint64_t operation = 0;
  double computeFactor = 1;
};

} // namespace braid::cost

#endif
