//===- PairwiseExchange.cpp - pairwise exchange all_to_all ------------------------------------------------------===//
//
// In round i = 1 .. floor(n/2) each rank exchanges blocks with the ranks i after it and i before it: two pairs at once,
// one where both are the same rank (the last round of an even n). Both blocks leave before either arrives, and the two
// blocks of a pair change places, so the buffer is used in place. All ranks do the same, for any number of them: nobody
// rests, and nobody gets ahead of the rank that it meets next.
//
// A ragged all_to_all is the same, but for the places: blocks of different sizes cannot change places, so what leaves is read
// from the operand. Each block travels once, and a rank needs to know only its own sizes.
//
// With k channels a block has k chunks; channel j carries chunk j of each.
//
//               steps (chain of messages)   chunks on the wire   bytes sent per rank of a buffer of m bytes
//   all_to_all  floor(n/2)                  k n (n-1)            m (n-1)/n
//
// Worked example, n = 4:   round 1: 0-1, 1-2, 2-3, 3-0;   round 2: 0-2, 1-3.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) { return ranks >= 1 && collective == Collective::AllToAll; }

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  StepProgram result;
  result.collective = collective;
  result.ranks = ranks;
  result.channels = options.channels;
  result.chunks = ranks * options.channels;
  result.ragged = options.ragged;
  auto add = [&](Action action, int other) {
    int block = other * options.channels;
    if (result.ragged && action == Action::Send)
      block = result.own(block);
    for (int channel = 0; channel < options.channels; ++channel)
      result.steps.push_back({action, other, block + channel, 1, channel});
  };
  for (int round = 1; round <= ranks / 2; ++round) {
    int after = (rank + round) % ranks, before = (rank - round + ranks) % ranks;
    add(Action::Send, after);
    if (before != after)
      add(Action::Send, before);
    add(Action::Receive, before);
    if (before != after)
      add(Action::Receive, after);
  }
  return result;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) { return ranks / 2; }

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return int64_t(options.channels) * ranks * (ranks - 1);
}

static int64_t hops(int ranks, int source, int target, const StepOptions &options) { return source != target; }

Algorithm pairwiseExchange() {
  return {"pairwise_exchange", serves, program, steps, wireChunks, Needs::Nothing, false, hops};
}

} // namespace braid::algorithms
