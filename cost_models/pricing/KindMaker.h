//===- KindMaker.h - which ranks play, and for whom --------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_KINDMAKER_H
#define BRAID_COST_MODELS_PRICING_KINDMAKER_H

#include "pricing/Kinds.h"
#include <functional>
#include <map>
#include <unordered_map>

namespace braid::cost {

/// A message out, a message in, or an addition of one player, before they are all known.
struct KindOp {
  enum Type : char { Send, Receive, Combine } type = Send;
  bool reduces = false;
  int count = 0;  ///< chunks
  int target = 0; ///< rank
  /// Messages that go at once over the link of a spine on this half of the way, where ranks do not play that would be in its
  /// way; 0: those who play are all that matter.
  int crowd = 0;
  // Of a receive: who plays the sender, in which lane, and which of the sends of that lane it is.
  int player = -1, lane = 0, index = -1;
};

class KindMaker {
public:
  KindMaker(const algorithms::Algorithm &algorithm, CollectiveKind kind, int ranks,
            const algorithms::StepOptions &options, const Topology &topology, int first)
      : algorithm(algorithm), kind(kind), n(ranks), options(options), topology(topology), cluster(topology.cluster()),
        first(first) {}

  const algorithms::Algorithm &algorithm;
  const CollectiveKind kind;
  const int n;
  const algorithms::StepOptions &options;
  const Topology &topology;
  const Cluster &cluster;
  const int first;

  struct Player {
    int rank;
    std::vector<std::vector<KindOp>> lanes; ///< by channel
  };
  std::vector<Player> players;
  bool near = false; ///< an estimate: kinds stand for ranks with other times

  const algorithms::StepProgram &programOf(int rank);
  /// The rank plays; its number among those who do.
  int add(int rank);
  /// Nobody plays yet.
  void restart();
  /// Every receive hears what `find(sender, receiver, lane, nth message of the two, op)` sets its player, lane and index to.
  /// False: one has no sender.
  template <typename Find> bool connect(Find find) {
    std::vector<int> received(n); // from a rank
    for (Player &player : players)
      for (size_t lane = 0; lane < player.lanes.size(); ++lane) {
        for (const KindOp &op : player.lanes[lane])
          if (op.type == KindOp::Receive)
            received[op.target] = 0;
        for (KindOp &op : player.lanes[lane])
          if (op.type == KindOp::Receive && !find(op.target, player.rank, int(lane), received[op.target]++, op))
            return false;
      }
    return true;
  }
  /// The op hears a player's `nth` message to a rank; false: there is none.
  bool hears(KindOp &op, int player, int lane, int target, int nth);
  /// Whether ranks that do not play get in the way of those that do.
  bool contended() const;
  std::unique_ptr<KindProgram> finish() const;

private:
  /// Of a player that hears `sender` send to `target` in place of `from` to `to`: the number of the detour, or -1.
  int detourOf(KindProgram &program, int sender, int target, int from, int to) const;

  std::unordered_map<int, algorithms::StepProgram> programs;
  /// By player and lane: (target, which of the lane's sends), sorted.
  std::vector<std::vector<std::vector<std::pair<int, int>>>> sends;
};

/// The messages of a program, by channel.
std::vector<std::vector<KindOp>> messagesOf(const algorithms::StepProgram &program);

// Each of them makes players of the algorithms that it knows, and says whether it did.
bool symmetricKinds(KindMaker &maker);
bool treeKinds(KindMaker &maker);
bool doublingKinds(KindMaker &maker);
bool doubleTreeKinds(KindMaker &maker);
bool refinedKinds(KindMaker &maker); ///< any algorithm

/// setting: more ranks than this are not played by shape.
constexpr int mostShapes = 64;

} // namespace braid::cost

#endif
