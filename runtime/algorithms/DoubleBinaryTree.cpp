//===- DoubleBinaryTree.cpp - double binary tree all_reduce and broadcast ---------------------------------------===//
//
// Two binary trees over the same ranks, each of which carries half of the buffer in a pipeline of segments. A rank that
// is inner in one tree is a leaf in the other, so that no rank sends more than its share, and the chain of messages
// grows with log n. (Sanders, Speck and Traeff, 2009; NCCL's trees are of this kind.)
//
// One tree over positions 1 .. n, in-order: odd positions are leaves, the root is the largest power of two <= n. With b
// the lowest set bit of position q:
//
//   parent    (q ^ b) | 2b, or q ^ b where that is beyond n; none (0) for the root
//   children  q - b/2, and the first of q + b/2, q + b/4, ... that is within n
//   height    floor(log2 n)
//
//   n = 6:          4
//                /     \          second tree, n even: mirrored,   position of rank r is n - r instead of r + 1
//              2         6                     n odd:  shifted,    position of rank r is r, of rank 0 is n
//            1   3     5
//
// In the second tree the even positions' ranks are odd positions of the first, and the other way around.
//
// "Rank r" is the r-th in the order asked for (StepOptions::order). Neighbours in it are near each other in both trees, so an
// order by hosts keeps most of their edges inside.
//
// With k channels and S segments the buffer has 2 k S chunks; channel j uses lanes 2j (first tree) and 2j + 1 (second),
// each lane S chunks. Lanes are independent.
//
//   all_reduce  Each segment goes up (a rank combines its children's sums with its own part, then sends to its parent)
//   and
//               down again. A rank at depth d has the round trip to the root, 2d messages, ahead of it: it handles
//               segment i on the way up together with segment i - 2d on the way down. (Up for all segments and then
//               down for all would leave each direction of the links idle half of the time.)
//   broadcast   The trees span the n - 1 other ranks; the root feeds the root of each, so that it too sends one buffer. Its two
//               lanes take turns: were one tree fed first, its inner ranks, which pass on each segment twice, would still be at it
//               while the other begins.
//
// Formulas, h = floor(log2 n), h' = floor(log2 (n-1)); S - 1 = q (2h + 1) + t with 0 <= t <= 2h:
//
//               steps (chain of messages)              chunks on the wire   bytes sent per rank of a buffer of m bytes
//   all_reduce  2h + 2h q + 2 floor(max(t - 1, 0) / 2)  2 (n-1) 2kS          at most 2m, 2 m (n-1)/n on average
//   broadcast   1 + h'                                  (n-1) 2kS            at most m
//
// (A rank at depth d sends segment i up after it has received segment i - 1 - 2d from above, a chain of 2d messages for
// 2d + 1 segments: the deepest rank sets the pace, one segment per step nearly, as in (2h + S) in the papers'
// formulas.)
//
// Worked example, all_reduce, n = 3, k = S = 1, chunks c0 (first tree) and c1 (second), operands a, b, c of ranks 0, 1,
// 2:
//   first tree: positions 1 2 3 are ranks 0 1 2, rank 1 is the root.   second: ranks 1 2 0, rank 2 is the root.
//   c0 at rank 1: a+b, then c+(a+b); sent to ranks 0 and 2.            c1 at rank 2: b+c, then a+(b+c); sent to 1 and
//   0. 8 chunks on the wire, chain of 2.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Order.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && (collective == Collective::AllReduce || collective == Collective::Broadcast);
}

static int floorLog2(int n) {
  int log = 0;
  while (n >>= 1)
    ++log;
  return log;
}

/// A node of the in-order tree over positions 1 .. n; 0: there is none.
struct Node {
  int parent = 0;
  int children[2] = {0, 0};
  int depth = 0;
};

static int parentOf(int position, int n) {
  int bit = position & -position;
  int parent = (position ^ bit) | (bit << 1);
  return parent <= n ? parent : position ^ bit;
}

