//===- Packings.h - trees packed for the links of a cluster -----------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_PACKINGS_H
#define BRAID_COST_MODELS_PRICING_PACKINGS_H

#include "braid/cost_models/Price.h"
#include "braid/cost_models/Topology.h"
#include "braid/runtime/algorithms/PackedTrees.h"

namespace braid::cost {

/// Empty: trees are packed for groups of so many ranks. Else why not: fixed patterns use all of a switch, so that only graphs of direct
/// links are worth it (key intra.links), for one group whose plan is made in a moment.
std::string whyNoPacking(const Cluster &cluster, const RankGroups &groups, int ranks);

/// The links that messages between these devices take, the devices as ranks.
algorithms::FabricGraph graphOf(const Topology &topology, const std::vector<int> &devices);

/// Packings of one job, made once each.
class Packings {
public:
  /// Planned for blocks of at least the asked size, by powers of four, so that neighbouring sizes share a plan.
  std::shared_ptr<const algorithms::Packing> of(const Topology &topology, const Placement &placement,
                                                const RankGroups &groups, CollectiveKind kind, Bytes bytes);

private:
  std::map<std::pair<std::vector<int>, int64_t>, std::shared_ptr<const algorithms::Packing>> made; ///< devices, block
};

} // namespace braid::cost

#endif
