//===- ExactBuckets.h - the best contiguous buckets of one channel ----------------------------------------------===//
#ifndef BRAID_COST_MODELS_SCHEDULE_EXACTBUCKETS_H
#define BRAID_COST_MODELS_SCHEDULE_EXACTBUCKETS_H

#include "braid/cost_models/Schedule.h"

namespace braid::cost {

/// setting: of one key; more would take seconds, and are left as they are.
constexpr int mostExactMembers = 2000;

/// For a given order of computation, the buckets of collectives that stand next to each other in order of readiness which end
/// the block first, if the channel served each key alone:
///
///     f(i) = min over j < i of max(f(j), ready(i)) + price(bytes of j+1 .. i),   f(0) = 0
///
/// f(i) is when the first i are through: an earlier end is never worse, so this is exact, in O(L^2) for L collectives.
/// (Facts on wait-free backpropagation: Shi et al., MG-WFBP, INFOCOM 2019, merge greedily under the same model.) What reads
/// the results is computed after them: among all buckets the ones that end first with the readers of each still to run are
/// found by bisection on the end. `runs` is the order of compute tasks. Keys that cannot be merged like this, because a
/// bucket would wait for itself, stay per tensor. Prices between asked sizes are interpolated.
std::vector<Bucket> exactBuckets(const Block &block, const std::vector<int> &runs, const Pricer &pricer);

} // namespace braid::cost

#endif
