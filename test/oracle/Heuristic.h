//===- Heuristic.h - the oracle's own first solutions --------------------------------------------------------------===//
#ifndef BRAID_TEST_ORACLE_HEURISTIC_H
#define BRAID_TEST_ORACLE_HEURISTIC_H

#include "Problem.h"

namespace braid::oracle {

/// Simulated annealing over orders of events (kernels and starts) and over buckets, from the longest tails first. Deterministic.
Solution anneal(const Problem &problem, uint64_t seed, int64_t steps);

} // namespace braid::oracle

#endif
