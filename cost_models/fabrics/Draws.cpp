//===- Draws.cpp - every draw is a function of its place --------------------------------------------------------===//
//
// A draw hashes the fields of its place (seed, job, step, operation, node or link, message, purpose), so two searches
// that ask in different orders, or on different threads, see the same fabric. The hash is splitmix64's finalizer
// (Steele, Lea and Flood, OOPSLA 2014) after each field.
//
// The shapes (a tight lognormal bulk, a rare spike with a Pareto tail per node and operation, and for RoCE a pause of
// 10 to 300 us) and their default parameters are argued in the cluster files; here are only the draws.
//===------------------------------------------------------------------------------------------------------------===//
#include "fabrics/Draws.h"
#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>

namespace braid::cost {

uint64_t mix(uint64_t hash, uint64_t field) {
  uint64_t z = hash + 0x9e3779b97f4a7c15ull + field * 0xd1342543de82ef95ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

uint64_t drawBits(const DrawPlace &place) {
  uint64_t hash = mix(0, place.seed);
  for (uint64_t field : {place.job, place.step, place.operation, place.where, place.message, place.purpose})
    hash = mix(hash, field);
  return hash;
}

double uniform(const DrawPlace &place) {
  return (double(drawBits(place) >> 11) + 0.5) * 0x1p-53; // the half keeps it off 0 and 1
}

double normal(const DrawPlace &place) {
  // Without promotion to long double: 53 random bits need no more.
  using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
  return -M_SQRT2 * boost::math::erfc_inv(2 * uniform(place), Policy());
}

double lognormalWithMeanOne(double sigma, const DrawPlace &place) {
  return sigma == 0 ? 1 : std::exp(sigma * normal(place) - sigma * sigma / 2);
}

double drawJobLatencyFactor(const FabricProfile &profile, uint64_t seed, uint64_t job) {
  DrawPlace place;
  place.seed = seed;
  place.job = job;
  place.purpose = purpose::jobLatency;
  return lognormalWithMeanOne(profile.latencyRebaseSigma, place);
}

/// Consecutive operations share their noise: operation k takes over the draw of operation k - 1 with probability
/// `correlation`, which leaves the distribution of each operation as it is. Returns the operation whose draw k uses.
static uint64_t sharedOperation(double correlation, DrawPlace place) {
  if (correlation >= 1)
    return 0;
  place.where = place.message = 0;
  place.purpose = purpose::share;
  while (correlation > 0 && place.operation > 0 && uniform(place) < correlation)
    --place.operation;
  return place.operation;
}

Seconds drawOperationSpike(const FabricProfile &profile, int nodes, const DrawPlace &at) {
  if (nodes < 1 || (profile.spikeProbability <= 0 && profile.pauseProbability <= 0))
    return {};
  DrawPlace place = at;
  place.operation = sharedOperation(profile.correlation, at);
  // The largest of `nodes` equal and independent draws needs one uniform number u: with F the distribution of one
  // node's excess, P(max <= x) = F(x)^nodes. `tail` is 1 - u^(1/nodes), the probability that one node exceeds the
  // maximum drawn.
  auto tail = [&](uint64_t purpose) {
    place.purpose = purpose;
    return -std::expm1(std::log(uniform(place)) / nodes);
  };
  double largest = 0;
  if (profile.spikeProbability > 0) {
    double t = tail(purpose::spike);
    if (t < profile.spikeProbability)
      largest = profile.spikeMinimum.value * std::pow(profile.spikeProbability / t, 1 / profile.spikeIndex);
  }
  if (profile.pauseProbability > 0) {
    double t = tail(purpose::pause);
    if (t < profile.pauseProbability) { // log-uniform between the shortest and the longest
      double ratio = profile.pauseLongest.value / profile.pauseShortest.value;
      largest = std::max(largest, profile.pauseShortest.value * std::pow(ratio, 1 - t / profile.pauseProbability));
    }
  }
  return {largest};
}

Seconds drawMessageExcess(const FabricProfile &profile, Seconds baseLatency, const DrawPlace &at) {
  if (profile.bulkMean == 0)
    return {};
  DrawPlace place = at;
  place.purpose = purpose::bulk;
  return baseLatency * (profile.bulkMean * lognormalWithMeanOne(profile.bulkSigma, place));
}

} // namespace braid::cost
