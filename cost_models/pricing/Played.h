//===- Played.h - a collective's step programs on a cluster -----------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_PLAYED_H
#define BRAID_COST_MODELS_PRICING_PLAYED_H

#include "FlowNoise.h"
#include "GroupShape.h"
#include "Player.h"

namespace braid::cost {

/// (from, to) -> part of the sender's buffer.
using FlowRound = std::map<std::pair<int, int>, double>;

/// The step programs of all groups of a collective, ready to be played at any size.
class PlayedCollective {
public:
  /// The hosts of each group are taken from the placement, as the runtime takes them from where its ranks are.
  PlayedCollective(const algorithms::Algorithm &algorithm, CollectiveKind kind, const RankGroups &groups,
                   const algorithms::StepOptions &options, const Topology &topology, const Placement &placement);
  PlayedCollective(const PlayedCollective &) = delete;

  /// `bytes`: operand of each rank.
  Result<Seconds> play(Bytes bytes, const PlayedNetwork &network, PlayOptions options) const;
  /// What crosses spines, from the messages of the programs.
  UplinkFlows uplinks(const PlayedNetwork &network) const;
  /// Vertices of the helpers, which are the ranks after the job's; for PlayedNetwork.
  const std::vector<int> &helpers() const { return helperVertices; }
  /// Which ranks send to each other at once, and which part of their buffers: rounds of logical time, in which a message takes
  /// one round. Rounds of the same pairs are one. Only what goes from host to host.
  std::vector<FlowRound> rounds(const PlayedNetwork &network) const;
  /// How the bytes between hosts, or inside them, are dealt over flows.
  FlowSpread spread(const PlayedNetwork &network, bool between) const;
  int ranks() const { return size; }                      ///< of the largest group
  int64_t messages() const;                               ///< of all groups
  int64_t serialMessages() const { return longestChain; } ///< longest chain of dependent messages

private:
  int size = 0, segments = 1;
  int64_t longestChain = 0;
  std::vector<std::vector<int>> groups; ///< with their helpers
  std::vector<int> helperVertices;
  std::vector<PlayedRank> programs; ///< by rank; ranks in no group have no steps
};

/// Messages later by the draws of the cluster's profiles at this place. Keeps references.
void addMessageNoise(PlayOptions &options, const DrawPlace &at, const Topology &topology, const Placement &placement);
/// And transfers longer.
void addNoise(PlayOptions &options, const DrawPlace &at, const Topology &topology, const Placement &placement);

} // namespace braid::cost

#endif
