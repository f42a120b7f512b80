//===- Kinds.h - a collective played on one rank of each kind ----------------------------------------------------===//
//
// Most ranks of a collective do what others do, elsewhere: in a ring all of them, in a tree all that have as many
// children. Where machine and programs look the same to two ranks, they do the same things at the same times, and one of them is
// enough. So a few ranks are played under the link rule (Player.h), on their own links; a message from a rank that is not
// among them is sent when the rank of its kind sends that message:
//
//   ring, 1,024 ranks      rank 0 plays; what rank 1023 sends it in step s leaves when rank 0 sends in step s
//   binomial tree, 1,024   ranks 0, 512, 768, ..., 1023, one of each height; any other child of one of them sends when
//                          the one of these with as many children does
//
// Who is of whose kind:
//
//   symmetric   programs are turned into one another by a cyclic shift, by an exclusive or, or by a shift of hosts and one of the
//               members of all hosts (checked on samples). Machines of equal hosts and leaves are symmetric under shifts by
//               whole leaves; so one leaf's ranks play, on one switch one rank. The time is exact.
//   by shape    as many steps of the same kinds in the same order (trees, masters and workers, folded pairs); exact where ranks of
//               one shape have the same times, near it elsewhere
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_KINDS_H
#define BRAID_COST_MODELS_PRICING_KINDS_H

#include "braid/cost_models/Price.h"
#include "braid/cost_models/Topology.h"
#include <functional>

namespace braid::cost {

/// What one program of the ranks that play asks for: a message out, a message in, or an addition.
struct KindOp {
  enum Type : int { Send, Receive, Combine } type = Send;
  double part = 0; ///< of the buffer
  bool reduces = false;
  int target = 0; ///< rank, of a send
  // Of a receive: who plays the sender, and which of its sends it is.
  int player = -1;
  int lane = 0, index = 0;
  Topology::Path path; ///< of a send: this rank's; of a receive: the real sender's
};

struct KindRank {
  /// A receive that a send is heard by.
  struct Listener {
    int player, lane, op;
  };
  int rank = 0;
  std::vector<std::vector<std::vector<Listener>>> listeners; ///< by channel and send
  std::vector<std::vector<KindOp>> lanes;                    ///< by channel
};

class KindProgram {
public:
  /// Rank i of the group is on device `first` + i. Null: not made of kinds, or of too many.
  static std::unique_ptr<KindProgram> make(const algorithms::Algorithm &algorithm, CollectiveKind kind, int ranks,
                                           const algorithms::StepOptions &options, const Topology &topology, int first);

  /// `links`: of the topology, with changes or without. Empty: the ranks wait for each other (a kind was taken for another).
  std::optional<Seconds> play(Bytes operand, const std::vector<Topology::Link> &links, BytesPerSecond reduction) const;

  /// Of a buffer that need not be whole bytes.
  std::optional<Seconds> playSized(double buffer, const std::vector<Topology::Link> &links,
                                   BytesPerSecond reduction) const;

  int players() const { return int(ranks.size()); }
  int64_t messages() const; ///< sent by those who play
  std::string how;          ///< "one rank of each of 4 kinds"

private:
  CollectiveKind collective = CollectiveKind::AllReduce;
  int groupRanks = 0;
  std::vector<KindRank> ranks;
  friend class KindMaker;
};

} // namespace braid::cost

#endif
