//===- Model.h - Gecode's search for an order and buckets ----------------------------------------------------------===//
#ifndef BRAID_TEST_ORACLE_MODEL_H
#define BRAID_TEST_ORACLE_MODEL_H

#include "Problem.h"
#include <optional>

namespace braid::oracle {

struct SearchResult {
  std::optional<Solution> solution; ///< one that ends by the limit
  bool complete = false;            ///< the search ended by itself: without a solution, there is none
  uint64_t failures = 0;
};

/// A solution that ends by `limit`, or the proof that there is none; gives up after so many failures.
SearchResult solve(const Problem &problem, int limit, uint64_t mostFailures);

/// The smallest end that propagation alone cannot refute; no solution is earlier.
int rootBound(const Problem &problem, int low, int high);

} // namespace braid::oracle

#endif
