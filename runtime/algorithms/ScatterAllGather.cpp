//===- ScatterAllGather.cpp - broadcast as a scatter and an all_gather ------------------------------------------===//
//
// The root scatters the buffer in n blocks down a binomial tree, then a ring gathers them: for large buffers about twice the
// buffer leaves each rank instead of log2 n times. (Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, 1994; MPICH.)
//
// v = (rank - root) mod n; v holds the blocks v .. v + span - 1 after the scatter (BinomialTree.cpp), cut at n. In step s of
// the ring v sends block v - s to v + 1, unless that one has it: it has all of its subtree's blocks, and the root has all.
//
// k channels of n blocks. span(v): lowest bit of v, cut at n - v.
//
//              steps (chain of messages)   chunks on the wire                                      bytes sent per rank
//   broadcast  n-1                         k (sum of ones(v) + sum of n - span(v)), 0 < v < n      at most 2 m
//
// Worked example, n = 4, root 0: 0 sends blocks 2 3 to 2, which sends 3 to 3, and 1 to 1. Ring: 0 sends 0 to 1; 1 sends 1, 0
// to 2; 2 sends 2, 1, 0 to 3; 0 sends 3, 2 to 1.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Builder.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) { return ranks >= 1 && collective == Collective::Broadcast; }

/// Blocks that v holds after the scatter.
static int spanOf(int v, int n) {
  if (v == 0)
    return n;
  int span = v & -v;
  return span < n - v ? span : n - v;
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  int n = ranks, v = (rank - options.root + n) % n;
  Builder builder(collective, n, n, options.channels);
  auto rankOf = [&](int place) { return (place + options.root) % n; };
  int span = v ? v & -v : 1 << ceilLog2(n);
  if (v)
    builder.message(Action::Receive, rankOf(v - span), blocksOf(v, spanOf(v, n)));
  for (int bit = span / 2; bit >= 1; bit /= 2)
    if (v + bit < n)
      builder.message(Action::Send, rankOf(v + bit), blocksOf(v + bit, spanOf(v + bit, n)));
  int next = (v + 1) % n;
  for (int s = 0; s < n - 1; ++s) {
    int sent = (v - s + n) % n, taken = (v - 1 - s + n) % n;
    if ((sent - next + n) % n >= spanOf(next, n)) // not in its subtree
      builder.message(Action::Send, rankOf(next), blocksOf(sent));
    if ((taken - v + n) % n >= spanOf(v, n))
      builder.message(Action::Receive, rankOf((v - 1 + n) % n), blocksOf(taken));
  }
  return builder.program;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) { return ranks - 1; }

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  int64_t sum = 0;
  for (int v = 1; v < ranks; ++v)
    sum += __builtin_popcount(unsigned(v)) + ranks - spanOf(v, ranks);
  return sum * options.channels;
}

Algorithm scatterAllGather() { return {"scatter_allgather", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
