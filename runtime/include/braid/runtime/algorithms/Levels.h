//===- Levels.h - where the ranks of a group are, for algorithms with levels --------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_LEVELS_H
#define BRAID_RUNTIME_ALGORITHMS_LEVELS_H

#include <vector>

namespace braid::algorithms {

/// StepOptions::hosts for a group, from the host of each of its members: empty if they are all on one, which tells an
/// algorithm nothing about levels. Who prices, plays and runs a program must say the same here.
inline std::vector<int> levels(std::vector<int> hosts) {
  for (int host : hosts)
    if (host != hosts[0])
      return hosts;
  return {};
}

/// Ranks of each host where an algorithm with levels knows of none: the largest divisor L of n with L^2 <= n (a prime n: 1).
inline int dealtPerHost(int ranks) {
  int perHost = 1;
  for (int divisor = 2; divisor * divisor <= ranks; ++divisor)
    if (ranks % divisor == 0)
      perHost = divisor;
  return perHost;
}

} // namespace braid::algorithms

#endif
