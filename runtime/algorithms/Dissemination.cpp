//===- Dissemination.cpp - the dissemination barrier --------------------------------------------------------------===//
//
// In round j each rank tells the one 2^j further that it, and all it has heard of, have come, and hears from the one 2^j
// before. After ceil(log2 n) rounds everyone has heard of everyone, for any n. (Hensgen, Finkel and Manber, 1988.)
// Messages carry no bytes. One chunk, one channel.
//
//            steps (chain of messages)   chunks on the wire
//   barrier  ceil(log2 n)                n ceil(log2 n)
//
// Worked example, n = 3, rank 0: send->1, reduce<-2 (0 and 2 have come), send->2, reduce<-1 (1, and 0 which 1 heard of).
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) { return ranks >= 1 && collective == Collective::Barrier; }

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  StepProgram result;
  result.collective = collective;
  result.ranks = ranks;
  result.channels = result.chunks = 1;
  for (int64_t distance = 1; distance < ranks; distance *= 2) {
    result.steps.push_back({Action::Send, int((rank + distance) % ranks), 0, 1, 0});
    result.steps.push_back({Action::ReceiveReduce, int((rank - distance + ranks) % ranks), 0, 1, 0});
  }
  return result;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  int64_t rounds = 0;
  for (int64_t distance = 1; distance < ranks; distance *= 2)
    ++rounds;
  return rounds;
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return ranks * steps(collective, ranks, options);
}

Algorithm dissemination() { return {"dissemination", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
