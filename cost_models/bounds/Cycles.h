//===- Cycles.h - what hands itself on from trip to trip of a loop ----------------------------------------------===//
#ifndef BRAID_COST_MODELS_BOUNDS_CYCLES_H
#define BRAID_COST_MODELS_BOUNDS_CYCLES_H

#include "braid/cost_models/Schedule.h"

namespace braid::cost {

/// A chain of tasks that begins with a carried value and ends in the same one, some trips later.
struct Recurrence {
  double time = 0;        ///< seconds of the tasks on it
  int trips = 1;          ///< how many it goes through
  int carried = -1;       ///< the value; -1: there is no recurrence
  std::vector<int> tasks; ///< on it, of its first trip

  double perTrip() const { return time / trips; }
  /// No schedule has `count` trips in less: each round needs the one before.
  double of(double count) const;
};

/// The one that bounds a trip from below most: the largest ratio of time to trips (RecMII: Rau, Iterative Modulo Scheduling, MICRO
/// 1994) among those of at most 4 trips. In very large loops only those of one trip, or none, are looked for.
Recurrence longestRecurrence(const Block &block, const std::vector<Seconds> &durations);

} // namespace braid::cost

#endif
