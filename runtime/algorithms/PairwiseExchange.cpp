//===- PairwiseExchange.cpp - pairwise exchange all_to_all ------------------------------------------------------===//
//
// In each round the ranks are matched in pairs that exchange their blocks, so that no rank receives from two at once.
// Every pair meets once; since the two blocks change places, the buffer is used in place.
//
// The rounds are those of a tournament (circle method), for any number of ranks. With m = n for odd n and m = n - 1 for
// even n, round t = 0 .. m-1 matches rank r < m with (t - r) mod m; the rank that would meet itself meets rank n - 1 if
// n is even, and rests if n is odd.
//
// With k channels a block has k chunks; channel j carries chunk j of each.
//
//               steps (chain of messages)               chunks on the wire   bytes sent per rank of a buffer of m bytes
//   all_to_all  n - 1 (n even), n (n odd, n > 1)        k n (n-1)            m (n-1)/n
//
// Worked example, n = 4, m = 3:   round 0: 1-2, 0-3;   round 1: 0-1, 2-3;   round 2: 0-2, 1-3.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) { return ranks >= 1 && collective == Collective::AllToAll; }

/// Whom `rank` meets in round `t`; itself: it rests.
static int opponent(int rank, int t, int ranks) {
  int m = ranks % 2 ? ranks : ranks - 1;
  if (rank == m) // the rank that stands in the middle of the circle: it meets the one with 2r = t
    return t % 2 ? (t + m) / 2 : t / 2;
  int other = (t - rank + m) % m;
  return other == rank && ranks % 2 == 0 ? ranks - 1 : other;
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  StepProgram result;
  result.collective = collective;
  result.ranks = ranks;
  result.channels = options.channels;
  result.chunks = ranks * options.channels;
  int rounds = ranks % 2 ? ranks : ranks - 1;
  for (int t = 0; t < rounds; ++t) {
    int other = opponent(rank, t, ranks);
    if (other == rank)
      continue;
    for (Action action : {Action::Send, Action::Receive})
      for (int channel = 0; channel < options.channels; ++channel)
        result.steps.push_back({action, other, other * options.channels + channel, 1, channel});
  }
  return result;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  return ranks == 1 ? 0 : ranks % 2 ? ranks : ranks - 1;
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return int64_t(options.channels) * ranks * (ranks - 1);
}

Algorithm pairwiseExchange() { return {"pairwise_exchange", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
