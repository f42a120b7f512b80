//===- Connections.h - how many connections carry a flow where nobody knows the switches' hash --------------------===//
#ifndef BRAID_COST_MODELS_PRICING_CONNECTIONS_H
#define BRAID_COST_MODELS_PRICING_CONNECTIONS_H

#include "braid/cost_models/Price.h"

namespace braid::cost {

/// Asks for more connections than the profile's, by powers of two up to its `most_queue_pairs`, where the collisions that they save
/// in a job at the profile's default quantile are worth more than what each of them costs (`queue_pair_cost`).
void chooseConnections(Candidate &candidate, const FabricProfile &profile, const HashedUplinks &up);

} // namespace braid::cost

#endif