static Node nodeAt(int position, int n) {
  Node node;
  node.parent = parentOf(position, n);
  int half = (position & -position) >> 1;
  if (half) {
    node.children[0] = position - half;
    while (half && position + half > n)
      half >>= 1;
    node.children[1] = half ? position + half : 0;
  }
  for (int q = node.parent; q; q = parentOf(q, n))
    ++node.depth;
  return node;
}

/// Position of `member` (0 .. n-1) in the first or second tree, and back.
static int positionOf(int member, int tree, int n) {
  if (tree == 0)
    return member + 1;
  if (n % 2 == 0)
    return n - member;
  return member == 0 ? n : member;
}
static int memberAt(int position, int tree, int n) {
  if (tree == 0)
    return position - 1;
  if (n % 2 == 0)
    return n - position;
  return position % n;
}

/// One lane of an all_reduce.
static void allReduceLane(StepProgram &program, const Order &order, int place, int lane, int segments) {
  int n = program.ranks, tree = lane % 2;
  Node node = nodeAt(positionOf(place, tree, n), n);
  auto peer = [&](int position) { return order.rankAt(memberAt(position, tree, n)); };
  auto add = [&](Action action, int position, int segment) {
    if (position)
      program.steps.push_back({action, peer(position), lane * segments + segment, 1, lane});
  };
  int lag = 2 * node.depth;
  for (int i = 0; i < segments + lag; ++i) {
    if (i < segments) {
      add(Action::ReceiveReduce, node.children[0], i);
      add(Action::ReceiveReduce, node.children[1], i);
      add(Action::Send, node.parent, i);
    }
    if (i >= lag) {
      add(Action::Receive, node.parent, i - lag);
      add(Action::Send, node.children[0], i - lag);
      add(Action::Send, node.children[1], i - lag);
    }
  }
}

/// One lane of a broadcast: member m of the n - 1 others is m + 1 places after the root.
static void broadcastLane(StepProgram &program, const Order &order, int place, int root, int lane, int segments) {
  int n = program.ranks, others = n - 1, tree = lane % 2, first = order.placeOf(root);
  auto peer = [&](int position) { return order.rankAt((memberAt(position, tree, others) + first + 1) % n); };
  int member = (place - first - 1 + 2 * n) % n; // the root: n - 1
  for (int segment = 0; segment < segments; ++segment) {
    int chunk = lane * segments + segment;
    if (place == first) {
      program.steps.push_back({Action::Send, peer(1 << floorLog2(others)), chunk, 1, lane});
      continue;
    }
    Node node = nodeAt(positionOf(member, tree, others), others);
    program.steps.push_back({Action::Receive, node.parent ? peer(node.parent) : root, chunk, 1, lane});
    for (int child : node.children)
      if (child)
        program.steps.push_back({Action::Send, peer(child), chunk, 1, lane});
  }
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  StepProgram result;
  result.collective = collective;
  result.ranks = ranks;
  result.channels = 2 * options.channels;
  result.chunks = result.channels * options.segments;
  Order order(ranks, options);
  int place = order.placeOf(rank);
  for (int lane = 0; lane < result.channels && ranks > 1; ++lane) {
    if (collective == Collective::AllReduce)
      allReduceLane(result, order, place, lane, options.segments);
    else
      broadcastLane(result, order, place, options.root, lane, options.segments);
  }
  return result;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  if (ranks == 1)
    return 0;
  if (collective == Collective::Broadcast)
    return 1 + floorLog2(ranks - 1);
  int64_t h = floorLog2(ranks);
  int64_t q = (options.segments - 1) / (2 * h + 1), t = (options.segments - 1) % (2 * h + 1);
  return 2 * h + 2 * h * q + 2 * (t > 1 ? (t - 1) / 2 : 0);
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  int64_t chunks = int64_t(2) * options.channels * options.segments;
  return (collective == Collective::AllReduce ? 2 : 1) * (ranks - 1) * chunks;
}

Algorithm doubleBinaryTree() {
  return {"double_binary_tree", serves, program, steps, wireChunks, Needs::Nothing, true};
}

} // namespace braid::algorithms
