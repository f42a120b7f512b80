//===- Budget.h - a time budget that does not look at the clock -------------------------------------------------===//
//
// A search that stops by the clock gives another plan on another day. Here a budget in seconds is an amount of work: what the search
// does is counted (tasks scheduled, edges looked at, draws, prices, moves), and each costs the nanoseconds that it took on one
// reference processor (one core of an AMD EPYC server), rounded up. So two promises hold together:
//
//   the same plan    for the same program, seed and budget, on any machine, however busy, with any number of threads
//   the time         on the reference processor no more than the budget; on one half as fast, up to twice as much
//
// The budget is what the search may add to the greedy plan. Parsing, the model, the greedy plan, baselines, the bound and the
// verifier are work of every plan and no part of it.
//
//   budget 1 s, 10,000 tasks: a schedule tried is 10,000 x 1.6 us = 16 ms, so about 60 of them, less what judging the best ones takes
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SCHEDULE_BUDGET_H
#define BRAID_COST_MODELS_SCHEDULE_BUDGET_H

#include "braid/cost_models/Schedule.h"

namespace braid::cost {

/// setting: nanoseconds of the reference processor. `test/bars/plan/scale` checks that they are not too few.
namespace work {
constexpr double scheduledTask = 1600; ///< bucketed, scheduled, its memory counted, played
constexpr double edge = 40;            ///< looked at for dependences, with its place in a heap
constexpr double cutPair = 40;         ///< two collectives that could begin and end an exact bucket
constexpr double draw = 160;           ///< one collective of a sampled step
constexpr double playedEvent = 4;      ///< of a sampled step
constexpr double price = 20000;   ///< all algorithms of one new size, and for engine braid as much again for each rank
constexpr double movedEvent = 34; ///< looked at after a move of the local search
} // namespace work

class Budget {
public:
  explicit Budget(Seconds time) : nanoseconds(time.value * 1e9) {}

  /// Spends so much if it is left after `reserve`; else the search has been ended by its budget.
  bool take(double cost, double reserve = 0) {
    if (nanoseconds - reserve < cost) {
      ended = true;
      return false;
    }
    nanoseconds -= cost;
    return true;
  }
  /// What was not known before it was done.
  void spend(double cost) { nanoseconds -= cost; }
  double left() const { return nanoseconds; }
  bool endedSearch() const { return ended; }

private:
  double nanoseconds;
  bool ended = false;
};

/// What sampling the objective of a schedule costs.
double objectiveWork(const Program &program, const Schedule &schedule, const Objective &objective,
                     const SampleOptions &sampling);
/// What the exact buckets of a block cost, and the order of single tensors that they follow.
double exactWork(const Block &block);
/// What one new size of message costs to price.
double priceWork(const Program &program, const Pricer &pricer);

} // namespace braid::cost

#endif
