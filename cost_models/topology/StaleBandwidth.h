//===- StaleBandwidth.h - NCCL's bandwidth between hosts, left behind by a change of the NICs -------------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_STALEBANDWIDTH_H
#define BRAID_COST_MODELS_TOPOLOGY_STALEBANDWIDTH_H

#include "braid/cost_models/Cluster.h"
#include "topology/YamlSection.h"

namespace braid::cost {

/// nccl.bus_bandwidth_inter goes with the NICs. Where it is inherited and a file above says other NICs, a sentence that names
/// both places; else empty. Other NICs: a value of a file below is replaced, or the NICs carry less than it, or
/// far more.
std::string staleBandwidth(const std::vector<PlacedNode> &layers, const Cluster &cluster);

/// A bus bandwidth between hosts that the NICs of the host that has most can't carry, with the place of the key and theirs; else
/// empty. A measured one may be: two hosts exchange halves, trees and switches that add send less than a ring.
std::string unreachableBandwidth(const std::vector<PlacedNode> &layers, const Cluster &cluster);

} // namespace braid::cost

#endif
