//===- BinomialTree.cpp - broadcast, reduce, gather, scatter, all_reduce and barrier on a binomial tree ---------===//
//
// With v = (rank - root) mod n: the parent of v is v without its lowest set bit, its children are v + 2^j for all 2^j
// below that bit (root: all), as far as they are below n. v and its descendants are v .. v + lowbit(v) - 1, cut at n:
// consecutive ranks from the root on, cyclically.
//
//   n = 6, root 0:   0 -> 1, 2, 4;   2 -> 3;   4 -> 5
//
// Where an order is asked for (StepOptions::order), "rank" is the place in it; gather and scatter, which move neighbouring
// blocks together, have none.
//
//   broadcast  receive from the parent, send to the children, the largest subtree first; S segments in a pipeline
//   reduce     combine the children's sums, the smallest subtree first, send to the parent; S segments
//   gather     receive each child's blocks, then send all blocks of the subtree to the parent
//   scatter    receive the blocks of the subtree, then send each child its own
//   all_reduce, barrier   reduce to rank 0, then broadcast from it
//
// With k channels the buffer has k S chunks (broadcast, reduce) or n blocks of k chunks (gather, scatter). Blocks that
// wrap around rank n - 1, and those of more than one channel, travel in several messages.
//
//                      steps (chain of messages)   chunks on the wire                  bytes sent per rank, buffer of m
//   broadcast, reduce  floor(log2 n)               k S (n-1)                           at most m floor(log2 n), or m
//   gather, scatter    floor(log2 n)               k x sum of the ones in v, v < n     at most m/2 and a block
//   all_reduce         2 floor(log2 n)             2 k S (n-1)                         at most m (floor(log2 n) + 1)
//   barrier            2 floor(log2 n)             2 (n-1)                             0
//
// Worked example, reduce, n = 4, root 0:  rank 3 sends d to 2, which sends c+d to 0; rank 1 sends b. 0: (b+a) + (d+c).
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Order.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && (collective == Collective::Broadcast || collective == Collective::Reduce ||
                        collective == Collective::Gather || collective == Collective::Scatter ||
                        collective == Collective::AllReduce || collective == Collective::Barrier);
}

namespace {

/// One rank's place in the tree, and its program as it grows.
struct Place {
  StepProgram &program;
  const Order order;
  int v, root,
      span; ///< root: its place; span: descendants with itself, if none were cut; the root: a power of two >= n

  Place(StepProgram &program, int rank, int rootRank, const Order &given)
      : program(program), order(given), root(order.placeOf(rootRank)) {
    int n = program.ranks;
    v = (order.placeOf(rank) - root + n) % n;
    span = v & -v;
    if (v == 0)
      for (span = 1; span < n;)
        span *= 2;
  }
  int rankOf(int place) const { return order.rankAt((place + root) % program.ranks); }
  int parent() const { return v - span; }
  bool hasChild(int bit) const { return v + bit < program.ranks; }

  void whole(Action action, int place, int chunk, int channel) {
    program.steps.push_back({action, rankOf(place), chunk, 1, channel});
  }

  /// The blocks of the subtree of `place` that has at most `size` nodes.
  void blocks(Action action, int peer, int place, int size) {
    int n = program.ranks, k = program.channels;
    if (place + size > n)
      size = n - place;
    for (int done = 0; done < size;) {
      int first = rankOf(place + done), count = 1;
      if (k == 1) // up to the last rank, then from rank 0 on
        count = size - done < n - first ? size - done : n - first;
      for (int channel = 0; channel < k; ++channel)
        program.steps.push_back({action, rankOf(peer), first * k + channel, count, channel});
      done += count;
    }
  }
};

} // namespace

/// Whole segments up to the root.
static void reduce(Place &tree, int segments) {
  int k = tree.program.channels;
  for (int segment = 0; segment < segments; ++segment)
    for (int channel = 0; channel < k; ++channel) {
      int chunk = channel * segments + segment;
      for (int bit = 1; bit < tree.span; bit *= 2)
        if (tree.hasChild(bit))
          tree.whole(Action::ReceiveReduce, tree.v + bit, chunk, channel);
      if (tree.v > 0)
        tree.whole(Action::Send, tree.parent(), chunk, channel);
    }
}

/// Whole segments down from the root.
static void broadcast(Place &tree, int segments) {
  int k = tree.program.channels;
  for (int segment = 0; segment < segments; ++segment)
    for (int channel = 0; channel < k; ++channel) {
      int chunk = channel * segments + segment;
      if (tree.v > 0)
        tree.whole(Action::Receive, tree.parent(), chunk, channel);
      for (int bit = tree.span / 2; bit >= 1; bit /= 2)
        if (tree.hasChild(bit))
          tree.whole(Action::Send, tree.v + bit, chunk, channel);
    }
}

static void gather(Place &tree) {
  for (int bit = 1; bit < tree.span; bit *= 2)
    if (tree.hasChild(bit))
      tree.blocks(Action::Receive, tree.v + bit, tree.v + bit, bit);
  if (tree.v > 0)
    tree.blocks(Action::Send, tree.parent(), tree.v, tree.span);
}

static void scatter(Place &tree) {
  if (tree.v > 0)
    tree.blocks(Action::Receive, tree.parent(), tree.v, tree.span);
  for (int bit = tree.span / 2; bit >= 1; bit /= 2)
    if (tree.hasChild(bit))
      tree.blocks(Action::Send, tree.v + bit, tree.v + bit, bit);
}

static bool isRooted(Collective collective) {
  return collective != Collective::AllReduce && collective != Collective::Barrier;
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  StepProgram result;
  bool barrier = collective == Collective::Barrier;
  int k = barrier ? 1 : options.channels, S = barrier ? 1 : options.segments;
  result.collective = collective;
  result.ranks = ranks;
  result.channels = k;
  bool inBlocks = collective == Collective::Gather || collective == Collective::Scatter;
  result.chunks = inBlocks ? ranks * k : k * S;
  Order order(ranks, inBlocks ? StepOptions() : options);
  Place tree(result, rank, isRooted(collective) ? options.root : order.rankAt(0), order);
  if (collective == Collective::Gather)
    gather(tree);
  if (collective == Collective::Scatter)
    scatter(tree);
  if (collective == Collective::Reduce || !isRooted(collective))
    reduce(tree, S);
  if (collective == Collective::Broadcast || !isRooted(collective))
    broadcast(tree, S);
  return result;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  int log = 0;
  while (ranks >>= 1)
    ++log;
  return isRooted(collective) ? log : 2 * log;
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  if (collective == Collective::Broadcast || collective == Collective::Reduce)
    return int64_t(options.channels) * options.segments * (ranks - 1);
  if (!isRooted(collective))
    return 2 * int64_t(ranks - 1) * (collective == Collective::Barrier ? 1 : options.channels * options.segments);
  int64_t hops = 0;
  for (int v = 1; v < ranks; ++v)
    hops += __builtin_popcount(unsigned(v));
  return hops * options.channels;
}

Algorithm binomialTree() { return {"binomial_tree", serves, program, steps, wireChunks, Needs::Nothing, true}; }

} // namespace braid::algorithms
