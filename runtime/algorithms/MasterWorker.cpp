//===- MasterWorker.cpp - everything over one rank --------------------------------------------------------------===//
//
// Rank 0 gets what everyone has, and gives everyone what is wanted. Simple, and the measure of others: all bytes take turns
// on the master's link, there and back.
//
//   all_reduce, barrier   the master adds all operands in the order of the ranks and sends the sum
//   reduce_scatter        the master adds, and sends each rank its block
//   all_gather            the master collects the blocks and sends each rank the others'
//
// k channels: all_reduce has k chunks, the others n blocks of k chunks. A barrier uses one chunk.
//
//                   steps (chain of messages)   chunks on the wire       bytes through the master's link, buffer of m bytes
//   all_reduce      2                           2 k (n-1)                m (n-1) in, m (n-1) out
//   reduce_scatter  2                           k (n-1) (n+1)            m (n-1) in, m (n-1)/n out
//   all_gather      2                           k (n-1) n                m (n-1)/n in, m (n-1)^2/n out
//   barrier         2                           2 (n-1)                  0
//
// Worked example, all_reduce, n = 3: ranks 1 and 2 send b and c to 0, which sends c+(b+a) back to both.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Builder.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && (collective == Collective::AllReduce || collective == Collective::ReduceScatter ||
                        collective == Collective::AllGather || collective == Collective::Barrier);
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  bool gathers = collective == Collective::AllGather;
  int blocks = inBlocks(collective) ? ranks : 1;
  Builder builder(collective, ranks, blocks, collective == Collective::Barrier ? 1 : options.channels);
  /// What goes from a rank to the master, and back.
  auto there = [&](int other) { return gathers ? blocksOf(other) : blocksOf(0, blocks); };
  auto back = [&](int other) -> std::vector<Range> {
    if (gathers)
      return {blocksOf(0, other), blocksOf(other + 1, ranks - other - 1)};
    return {blocks > 1 ? blocksOf(other) : blocksOf(0)};
  };
  if (rank) {
    builder.message(Action::Send, 0, there(rank));
    builder.message(Action::Receive, 0, back(rank));
    return builder.program;
  }
  for (int other = 1; other < ranks; ++other)
    builder.message(gathers ? Action::Receive : Action::ReceiveReduce, other, there(other));
  for (int other = 1; other < ranks; ++other)
    builder.message(Action::Send, other, back(other));
  return builder.program;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) { return ranks > 1 ? 2 : 0; }

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  int64_t n = ranks, k = options.channels;
  switch (collective) {
  case Collective::ReduceScatter:
    return k * (n - 1) * (n + 1);
  case Collective::AllGather:
    return k * (n - 1) * n;
  case Collective::Barrier:
    return 2 * (n - 1);
  default:
    return 2 * k * (n - 1);
  }
}

Algorithm masterWorker() { return {"master_worker", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
