//===- UnevenHalving.cpp - reduce_scatter and all_reduce in ceil(log2 n) halvings of any number of ranks -----------===//
//
// Another way to deal with a number of ranks that is no power of two: nobody sits out, and all do the same. Rank r counts blocks
// from its own on, cyclically. With s blocks left (n at first) and h = ceil(s/2), it sends what it has summed of blocks h .. s-1
// to rank r + h, for which they are blocks 0 .. s-h-1, and adds what comes from r - h to its own of these; then s = h. The
// last one left is its own, complete. all_gather is the same backwards. (Traeff, 2024, arXiv 2410.14234: as few messages in a
// chain and as few bytes as there can be, for any n.)
//
// k channels, n blocks of k chunks, L = ceil(log2 n):
//
//                   steps (chain of messages)   chunks on the wire   bytes sent per rank of a buffer of m bytes
//   reduce_scatter  L                           k n (n-1)            m (n-1)/n
//   all_reduce      2 L                         2 k n (n-1)          2 m (n-1)/n
//
// Worked example, reduce_scatter, n = 3, operands a b c, rank 0: s = 3, h = 2: a.2 goes to rank 2, b.0 comes from rank 1. s = 2,
// h = 1: a.1 goes to rank 1, c.0 comes from rank 2: c + (b + a).
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Builder.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && (collective == Collective::AllReduce || collective == Collective::ReduceScatter);
}

/// `count` blocks from `first` on, cyclically.
static std::vector<Range> cyclic(int first, int count, int n) {
  first %= n;
  int beforeEnd = count < n - first ? count : n - first;
  return {blocksOf(first, beforeEnd), blocksOf(0, count - beforeEnd)};
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  int n = ranks;
  Builder builder(collective, n, n, options.channels);
  std::vector<std::pair<int, int>> halvings; // h, s - h
  for (int s = n; s > 1; s = (s + 1) / 2)
    halvings.push_back({(s + 1) / 2, s / 2});
  for (auto [h, given] : halvings) {
    builder.message(Action::Send, (rank + h) % n, cyclic(rank + h, given, n));
    builder.message(Action::ReceiveReduce, (rank - h + n) % n, cyclic(rank, given, n));
  }
  for (size_t i = halvings.size(); i-- > 0 && collective == Collective::AllReduce;) {
    auto [h, given] = halvings[i];
    builder.message(Action::Send, (rank - h + n) % n, cyclic(rank, given, n));
    builder.message(Action::Receive, (rank + h) % n, cyclic(rank + h, given, n));
  }
  return builder.program;
}

static int64_t turns(Collective collective) { return collective == Collective::AllReduce ? 2 : 1; }

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  return turns(collective) * ceilLog2(ranks);
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return turns(collective) * options.channels * int64_t(ranks) * (ranks - 1);
}

Algorithm unevenHalving() { return {"uneven_halving", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
