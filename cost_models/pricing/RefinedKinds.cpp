//===- RefinedKinds.cpp - kinds of ranks of any algorithm, by whom they meet ----------------------------------------===//
//
// For algorithms that no other file knows: ranks are of one kind if their messages are alike in size, order and distance; then, in
// a few rounds, if those that they meet are of one kind, too, and take them at the same place among their own messages (colour
// refinement of the graph of messages). One rank of each kind plays. An estimate: what goes on beyond so many rounds, and messages of
// ranks that do not play, are left out.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/draws/Draws.h"
#include "pricing/KindMaker.h"
#include <algorithm>

namespace braid::cost {

namespace {

/// setting: kinds are told apart as long as there are no more of them; and programs made of no more messages.
constexpr size_t mostRefined = 128;
constexpr int64_t mostMade = 1 << 16;
constexpr int refinements = 6;

uint64_t with(uint64_t hash, uint64_t value) { return draws::mix(hash, value); }

class Refined {
public:
  explicit Refined(KindMaker &maker) : maker(maker), n(maker.n) {}

  bool make() {
    int64_t messages = 0;
    for (int rank = 0; rank < n; ++rank) {
      lanes.push_back(messagesOf(maker.programOf(rank)));
      for (const std::vector<KindOp> &lane : lanes.back())
        messages += int64_t(lane.size());
      if (messages > mostMade || (rank == 8 && messages / 9 > mostMade / n))
        return false;
    }
    std::vector<uint64_t> kinds;
    for (int rank = 0; rank < n; ++rank)
      kinds.push_back(shapeOf(rank));
    for (int round = 0; round < refinements; ++round) {
      std::vector<uint64_t> finer;
      for (int rank = 0; rank < n; ++rank)
        finer.push_back(refined(rank, kinds));
      if (countOf(finer) > mostRefined || countOf(finer) == countOf(kinds))
        break;
      kinds = std::move(finer);
    }
    if (countOf(kinds) > mostRefined)
      return false;
    std::unordered_map<uint64_t, int> playerOf;
    for (int rank = 0; rank < n; ++rank)
      if (playerOf.try_emplace(kinds[rank], int(maker.players.size())).second)
        maker.add(rank);
    maker.near = true;
    return maker.connect([&](int sender, int receiver, int lane, int nth, KindOp &op) {
      op.player = playerOf[kinds[sender]];
      op.lane = lane;
      op.index = 0;
      for (const KindOp &other : lanes[sender][lane])
        if (other.type == KindOp::Send) {
          if (other.target == receiver && nth-- == 0)
            return true;
          ++op.index;
        }
      return false;
    });
  }

private:
  static size_t countOf(std::vector<uint64_t> kinds) {
    std::sort(kinds.begin(), kinds.end());
    return size_t(std::unique(kinds.begin(), kinds.end()) - kinds.begin());
  }
  uint64_t shapeOf(int rank) const {
    uint64_t shape = 1;
    for (const std::vector<KindOp> &lane : lanes[rank]) {
      shape = with(shape, lane.size());
      for (const KindOp &op : lane) {
        int links =
            op.type == KindOp::Combine ? 0 : maker.topology.path(maker.first + rank, maker.first + op.target).count;
        shape = with(shape,
                     uint64_t(op.count) << 16 | uint64_t(links) << 8 | uint64_t(op.type) << 1 | uint64_t(op.reduces));
      }
    }
    return shape;
  }
  uint64_t refined(int rank, const std::vector<uint64_t> &kinds) const {
    uint64_t kind = kinds[rank];
    for (size_t lane = 0; lane < lanes[rank].size(); ++lane)
      for (const KindOp &op : lanes[rank][lane])
        if (op.type != KindOp::Combine) {
          const std::vector<KindOp> &theirs = lanes[op.target][lane];
          size_t place = 0;
          while (place < theirs.size() && (theirs[place].target != rank || theirs[place].type == op.type))
            ++place;
          kind = with(with(kind, kinds[op.target]), place);
        }
    return kind;
  }

  KindMaker &maker;
  const int n;
  std::vector<std::vector<std::vector<KindOp>>> lanes; ///< of each rank
};

} // namespace

bool refinedKinds(KindMaker &maker) { return maker.n > 2 && !maker.contended() && Refined(maker).make(); }

} // namespace braid::cost
