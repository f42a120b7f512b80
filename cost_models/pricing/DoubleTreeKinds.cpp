//===- DoubleTreeKinds.cpp - two trees, one rank of each height ---------------------------------------------------===//
//
// An inner rank of one tree is a leaf of the other (DoubleBinaryTree.cpp in runtime/algorithms), and the second tree is the mirror
// image of the first, or the first moved on by one rank. So a kind is the height at which a rank is inner, in whichever tree:
//
//   n = 16     height   4   3   2       1             of the first tree: position = rank + 1, height = the lowest set bit
//              rank    15   7   3 11    1 5 9 13
//
// One rank of each height plays, along the way from the root to a deepest leaf that turns right wherever it can: a right child is
// sent to after its sibling. What a player of one tree hears from a leaf, which is inner in the other, is what the player of
// that height sends as a leaf. In an all_reduce those of the first tree stand for those of the second; the root of a broadcast
// feeds one tree after the other, so that both play.
//
// An estimate: of equal heights some have leaves that are busier than others'.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/KindMaker.h"
#include <algorithm>

namespace braid::cost {

namespace {

class DoubleTree {
public:
  explicit DoubleTree(KindMaker &maker)
      : maker(maker), n(maker.n), feeds(maker.kind == CollectiveKind::Broadcast), N(feeds ? n - 1 : n) {}

  bool make() {
    if (feeds)
      play(0, maker.options.root);
    int power = 1;
    while (2 * power <= N)
      power *= 2;
    // The full subtree on the left of the root is the deepest.
    for (int lane = 0; lane < (feeds ? 2 : 1); ++lane) {
      play(2 * power + lane, rankAt(power, lane));
      for (int height = power / 2, position = height; height > 1; position += height / 2, height /= 2)
        play(2 * height + lane, rankAt(position, lane));
    }
    for (int member = 0; member < N; ++member) // a leaf of both trees
      if (heightOf(member) == 1) {
        play(2, rankOf(member));
        break;
      }
    maker.near = true;
    return maker.connect([&](int sender, int receiver, int lane, int nth, KindOp &op) {
      if (feeds && sender == maker.options.root) {
        int as = rankAt(power, lane);
        return as == receiver && maker.hears(op, playerOf[0], lane, receiver, nth);
      }
      int member = memberOf(sender), height = heightOf(member);
      int inner = height > 1 && positionOf(member, 0) % 2; // the tree
      auto player = playerOf.find(2 * height + (feeds ? inner : 0));
      if (player == playerOf.end())
        return false;
      int as = memberOf(maker.players[player->second].rank);
      int mine = inner && !feeds ? 1 - lane : lane; // players are inner in the first tree
      Place from = placeOf(positionOf(member, lane)), to = placeOf(positionOf(as, mine));
      int place = memberOf(receiver) < 0 ? 0 : positionOf(memberOf(receiver), lane), target;
      if (place == from.parent)
        target = to.parent;
      else
        target = place == from.children[1] && to.children[1] ? to.children[1] : to.children[0];
      return maker.hears(op, player->second, mine, target ? rankAt(target, mine) : maker.options.root, nth);
    });
  }

private:
  /// A position's neighbours in the in-order tree over 1 .. N; 0: none, or whoever feeds the root.
  struct Place {
    int parent = 0;
    int children[2] = {0, 0};
  };
  Place placeOf(int position) const {
    Place place;
    int bit = position & -position, half = bit / 2;
    place.parent = ((position ^ bit) | bit << 1) <= N ? (position ^ bit) | bit << 1 : position ^ bit;
    if (half) {
      place.children[0] = position - half;
      while (half && position + half > N)
        half /= 2;
      place.children[1] = half ? position + half : 0;
    }
    return place;
  }
  int positionOf(int member, int lane) const {
    return lane == 0 ? member + 1 : N % 2 == 0 ? N - member : member == 0 ? N : member;
  }
  int rankAt(int position, int lane) const {
    return rankOf(lane == 0 ? position - 1 : N % 2 == 0 ? N - position : position % N);
  }
  /// The root of a broadcast feeds both trees and is in none: -1.
  int memberOf(int rank) const { return feeds ? (rank - maker.options.root + n) % n - 1 : rank; }
  int rankOf(int member) const { return feeds ? (member + 1 + maker.options.root) % n : member; }
  /// The lowest set bit of the position in the tree where the member is inner; 1: it is a leaf in both.
  int heightOf(int member) const {
    int a = positionOf(member, 0), b = positionOf(member, 1);
    return std::max(a & -a, b & -b);
  }
  void play(int kind, int rank) {
    if (playerOf.try_emplace(kind, int(maker.players.size())).second)
      maker.add(rank);
  }

  KindMaker &maker;
  const int n;
  const bool feeds;
  const int N;                 ///< members of the trees
  std::map<int, int> playerOf; ///< by kind: 2 x height + tree; 0: who feeds them
};

} // namespace

bool doubleTreeKinds(KindMaker &maker) {
  return maker.algorithm.name == "double_binary_tree" && maker.n >= 3 && maker.options.channels == 1 &&
         !maker.contended() && DoubleTree(maker).make();
}

} // namespace braid::cost
