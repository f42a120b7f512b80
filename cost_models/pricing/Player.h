//===- Player.h - step programs as events on links --------------------------------------------------------------===//
//
// The link rule: a message takes its links in order, cut-through; on each it starts when the link direction is free
// (arrival order; of those that arrive in one tick (Ticks.h), by the sender's place in the group, then by group, then as they were
// sent) and it has started on the one before (plus that link's latency), and holds it bytes /
// bandwidth.
//
//   link 1   |==== message ====|                      holds the link bytes / bandwidth
//   link 2      |==== message ====|                   starts one latency later, or when the link is free
//   target                         * delivered        the tail has left every link and travelled the rest of the way
//
// Where the cluster file says `contention: off`, each rank has links of its own: its messages wait for each other, not for those of
// other ranks.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_PLAYER_H
#define BRAID_COST_MODELS_PRICING_PLAYER_H

#include "braid/cost_models/Price.h"
#include "braid/cost_models/Topology.h"
#include <functional>
#include <map>

namespace braid::cost {

/// The machine: paths from the topology, links as its links or with changes, and where the ranks are.
struct PlayedNetwork {
  PlayedNetwork(const Topology &topology, const Placement &placement)
      : PlayedNetwork(topology, placement, topology.links()) {}
  PlayedNetwork(const Topology &topology, const Placement &placement, std::vector<Topology::Link> links)
      : topology(topology), links(std::move(links)), deviceOf(placement.deviceOf) {}
  const Topology &topology;
  std::vector<Topology::Link> links;
  std::vector<int> deviceOf; ///< of a rank
  /// The way from rank to rank, where it is not the topology's.
  std::function<Topology::Path(int from, int to)> route;
  /// Ways of the messages between ranks, where a plan has chosen them: a message is dealt over them in equal parts.
  std::shared_ptr<const std::map<std::pair<int, int>, std::vector<Topology::Path>>> chosen;
  std::vector<int> helpers; ///< vertices of the ranks beside the job: switches that reduce

  Topology::Path path(int from, int to) const;
  /// Those of the equal parts of a message.
  std::vector<Topology::Path> paths(int from, int to) const;
  /// Whether messages may have several parts.
  bool deals() const { return !route && (chosen || topology.dealsMessages()); }

private:
  mutable std::map<std::pair<int, int>, Topology::Path> ways; ///< to and from helpers, found once
};

/// The steps of one rank, with the ranks that its peers are.
struct PlayedRank {
  const std::vector<int> *group = nullptr; ///< index in the group -> rank
  algorithms::StepProgram program;
  bool isSwitch = false; ///< it reduces as fast as its links are
  /// Who is first of those that arrive at once: the place in the group, not the name, so that names don't matter.
  int turn = 0;
  int place = 0;               ///< in the group
  BytesPerSecond reduction{0}; ///< of its kind of device; 0: as PlayOptions says
};

struct PlayOptions {
  Bytes operand; ///< of each rank; the chunks divide the buffer exactly
  /// Of ragged programs: bytes from each place of the group to each, row by row; the channels divide them exactly.
  const std::vector<int64_t> *counts = nullptr;
  BytesPerSecond reduction{0}; ///< 0: reductions take no time
  /// How much later than by the network alone a message is delivered; null: not at all. `message` counts those of a
  /// lane.
  std::function<Seconds(int source, int target, uint64_t message)> excess;
  /// Factor on bytes / bandwidth of the messages from one rank to another; null: 1.
  std::function<double(int source, int target)> transfer;
  const std::vector<double> *begins = nullptr; ///< when each rank begins, in seconds from 0; null: at 0
  std::vector<double> *ends = nullptr;         ///< to be filled: when each rank has finished
};

/// Time until every rank has finished, or an error: a receive that no message ever comes for.
Result<Seconds> playPrograms(const std::vector<PlayedRank> &ranks, const PlayedNetwork &network,
                             const PlayOptions &options);

} // namespace braid::cost

#endif
