//===- ClusterHash.h - a hash of what a cluster file means ------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_CLUSTERHASH_H
#define BRAID_COST_MODELS_TOPOLOGY_CLUSTERHASH_H

#include "braid/cost_models/Cluster.h"

namespace braid::cost {

/// 16 hexadecimal digits, FNV-1a over all fields that can change a price. Names, the path, comments, sources and
/// assumptions do not count, nor does how a quantity was written.
std::string hashOf(const Cluster &cluster);

} // namespace braid::cost

#endif
