//===- RecursiveDoubling.cpp - all_reduce and all_gather by exchanges at twice the distance each time ------------===//
//
// In step j each rank exchanges all that it has with the rank whose number differs in bit j. Fewest messages in a chain;
// all_reduce sends the whole buffer every time, so it is for small ones. (Thakur, Rabenseifner and Gropp, 2005.)
//
// n ranks = m + r, m a power of two (Fold.h): with r > 0 a message before and one after. k channels; all_reduce has k
// chunks, all_gather n blocks of k chunks.
//
//               steps (chain of messages)       chunks on the wire    bytes sent per rank, buffer of M bytes
//   all_reduce  log2 m + [r > 0] + [2 r > m]    k (m log2 m + 2 r)    at most M (log2 m + 1)
//   all_gather  log2 m + [r > 0] + [2 r > m]    k n (n-1)             M (m-1)/m about; the odd one of a pair M more
//
// Both ranks of an exchange add the same two values, a + b and b + a, which are the same bytes.
//
// Worked example, all_reduce, n = 3 (m = 2, r = 1), operands a b c: rank 0 sends a to 1, which has a+b; ranks 1 and 2
// exchange: c+(a+b), (a+b)+c; rank 1 sends it to 0.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Fold.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && (collective == Collective::AllReduce || collective == Collective::AllGather);
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  Fold fold(ranks);
  bool reduces = collective == Collective::AllReduce;
  Builder builder(collective, ranks, reduces ? 1 : ranks, options.channels);
  Range all = blocksOf(0, reduces ? 1 : ranks), own = reduces ? all : blocksOf(rank);
  std::vector<Range> others = {blocksOf(0, rank), blocksOf(rank + 1, ranks - rank - 1)};
  if (fold.sitsOut(rank)) {
    builder.message(Action::Send, rank + 1, own);
    builder.message(Action::Receive, rank + 1, reduces ? std::vector<Range>{all} : others);
    return builder.program;
  }
  Action take = reduces ? Action::ReceiveReduce : Action::Receive;
  if (fold.folded(rank))
    builder.message(take, rank - 1, reduces ? all : blocksOf(rank - 1));
  int me = fold.memberOf(rank);
  for (int distance = 1; distance < fold.members; distance *= 2) {
    int peer = me ^ distance, mine = me / distance * distance, theirs = peer / distance * distance;
    builder.message(Action::Send, fold.rankOf(peer), reduces ? all : fold.ranksOf(mine, distance));
    builder.message(take, fold.rankOf(peer), reduces ? all : fold.ranksOf(theirs, distance));
  }
  if (fold.folded(rank))
    builder.message(Action::Send, rank - 1,
                    reduces ? std::vector<Range>{all}
                            : std::vector<Range>{blocksOf(0, rank - 1), blocksOf(rank, ranks - rank)});
  return builder.program;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  return floorLog2(ranks) + Fold(ranks).pass();
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  Fold fold(ranks);
  if (collective == Collective::AllGather)
    return int64_t(options.channels) * ranks * (ranks - 1);
  return options.channels * (int64_t(fold.members) * floorLog2(ranks) + 2 * fold.extra);
}

Algorithm recursiveDoubling() { return {"recursive_doubling", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
