//===- ThreeTwoElimination.cpp - halving and doubling that leave one of three ranks aside where ranks are odd -------===//
//
// A third way to deal with a number of ranks that is no power of two, beside pairs (HalvingDoubling.cpp) and blocks
// (BinaryBlocks.cpp): nobody waits for a fold, and no block for another one. In each round those who hold the same part of the
// buffer, q ranks, exchange halves of it in pairs, as in halving; if q is odd, the last three do it together:
//
//   a keeps the lower half, b the upper     a <- b, c: their lower halves     b <- a, c: their upper halves
//
// c is out until b and a have the sums: 3 become 2 while a half is on its way that is exchanged in any case. q becomes floor(q/2)
// in each half, so that floor(log2 n) rounds are enough. all_gather goes back, and c gets both halves. (Rabenseifner and Traeff,
// 2004, "More efficient reduction algorithms for non-power-of-two number of processors in message-passing parallel systems".)
//
// The q ranks of round s are those with the same lowest s bits, in order: rank r is the (r >> s)-th of q = n >> s, its partner is
// r ^ 2^s. Bit s says which half it keeps. So the largest halves go between neighbours.
//
// k channels of m = 2^floor(log2 n) chunks.
//
//               steps (chain of messages)   chunks on the wire   bytes sent per rank of a buffer of M bytes
//   all_reduce  2 floor(log2 n)             2 k m (n-1)          2 M (m-1)/m about; in triples M more at most
//
// Worked example, n = 3, operands a b c, chunks 0 1: rank 0 sends a.1 to 1, rank 1 b.0 to 0, rank 2 c.0 to 0 and c.1 to 1. Rank 0
// has c+(b+a) of chunk 0, rank 1 c+(a+b) of chunk 1; they exchange these, and each sends its own to rank 2.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Builder.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) { return ranks >= 1 && collective == Collective::AllReduce; }

namespace {
/// What a rank does in one round; -1: there is no such rank.
struct Round {
  Range lower, upper; ///< halves of what it holds
  int partner = -1;   ///< of a pair, or the other one of a triple that stays
  bool keepsUpper = false;
  int third = -1;          ///< of its triple: who leaves
  int low = -1, high = -1; ///< it leaves itself: who stays
};
} // namespace

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  int levels = floorLog2(ranks), first = 0, size = 1 << levels;
  Builder builder(collective, ranks, size, options.channels);
  std::vector<Round> rounds;
  for (int s = 0; s < levels; ++s) {
    int holders = ranks >> s, place = rank >> s, same = rank & ((1 << s) - 1);
    auto rankAt = [&](int other) { return other << s | same; };
    bool odd = holders % 2 == 1;
    size /= 2;
    Round round;
    round.lower = blocksOf(first, size);
    round.upper = blocksOf(first + size, size);
    if (odd && place == holders - 1) {
      round.low = rankAt(place - 2);
      round.high = rankAt(place - 1);
      builder.message(Action::Send, round.low, round.lower);
      builder.message(Action::Send, round.high, round.upper);
      rounds.push_back(round);
      break;
    }
    round.partner = rank ^ 1 << s;
    round.keepsUpper = place % 2 == 1;
    if (odd && place >= holders - 3)
      round.third = rankAt(holders - 1);
    Range kept = round.keepsUpper ? round.upper : round.lower;
    builder.message(Action::Send, round.partner, round.keepsUpper ? round.lower : round.upper);
    builder.message(Action::ReceiveReduce, round.partner, kept);
    if (round.third >= 0)
      builder.message(Action::ReceiveReduce, round.third, kept);
    first = kept.first;
    rounds.push_back(round);
  }
  for (size_t i = rounds.size(); i-- > 0;) {
    const Round &round = rounds[i];
    if (round.partner < 0) {
      builder.message(Action::Receive, round.low, round.lower);
      builder.message(Action::Receive, round.high, round.upper);
      continue;
    }
    Range kept = round.keepsUpper ? round.upper : round.lower;
    builder.message(Action::Send, round.partner, kept);
    if (round.third >= 0)
      builder.message(Action::Send, round.third, kept);
    builder.message(Action::Receive, round.partner, round.keepsUpper ? round.lower : round.upper);
  }
  return builder.program;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) { return 2 * floorLog2(ranks); }

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return 2 * int64_t(options.channels) * (int64_t(1) << floorLog2(ranks)) * (ranks - 1);
}

Algorithm threeTwoElimination() { return {"three_two_elimination", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
