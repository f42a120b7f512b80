//===- Player.h - step programs as events on links --------------------------------------------------------------===//
//
// The link rule: a message takes its links in order, cut-through; on each it starts when the link direction is free (arrival
// order, ties by rank) and it has started on the one before (plus that link's latency), and holds it bytes / bandwidth.
//
//   link 1   |==== message ====|                      holds the link bytes / bandwidth
//   link 2      |==== message ====|                   starts one latency later, or when the link is free
//   target                         * delivered        the tail has left every link and travelled the rest of the way
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_PLAYER_H
#define BRAID_COST_MODELS_PRICING_PLAYER_H

#include "braid/cost_models/Price.h"
#include <functional>

namespace braid::cost {

/// What the player needs to know of the machine.
struct PlayedNetwork {
  struct Link { // one direction
    BytesPerSecond bandwidth;
    Seconds latency;
  };
  struct Path {
    std::vector<int> links;
    bool crossesHosts = false;
  };
  std::vector<Link> links;
  std::vector<Path> paths;
  std::vector<int> pathOf; ///< of a pair of ranks (source * ranks + target), an index into `paths`; -1: none yet
  int ranks = 0;
};

/// The steps of one rank, with the ranks that its peers are.
struct PlayedRank {
  const std::vector<int> *group = nullptr; ///< index in the group -> rank
  algorithms::StepProgram program;
};

struct PlayOptions {
  Bytes buffer;                 ///< of each rank; the chunks divide it exactly
  BytesPerSecond reduction{0};  ///< 0: reductions take no time
  /// Excess of a message's delivery over the network's time; null: none.
  std::function<Seconds(int source, uint64_t message, const PlayedNetwork::Path &path)> excess;
};

/// Time until every rank has finished, or an error: a receive that no message ever comes for.
Result<Seconds> playPrograms(const std::vector<PlayedRank> &ranks, const PlayedNetwork &network, const PlayOptions &options);

} // namespace braid::cost

#endif
