//===- Anneal.h - local search over orders, buckets and algorithms ------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SCHEDULE_ANNEAL_H
#define BRAID_COST_MODELS_SCHEDULE_ANNEAL_H

#include "braid/cost_models/Schedule.h"

namespace braid::cost {

struct AnnealOptions {
  int inFlight = 1;
  int64_t budget = 0; ///< events that may be looked at; 0: the schedule stays as it is
  Seconds goal;       ///< of the whole program: good enough, stop
  /// False: searches as if nothing in flight slowed kernels, and takes what it finds only where it is better all the same. A second way
  /// down: beside slower kernels a change seldom helps before others do.
  bool slowed = true;
  Bytes
      memoryLimit{}; ///< 0: none; else no state of the search is above it, nor above the start's peak if that is higher
};

/// A schedule that takes no longer without noise, by simulated annealing from `start` in every block that communicates, callees
/// first. A move takes a kernel or a start elsewhere, a collective out of its bucket, or a bucket into another of its key.
/// Deterministic; a larger budget is not always better, as the heat falls over all of it.
Schedule anneal(const Program &program, const Schedule &start, const Pricer &pricer, const AnnealOptions &options);

} // namespace braid::cost

#endif
