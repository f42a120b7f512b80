//===- InNetwork.cpp - collectives in which switches add and multiply messages ----------------------------------===//
//
// A switch that can reduce adds what its ranks send, and sends the result to all of them: each rank sends its buffer once
// instead of 2 (n-1)/n times, and waits for two messages instead of 2 (n-1). So do InfiniBand switches (SHARP: Graham et
// al., 2016) between hosts, and NVSwitch (NVLS) inside them. Only the cluster can say which switches do, for which types
// and sizes (StepOptions::switches); without them it is no algorithm at all.
//
// For two ranks or more. The switch of each rank is a helper, and if there is more than one, so is the one above them: n ranks, w switches, helpers
// n .. n + w - 1, and n + w above. In the world they are switches; in the emulated one, processes at their place.
//
//   all_reduce      up: ranks to their switch, which adds them in the order of the ranks, to the one above; and down to all
//   reduce          up, then down to the root alone        broadcast       up from the root, then down to all others
//   reduce_scatter  up, then down with each rank's block   all_gather      each block up, then down to all others
//   barrier         as all_reduce, without bytes
//
// Buffers travel in S segments, one behind the other. k channels; all_reduce, reduce, broadcast have k S chunks, the others n
// blocks of k. u = 1 if there is more than one switch, else 0. A switch sends a message for each of its links.
//
//                   steps                           chunks on the wire, all ranks and switches    sent by a rank, buffer m
//   all_reduce      2, or 4 + 2 floor((S-1)/3)      2 k S (n + u w)                               m
//   reduce          2, or 4 + 2 floor((S-1)/3)      k S (n + 1 + u (w + 1))                       m
//   broadcast       2 + 2u                          k S (n + u w)                                 root: m
//   reduce_scatter  2 + 2u                          k (n n + n + u (w n + n))                     m
//   all_gather      2 + 2u                          k (n + n (n-1) + u (n + n (w-1)))             m/n
//   barrier         2 + 2u                          2 (n + u w)                                   0
//
// (A lower switch sends segment i up after it has received segment i - 3 from above.)
//
// Worked example, all_reduce, n = 3 on one switch (rank 3): a, b, c go up; c+(b+a) comes down to each.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Builder.h"
#include <algorithm>

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) {
  return ranks >= 2 && collective != Collective::AllToAll && collective != Collective::Permute &&
         collective != Collective::Gather && collective != Collective::Scatter;
}

static int switchesOf(int ranks, const StepOptions &options) {
  int count = 1;
  for (int rank = 0; rank < ranks && rank < int(options.switches.size()); ++rank)
    count = std::max(count, options.switches[rank] + 1);
  return count;
}

namespace {

/// One rank's or one switch's part.
struct Tree {
  Builder builder;
  int n, w, me, root;
  const StepOptions &options;

  Tree(Collective collective, int ranks, int rank, const StepOptions &options, int blocks, int channels)
      : builder(collective, ranks, blocks, channels), n(ranks), w(switchesOf(ranks, options)), me(rank),
        root(options.root), options(options) {
    builder.program.helpers = w + above();
  }
  bool above() const { return w > 1; }
  int top() const { return n + w; }
  int switchOf(int rank) const { return n + (rank < int(options.switches.size()) ? options.switches[rank] : 0); }
  bool isRank() const { return me < n; }
  bool isTop() const { return above() && me == top(); }

  /// Those below this switch.
  std::vector<int> children() const {
    std::vector<int> list;
    if (isTop())
      for (int s = 0; s < w; ++s)
        list.push_back(n + s);
    else
      for (int rank = 0; rank < n; ++rank)
        if (switchOf(rank) == me)
          list.push_back(rank);
    return list;
  }
  int parent() const { return isRank() ? switchOf(me) : above() && !isTop() ? top() : -1; }
  /// Whether the rank is below this switch.
  bool covers(int rank) const { return isTop() || switchOf(rank) == me; }

