//===- Pat.cpp - parallel aggregated trees: all_gather and reduce_scatter ----------------------------------------===//
//
// One binomial tree for each rank's block, all of them at once. With i = (rank - owner) mod n, the place of a rank in the
// owner's tree: place i hands the block to i + 2^d for every d below the lowest bit of i. Rank r does the same thing in all n
// trees, for the same offset i, in one message: the blocks r - i for many i, which do not lie together. The far steps come
// first, where messages are small; Bruck's all_gather has the distances in the other order. (Jeaugey, 2025,
// arXiv 2506.20252; NCCL 2.23.)
//
// A message holds at most ceil(n / 2^D) blocks, D = floor(log2 segments), segments <= n, so that the room that a network's
// buffers need is bounded; the price is a longer chain:
//
//   far    d = L-1 .. D        i a multiple of 2^(d+1)                  to the rank 2^d further
//   near   the binomial tree of the offsets 0 .. 2^D - 1, depth first:
//          offset o -> o + 2^d  i = o mod 2^D                           to the rank 2^d further
//
// reduce_scatter is all_gather backwards: who received a block sends its partial sum of it, who sent it adds.
//
// k channels: n blocks of k chunks. L = ceil(log2 n).
//
//                               steps (chain of messages)   chunks on the wire   bytes sent per rank, buffer of m bytes
//   all_gather, reduce_scatter  L - D + 2^D - 1             k n (n-1)            m (n-1)/n
//
// Worked example, all_gather, n = 4, D = 0: far d = 1: i = 0, rank 0 sends its block to 2 and gets 2's; d = 0: i = 0 and 2,
// rank 0 sends blocks 0 and 2 to 1, and gets blocks 3 and 1 from 3.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Builder.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && (collective == Collective::AllGather || collective == Collective::ReduceScatter);
}

/// Places i = offset mod modulus hand their blocks to i + distance.
struct Round {
  int64_t modulus, offset, distance;
};

/// D of the options.
static int nearLevels(int ranks, const StepOptions &options) {
  int levels = floorLog2(options.segments), most = floorLog2(ranks);
  return levels < most ? levels : most;
}

/// The offsets below `offset` in the tree, depth first.
static void near(std::vector<Round> &rounds, int64_t modulus, int64_t offset, int64_t span) {
  for (int64_t distance = span / 2; distance >= 1; distance /= 2) {
    rounds.push_back({modulus, offset, distance});
    near(rounds, modulus, offset + distance, distance);
  }
}

static std::vector<Round> roundsOf(int n, const StepOptions &options) {
  std::vector<Round> rounds;
  int D = nearLevels(n, options);
  for (int d = ceilLog2(n) - 1; d >= D; --d)
    rounds.push_back({int64_t(2) << d, 0, int64_t(1) << d});
  near(rounds, int64_t(1) << D, 0, int64_t(1) << D);
  return rounds;
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  int64_t n = ranks;
  Builder builder(collective, ranks, ranks, options.channels);
  /// The blocks that the rank at distance `shift` after this one (before, if negative) hands on, as the receiver's places.
  auto blocks = [&](const Round &round, int64_t giver) {
    std::vector<Range> list;
    for (int64_t i = round.offset; i + round.distance < n; i += round.modulus)
      list.push_back(blocksOf(int((giver - i + n) % n)));
    return list;
  };
  std::vector<Round> rounds = roundsOf(ranks, options);
  if (collective == Collective::AllGather) {
    for (const Round &round : rounds) {
      int64_t after = (rank + round.distance) % n, before = (rank - round.distance % n + n) % n;
      builder.message(Action::Send, int(after), blocks(round, rank));
      builder.message(Action::Receive, int(before), blocks(round, before));
    }
    return builder.program;
  }
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    int64_t after = (rank + round->distance) % n, before = (rank - round->distance % n + n) % n;
    builder.message(Action::Send, int(before), blocks(*round, before));
    builder.message(Action::ReceiveReduce, int(after), blocks(*round, rank));
  }
  return builder.program;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  int D = nearLevels(ranks, options);
  return ceilLog2(ranks) - D + (int64_t(1) << D) - 1;
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return int64_t(options.channels) * ranks * (ranks - 1);
}

Algorithm pat() { return {"pat", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
