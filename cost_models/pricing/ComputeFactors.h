//===- ComputeFactors.h - how ranks' computation differs ----------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_COMPUTEFACTORS_H
#define BRAID_COST_MODELS_PRICING_COMPUTEFACTORS_H

#include "braid/cost_models/Cluster.h"
#include <map>
#include <mutex>
#include <tuple>

namespace braid::cost {

/// Factors on the time that the ranks of a job compute, which are functions of (seed, job, step). Both outlive it.
class ComputeFactors {
public:
  ComputeFactors(const ComputeNoise &noise, const Placement &placement) : noise(noise), placement(placement) {}

  double of(int rank, uint64_t seed, uint64_t job, uint64_t step) const;
  /// The largest; kept, as a search samples one step of one job thousands of times.
  double slowest(uint64_t seed, uint64_t job, uint64_t step);

private:
  double draw(uint64_t seed, uint64_t job, uint64_t step) const;

  const ComputeNoise &noise;
  const Placement &placement;
  std::mutex mutex;
  std::map<std::tuple<uint64_t, uint64_t, uint64_t>, double> kept;
};

} // namespace braid::cost

#endif
