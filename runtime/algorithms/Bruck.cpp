//===- Bruck.cpp - all_gather and all_to_all in ceil(log2 n) messages, for any number of ranks -------------------===//
//
// all_gather   In step j each rank sends what it has, at most what is missing there, to the rank 2^j before it: its own
//              block and those of the ranks after it, cyclically. No rank is different from another.
// all_to_all   With i = (target - source) mod n, a block goes 2^j ranks on for every bit j of i, in step j. What passes
//              through waits in scratch, and its last step takes it to where it belongs, so nothing is rotated or copied.
//
// A ragged all_to_all is the same, of blocks of any sizes; ranks pass on the blocks of others, and so have to know the sizes of
// all. A block of c bytes is sent c times ones(i).
//
// A message holds many blocks that do not lie together. (Bruck, Ho, Kipnis, Upfal and Weathersby, 1997.)
//
// k channels: n blocks of k chunks. L = ceil(log2 n); ones(i): bits of i that are set.
//
//               steps (chain of messages)   chunks on the wire            bytes sent per rank of a buffer of m bytes
//   all_gather  L                           k n (n-1)                     m (n-1)/n
//   all_to_all  L                           k n x sum of ones(i), i < n   about m L / 2
//
// Worked example, all_to_all, n = 3, rank 0, blocks x0 x1 x2: step 0 (i = 1): x1 -> 1, from 2 the block for 0.
// Step 1 (i = 2): x2 -> 2, from 1. With n = 4, i = 3 goes in both: x3 -> 1 together with x1; then 1 sends it on to 3.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Builder.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && (collective == Collective::AllGather || collective == Collective::AllToAll);
}

/// `count` blocks from `first` on, cyclically.
static std::vector<Range> cyclic(int first, int count, int n) {
  int beforeEnd = count < n - first ? count : n - first;
  return {blocksOf(first, beforeEnd), blocksOf(0, count - beforeEnd)};
}

static StepProgram gathered(int n, int rank, const StepOptions &options) {
  Builder builder(Collective::AllGather, n, n, options.channels);
  for (int have = 1; have < n; have *= 2) {
    int count = have < n - have ? have : n - have, after = (rank + have) % n;
    builder.message(Action::Send, (rank - have + n) % n, cyclic(rank, count, n));
    builder.message(Action::Receive, after, cyclic(after, count, n));
  }
  return builder.program;
}

static int ones(int bits) { return __builtin_popcount(unsigned(bits)); }

static StepProgram exchanged(int n, int rank, const StepOptions &options) {
  Builder builder(Collective::AllToAll, n, n, options.channels);
  builder.program.ragged = options.ragged;
  int L = ceilLog2(n);
  // What passes through waits in a place for its i; ragged: for each of its stops, since blocks differ in size.
  std::vector<int> firstPlace(n);
  std::vector<std::pair<int, int>> pairs;
  for (int i = 1; i < n; ++i) {
    firstPlace[i] = int(pairs.size());
    int stops = options.ragged ? ones(i) - 1 : ones(i) > 1;
    for (int stop = 0, moved = 0; stop < stops; ++stop) {
      moved |= (i & ~moved) & -(i & ~moved); // one bit more
      int source = (rank - moved + n) % n;
      pairs.push_back({source, (source + i) % n});
    }
  }
  builder.scratch(pairs);
  auto placeOf = [&](int i, int stop) { return Range{Range::Scratch, firstPlace[i] + (options.ragged ? stop : 0), 1}; };
  for (int j = 0; j < L; ++j) {
    std::vector<Range> sent, taken;
    for (int i = 1; i < n; ++i) {
      if (!(i >> j & 1))
        continue;
      int stop = ones(i & ((1 << j) - 1)); // bits that are done
      bool last = i >> (j + 1) == 0;
      sent.push_back(stop == 0 ? Range{Range::Own, (rank + i) % n, 1} : placeOf(i, stop - 1));
      taken.push_back(last ? blocksOf((rank - i + n) % n) : placeOf(i, stop));
    }
    builder.message(Action::Send, (rank + (1 << j)) % n, sent);
    builder.message(Action::Receive, (rank - (1 << j) % n + n) % n, taken);
  }
  return builder.program;
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  return collective == Collective::AllGather ? gathered(ranks, rank, options) : exchanged(ranks, rank, options);
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) { return ceilLog2(ranks); }

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  int64_t hops = ranks - 1;
  if (collective == Collective::AllToAll) {
    hops = 0;
    for (int i = 1; i < ranks; ++i)
      hops += ones(i);
  }
  return options.channels * int64_t(ranks) * hops;
}

static int64_t hops(int ranks, int source, int target, const StepOptions &options) {
  return ones((target - source + ranks) % ranks);
}

Algorithm bruck() { return {"bruck", serves, program, steps, wireChunks, Needs::Nothing, false, hops, true}; }

} // namespace braid::algorithms
