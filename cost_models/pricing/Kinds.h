//===- Kinds.h - a collective played on one rank of each kind ----------------------------------------------------===//
//
// Most ranks of a collective do what others do, elsewhere: in a ring all of them, in a tree all that have as many
// children. Where machine and programs look the same to two ranks, they do the same things at the same times, and one of them is
// enough. So a few ranks are played under the link rule (Player.h), on their own links; a message from a rank that is not
// among them is sent when the rank of its kind sends that message:
//
//   Bruck, 1,024 ranks     rank 0 plays; what rank 2^j sends it in step j leaves when rank 0 sends in step j
//   binomial tree, 1,024   ranks 0, 512, 768, ..., 1023, one of each height; any other child of one of them sends when the
//                          one of these with as many children does
//
// Who is of whose kind, by algorithm:
//
//   SymmetricKinds   programs are turned into one another by a cyclic shift, by an exclusive or, or by a shift of hosts and one of
//                    the members of all hosts (checked on samples)
//   TreeKinds        as many steps of the same kinds in the same order: trees, masters and workers, trees of hosts
//   DoublingKinds    exchanges by doubling on other than powers of two: who waits for a folded pair, and since when
//   DoubleTreeKinds  the same places in both trees
//   RefinedKinds     any other algorithm: messages alike, and those whom they meet
//
// The first is exact where the group is whole leaves (or hosts under one leaf) of a symmetric machine, an estimate where the last one
// is cut. Where kinds are but an estimate, all ranks play, message by message, if they are at most 128 or send few messages.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_KINDS_H
#define BRAID_COST_MODELS_PRICING_KINDS_H

#include "braid/cost_models/Price.h"
#include "braid/cost_models/Topology.h"
#include <memory>
#include <mutex>

namespace braid::cost {

struct KindTape;

class KindProgram {
public:
  /// Rank i of the group is on device `first` + i. Null: not made of kinds, or of too many.
  static std::unique_ptr<KindProgram> make(const algorithms::Algorithm &algorithm, CollectiveKind kind, int ranks,
                                           const algorithms::StepOptions &options, const Topology &topology, int first);

  /// All ranks play. Null: they send more messages than `most`.
  static std::unique_ptr<KindProgram> everyone(const algorithms::Algorithm &algorithm, CollectiveKind kind, int ranks,
                                               const algorithms::StepOptions &options, const Topology &topology,
                                               int first, int64_t most = INT64_MAX);

  /// `links`: of the topology, with changes or without. Empty: the ranks wait for each other (a kind was taken for another).
  /// `late`: by how much each of the messages is, where everyone plays.
  std::optional<Seconds> play(Bytes operand, const std::vector<Topology::Link> &links, BytesPerSecond reduction,
                              const std::vector<double> *late = nullptr) const;

  /// The same for a chunk of so many bytes, of which a message has several.
  std::optional<Seconds> playChunks(double bytes, const std::vector<Topology::Link> &links, BytesPerSecond reduction,
                                    const std::vector<double> *late = nullptr) const;

  int players() const { return playing; }
  bool exact() const { return !near; }
  int64_t messages() const; ///< sent by those who play
  std::string how() const;  ///< "one rank of each of 4 kinds"

private:
  friend class KindMaker;
  friend class KindPlayer;
  friend class KindReplayer;
  friend struct KindPlay;

  /// What a program of the ranks that play asks for: a message out, a message in, or an addition.
  struct Op {
    enum Type : char { Send, Receive, Combine } type = Send;
    bool reduces = false;
    char hops =
        0; ///< of the half of the way that is the player's: a sender's up to where it is highest, a receiver's from there
    char crowded = -1; ///< which of them is the spine's link whose messages are counted
    int slots[4] = {}; ///< these links
    int count = 0;     ///< chunks
    int crowd = 0;     ///< messages that the spine's link has at once; 0: not counted
    int target = 0;    ///< rank: of a send, whom it is for; of a receive, who really sends it
    int send = -1;     ///< of a send: its number among all sends
  };
  struct Lane {
    int player, rank;
    int first, end;     ///< its ops
    bool alone = false; ///< the rank has no other lane
  };
  /// A receive that hears a send.
  struct Listener {
    int lane, op, detour;
  };
  /// Half a way whose latency is another than that of the half way of the send that stands for its own. Links of a level are alike.
  struct Detour {
    std::vector<int> sent, heard; ///< links
    std::vector<Topology::Level> levels;
  };
  struct Slot {
    int link;
    /// All who take it come in one order over the same link before, so that they take it in the order in which they were sent.
    bool inOrder = true;
    int player = -1, before = -1;
  };

  CollectiveKind collective = CollectiveKind::AllReduce;
  int groupRanks = 0, playing = 0, chunks = 1;
  bool near = false;
  std::vector<Op> ops;
  std::vector<Lane> lanes;
  std::vector<Slot> slots; ///< links that somebody uses who plays
  std::vector<int> heard;  ///< by send: its first listener; and one past the last
  std::vector<Listener> listeners;
  std::vector<Detour> detours; ///< of listeners; -1: none
  /// Of the last play. The next one, of another size, often has the same.
  mutable std::shared_ptr<const KindTape> tape;
  mutable bool lateHolds = true; ///< so far also with messages that are late
  mutable std::mutex mutex;
};

} // namespace braid::cost

#endif