  /// The sum of all operands on its way up.
  void up(Range range) {
    bool first = !isRank();
    if (!isRank())
      for (int child : children()) {
        builder.message(first ? Action::Receive : Action::ReceiveReduce, child, range);
        first = false;
      }
    if (parent() >= 0)
      builder.message(Action::Send, parent(), range);
  }
  /// The value of one rank on its way up.
  void lift(int from, Range range) {
    if (isRank() ? me != from : !covers(from))
      return;
    if (!isRank())
      builder.message(Action::Receive, isTop() ? switchOf(from) : from, range);
    if (parent() >= 0)
      builder.message(Action::Send, parent(), range);
  }
  /// From the top to all ranks but one (-1: to all); what came from below is not sent back.
  void down(Range range, int except = -1) {
    bool had = except >= 0 && !isRank() && !isTop() && covers(except); // it passed here on its way up
    if (parent() >= 0 && me != except && !had)
      builder.message(Action::Receive, parent(), range);
    if (!isRank())
      for (int child : children())
        if (child != except && !(isTop() && except >= 0 && child == switchOf(except)))
          builder.message(Action::Send, child, range);
  }
  /// From the top to one rank.
  void drop(int to, Range range) {
    if (isRank() ? me != to : !covers(to))
      return;
    if (parent() >= 0)
      builder.message(Action::Receive, parent(), range);
    if (!isRank())
      builder.message(Action::Send, isTop() ? switchOf(to) : to, range);
  }
};

} // namespace

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  bool barrier = collective == Collective::Barrier, blocked = inBlocks(collective);
  int blocks = blocked ? ranks : barrier ? 1 : options.segments;
  Tree tree(collective, ranks, rank, options, blocks, barrier ? 1 : options.channels);
  auto upward = [&](int block) {
    if (collective == Collective::AllGather)
      tree.lift(block, blocksOf(block));
    else if (collective == Collective::Broadcast)
      tree.lift(options.root, blocksOf(block));
    else if (collective != Collective::ReduceScatter)
      tree.up(blocksOf(block));
    else if (block == 0)
      tree.up(blocksOf(0, blocks));
  };
  auto downward = [&](int block) {
    if (collective == Collective::AllGather)
      tree.down(blocksOf(block), block);
    else if (collective == Collective::Broadcast)
      tree.down(blocksOf(block), options.root);
    else if (collective == Collective::ReduceScatter)
      tree.drop(block, blocksOf(block));
    else if (collective == Collective::Reduce)
      tree.drop(options.root, blocksOf(block));
    else
      tree.down(blocksOf(block));
  };
  // A rank sends all it has first. A switch under another one has the way there and back ahead of it, two messages.
  int lag = tree.isRank() || blocked ? blocks : tree.above() && !tree.isTop() ? 2 : 0;
  for (int i = 0; i < blocks + lag; ++i) {
    if (i < blocks)
      upward(i);
    if (i >= lag)
      downward(i - lag);
  }
  return tree.builder.program;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  bool sums = collective == Collective::AllReduce || collective == Collective::Reduce;
  return switchesOf(ranks, options) == 1 ? 2 : 4 + (sums ? 2 * ((options.segments - 1) / 3) : 0);
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  int64_t n = ranks, k = options.channels, S = options.segments, w = switchesOf(ranks, options), u = w > 1;
  switch (collective) {
  case Collective::Reduce:
    return k * S * (n + 1 + u * (w + 1));
  case Collective::Broadcast:
    return k * S * (n + u * w);
  case Collective::ReduceScatter:
    return k * (n * n + n + u * (w * n + n));
  case Collective::AllGather:
    return k * (n + n * (n - 1) + u * (n + n * (w - 1)));
  case Collective::Barrier:
    return 2 * (n + u * w);
  default:
    return 2 * k * S * (n + u * w);
  }
}

Algorithm inNetwork() { return {"in_network", serves, program, steps, wireChunks, Needs::Switches}; }

} // namespace braid::algorithms
