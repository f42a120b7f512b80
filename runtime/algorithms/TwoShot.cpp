//===- TwoShot.cpp - all_reduce as a direct reduce_scatter and a direct all_gather ------------------------------===//
//
// Each rank adds one block of all ranks' operands and then hands it to everyone: two messages deep, and no byte is
// added twice. Best for large buffers on memory that all ranks see, where each block is read once from where it lies.
// The messages grow with n squared, so it serves at most 64 ranks.
//
//   1. block b of each rank goes to rank b, which adds them: its own, then rank b-1's, b-2's, ... (b is in a sum at one
//      rank only, so that all ranks get the same bytes)
//   2. rank b sends its block to all others
//
// n ranks, k channels: n blocks of k chunks.
//
//               steps (chain of messages)   chunks on the wire   bytes sent per rank of a buffer of m bytes
//   all_reduce  2                           2 k n (n-1)          2 m (n-1)/n
//
// Worked example, n = 2, rank 0: send c1->1, reduce c0<-1, send c0->1, receive c1<-1.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"

namespace braid::algorithms {

constexpr int mostRanks = 64;

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && ranks <= mostRanks && collective == Collective::AllReduce;
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  StepProgram result;
  int n = ranks, k = options.channels;
  result.collective = collective;
  result.ranks = n;
  result.channels = k;
  result.chunks = n * k;
  auto add = [&](Action action, int peer, int block) {
    for (int channel = 0; channel < k; ++channel)
      result.steps.push_back({action, peer, block * k + channel, 1, channel});
  };
  auto next = [&](int distance) { return (rank + distance) % n; };
  auto previous = [&](int distance) { return (rank - distance + n) % n; };
  for (int d = 1; d < n; ++d)
    add(Action::Send, next(d), next(d));
  for (int d = 1; d < n; ++d)
    add(Action::ReceiveReduce, previous(d), rank);
  for (int d = 1; d < n; ++d)
    add(Action::Send, next(d), rank);
  for (int d = 1; d < n; ++d)
    add(Action::Receive, previous(d), previous(d));
  return result;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) { return ranks > 1 ? 2 : 0; }

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return int64_t(2) * options.channels * ranks * (ranks - 1);
}

Algorithm twoShot() { return {"two_shot", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
