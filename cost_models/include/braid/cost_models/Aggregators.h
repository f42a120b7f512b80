//===- Aggregators.h - the switches that reduce, as ranks beside the group --------------------------------------===//
#ifndef BRAID_COST_MODELS_AGGREGATORS_H
#define BRAID_COST_MODELS_AGGREGATORS_H

#include "braid/cost_models/Topology.h"

namespace braid::cost {

/// What a cluster's switches do for a group of ranks (runtime/algorithms/InNetwork.cpp).
struct Aggregators {
  std::vector<int> switchOf; ///< of each rank of the group, numbers from 0 on
  std::vector<int> vertices; ///< of each switch; then, if there are several, of the one above them
};

/// Those of a group of devices, or an error that says why there are none: the cluster file does not grant them, or not for these
/// devices (those of a host serve only ranks of one host).
Result<Aggregators> aggregatorsOf(const Topology &topology, const std::vector<int> &devices);

/// The links of the shortest way between two vertices, by search.
Topology::Path wayBetween(const Topology &topology, int fromVertex, int toVertex);

} // namespace braid::cost

#endif
