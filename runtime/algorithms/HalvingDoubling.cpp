//===- HalvingDoubling.cpp - recursive halving and recursive doubling -------------------------------------------===//
//
// reduce_scatter by halves: ranks at distance m/2 exchange halves of the buffer and add, then at m/4 quarters, ...;
// all_gather backwards. As few bytes as a ring in log2 m steps instead of n-1, but over long distances. (Rabenseifner,
// 2004; Thakur, Rabenseifner and Gropp, 2005.)
//
// n ranks = m + r, m a power of two (Fold.h): with r > 0 the even ranks of r pairs hand over their whole buffer before and
// get their part after. k channels; all_reduce has m blocks of k chunks, the others n.
//
//                   steps (chain of messages)       chunks on the wire          bytes sent per rank, buffer of M bytes
//   reduce_scatter  log2 m + [r > 0] + [2 r > m]    k (n (m-1) + r (n + 1))     M (m-1)/m about; a pair's: M, or M/n more
//   all_gather      log2 m + [r > 0] + [2 r > m]    k n (n-1)                   as recursive doubling, which it is
//   all_reduce      2 log2 m + 2 [r > 0]            2 k m (m-1) + 2 k m r       2 M (m-1)/m; a pair's: M, or M more
//
// Worked example, reduce_scatter, n = 4, operands a b c d, blocks 0..3: ranks 0 and 2 exchange, 0 has (c+a) in blocks 0 1,
// 2 has (a+c) in 2 3; 1 and 3 likewise. Then 0 and 1 exchange: 0 has (d+b)+(c+a) in block 0, 1 the same sum in block 1.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Fold.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && (collective == Collective::AllReduce || collective == Collective::ReduceScatter ||
                        collective == Collective::AllGather);
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  if (collective == Collective::AllGather)
    return recursiveDoubling().program(collective, ranks, rank, options);
  Fold fold(ranks);
  bool scatters = collective == Collective::ReduceScatter;
  int blocks = scatters ? ranks : fold.members;
  Builder builder(collective, ranks, blocks, options.channels);
  Range all = blocksOf(0, blocks);
  if (fold.sitsOut(rank)) {
    builder.message(Action::Send, rank + 1, all);
    builder.message(Action::Receive, rank + 1, scatters ? blocksOf(rank) : all);
    return builder.program;
  }
  if (fold.folded(rank))
    builder.message(Action::ReceiveReduce, rank - 1, all);
  int me = fold.memberOf(rank);
  auto part = [&](int member, int size) { // what is the part of `size` members around this one
    int first = member / size * size;
    return scatters ? fold.ranksOf(first, size) : blocksOf(first, size);
  };
  for (int distance = fold.members / 2; distance >= 1; distance /= 2) {
    builder.message(Action::Send, fold.rankOf(me ^ distance), part(me ^ distance, distance));
    builder.message(Action::ReceiveReduce, fold.rankOf(me ^ distance), part(me, distance));
  }
  for (int distance = 1; distance < fold.members && !scatters; distance *= 2) {
    builder.message(Action::Send, fold.rankOf(me ^ distance), part(me, distance));
    builder.message(Action::Receive, fold.rankOf(me ^ distance), part(me ^ distance, distance));
  }
  if (fold.folded(rank))
    builder.message(Action::Send, rank - 1, scatters ? blocksOf(rank - 1) : all);
  return builder.program;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  Fold fold(ranks);
  return collective == Collective::AllReduce ? 2 * floorLog2(ranks) + (fold.extra ? 2 : 0)
                                             : floorLog2(ranks) + fold.pass();
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  Fold fold(ranks);
  int64_t n = ranks, m = fold.members, r = fold.extra, k = options.channels;
  switch (collective) {
  case Collective::AllReduce:
    return 2 * k * m * (m - 1) + 2 * k * m * r;
  case Collective::ReduceScatter:
    return k * (n * (m - 1) + r * (n + 1));
  default:
    return k * n * (n - 1);
  }
}

Algorithm halvingDoubling() { return {"halving_doubling", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
