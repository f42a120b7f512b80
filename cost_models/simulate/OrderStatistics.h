//===- OrderStatistics.h - quantiles of samples --------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SIMULATE_ORDERSTATISTICS_H
#define BRAID_COST_MODELS_SIMULATE_ORDERSTATISTICS_H

#include "braid/cost_models/Schedule.h"

namespace braid::cost {

/// Linear interpolation between order statistics; `sorted` is not empty.
inline double quantileOf(const std::vector<double> &sorted, double q) {
  double place = q * double(sorted.size() - 1);
  size_t below = size_t(place);
  if (below + 1 >= sorted.size())
    return sorted.back();
  return sorted[below] + (place - double(below)) * (sorted[below + 1] - sorted[below]);
}

/// Whether nothing is drawn: every quantile is the time without noise.
inline bool isDeterministic(const Pricer &pricer, const SampleOptions &options) {
  const Cluster &cluster = pricer.cluster();
  return cluster.intra.profile.deterministic() && cluster.inter.profile.deterministic() &&
         !(options.skewed && cluster.compute.skewed());
}

} // namespace braid::cost

#endif
