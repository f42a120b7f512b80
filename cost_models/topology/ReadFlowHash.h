//===- ReadFlowHash.h - the keys of a cluster file that say how switches hash -------------------------------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_READFLOWHASH_H
#define BRAID_COST_MODELS_TOPOLOGY_READFLOWHASH_H

#include "braid/cost_models/Cluster.h"
#include "topology/YamlSection.h"

namespace braid::cost {

/// Of section topology, whose routing and hosts were read. Throws ReadError.
void readFlowHash(YamlSection &section, Cluster &cluster);

} // namespace braid::cost

#endif
