//===- Composed.h - an all_reduce run as a reduce_scatter and an all_gather -------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_COMPOSED_H
#define BRAID_COST_MODELS_PRICING_COMPOSED_H

#include "Engine.h"

namespace braid::cost {

/// Ranks in each group; 0 where groups differ in size, or there are fewer than two.
int uniformGroupSize(const RankGroups &groups, int everyone);

/// Bytes that an all_reduce of `spec` has as a reduce_scatter: those of so many elements that each of `ranks` gets as many.
Bytes paddedBytes(const CollectiveSpec &spec, int ranks);

/// The cheapest reduce_scatter of the engine with its all_gather by the same algorithm and protocol, one after the other.
std::optional<Candidate> composedAllReduce(const CollectiveSpec &spec, int ranks, EngineModel &engine);

} // namespace braid::cost

#endif
