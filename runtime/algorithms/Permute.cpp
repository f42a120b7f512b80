//===- Permute.cpp - a permute is one direct message per pair ---------------------------------------------------===//
//
// Each source sends its buffer straight to its target, split over k channels. A pair of a rank with itself moves
// nothing.
//
//            steps (chain of messages)       chunks on the wire        bytes sent per rank of a buffer of m bytes
//   permute  1 (0 if all pairs are selves)   k x pairs between two     m
//
// Worked example, n = 3, pairs (0, 1) (1, 2): rank 0 sends to 1, rank 1 sends to 2 and then receives from 0, rank 2
// receives; rank 0 has no source: no step, its result is zeros by the rules of the collective.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) { return ranks >= 1 && collective == Collective::Permute; }

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  StepProgram result;
  result.collective = collective;
  result.ranks = ranks;
  result.channels = result.chunks = options.channels;
  int target = -1, source = -1;
  if (options.pairs.empty()) {
    target = (rank + 1) % ranks;
    source = (rank + ranks - 1) % ranks;
  }
  for (auto [from, to] : options.pairs) {
    if (from == rank)
      target = to;
    if (to == rank)
      source = from;
  }
  for (int channel = 0; channel < options.channels; ++channel) // sends first: the buffer is used in place
    if (target >= 0 && target != rank)
      result.steps.push_back({Action::Send, target, channel, 1, channel});
  for (int channel = 0; channel < options.channels; ++channel)
    if (source >= 0 && source != rank)
      result.steps.push_back({Action::Receive, source, channel, 1, channel});
  return result;
}

static int64_t messages(int ranks, const StepOptions &options) {
  if (options.pairs.empty())
    return ranks > 1 ? ranks : 0;
  int64_t count = 0;
  for (auto [from, to] : options.pairs)
    count += from != to;
  return count;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  return messages(ranks, options) ? 1 : 0;
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return messages(ranks, options) * options.channels;
}

Algorithm direct() { return {"direct", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
