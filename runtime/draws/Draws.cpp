//===- Draws.cpp - random numbers that are functions of their place ---------------------------------------------===//
//
// The hash is splitmix64's finalizer (Steele, Lea and Flood, OOPSLA 2014) after each field. The shapes (a tight lognormal bulk,
// a rare spike with a Pareto tail per node and operation, and for RoCE a pause) and their default parameters are argued in the
// cluster files and in cost_models/topology/DefaultProfiles.cpp; here are only the draws.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/draws/Draws.h"
#include <algorithm>
#include <cmath>

namespace braid::draws {

uint64_t mix(uint64_t hash, uint64_t field) {
  uint64_t z = hash + 0x9e3779b97f4a7c15ull + field * 0xd1342543de82ef95ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// Sampling asks for several quantities of one operation, and for one operation after another of one step: what their places have in
/// common is hashed once.
uint64_t bits(const Place &place) {
  struct Last {
    bool known;
    uint64_t seed, job, step, ofStep;
    uint64_t operation, where, message, ofMessage;
  };
  static thread_local Last last; // zero: not known
  bool sameStep = last.known && last.seed == place.seed && last.job == place.job && last.step == place.step;
  if (!sameStep)
    last.ofStep = mix(mix(mix(0, place.seed), place.job), place.step);
  if (!sameStep || last.operation != place.operation || last.where != place.where || last.message != place.message) {
    last.ofMessage = mix(mix(mix(last.ofStep, place.operation), place.where), place.message);
    last = {true,        place.seed,    place.job,     place.step, last.ofStep, place.operation,
            place.where, place.message, last.ofMessage};
  }
  return mix(last.ofMessage, place.purpose);
}

double uniform(const Place &place) {
  return (double(bits(place) >> 11) + 0.5) * 0x1p-53; // the half keeps it off 0 and 1
}

/// Quantile of the standard normal distribution: algorithm AS 241, PPND16 (Wichura, Applied Statistics 37, 1988), relative
/// error about 1e-16.
static double normalQuantile(double p) {
  auto ratio = [](double r, const double (&a)[8], const double (&b)[8]) {
    double top = a[7], bottom = b[7];
    for (int i = 6; i >= 0; --i) {
      top = top * r + a[i];
      bottom = bottom * r + b[i];
    }
    return top / bottom;
  };
  static const double a[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                              1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                              3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static const double b[8] = {1,
                              4.2313330701600911252e+1,
                              6.8718700749205790830e+2,
                              5.3941960214247511077e+3,
                              2.1213794301586595867e+4,
                              3.9307895800092710610e+4,
                              2.8729085735721942674e+4,
                              5.2264952788528545610e+3};
  static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                              3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                              2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static const double d[8] = {1,
                              2.05319162663775882187e0,
                              1.67638483018380384940e0,
                              6.89767334985100004550e-1,
                              1.48103976427480074590e-1,
                              1.51986665636164571966e-2,
                              5.47593808499534494600e-4,
                              1.05075007164441684324e-9};
  static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                              2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                              2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static const double f[8] = {1,
                              5.99832206555887937690e-1,
                              1.36929880922735805310e-1,
                              1.48753612908506148525e-2,
                              7.86869131145613259100e-4,
                              1.84631831751005468180e-5,
                              1.42151175831644588870e-7,
                              2.04426310338993978564e-15};
  double q = p - 0.5;
  if (std::abs(q) <= 0.425)
    return q * ratio(0.180625 - q * q, a, b);
  double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  double z = r <= 5 ? ratio(r - 1.6, c, d) : ratio(r - 5, e, f);
  return q < 0 ? -z : z;
}

double normal(const Place &place) { return normalQuantile(uniform(place)); }

double lognormalWithMeanOne(double sigma, const Place &place) {
  return sigma == 0 ? 1 : std::exp(sigma * normal(place) - sigma * sigma / 2);
}

double jobLatencyFactor(const Noise &noise, uint64_t seed, uint64_t job) {
  Place place;
  place.seed = seed;
  place.job = job;
  place.purpose = purpose::jobLatency;
  return lognormalWithMeanOne(noise.latencyRebaseSigma, place);
}

/// Consecutive operations share their noise: operation k takes over the draw of operation k - 1 with probability
/// `correlation`, which leaves the distribution of each operation as it is. Returns the operation whose draw k uses.
static uint64_t sharedOperation(double correlation, Place place) {
  if (correlation >= 1)
    return 0;
  place.where = place.message = 0;
  place.purpose = purpose::share;
  while (correlation > 0 && place.operation > 0 && uniform(place) < correlation)
    --place.operation;
  return place.operation;
}

double operationSpike(const Noise &noise, int nodes, const Place &at) {
  if (nodes < 1 || (noise.spikeProbability <= 0 && noise.pauseProbability <= 0))
    return 0;
  Place place = at;
  place.operation = sharedOperation(noise.correlation, at);
  // The largest of `nodes` equal and independent draws needs one uniform number u: with F the distribution of one
  // node's excess, P(max <= x) = F(x)^nodes. `tail` is 1 - u^(1/nodes), the probability that one node exceeds the
  // maximum drawn.
  // Mostly it is above what is asked for, which u tells at once: (1 - p)^nodes >= 1 - nodes p.
  auto tail = [&](uint64_t purpose, double probability) {
    place.purpose = purpose;
    double u = uniform(place);
    return u <= 1 - nodes * probability ? 1 : -std::expm1(std::log(u) / nodes);
  };
  double largest = 0;
  if (noise.spikeProbability > 0) {
    double t = tail(purpose::spike, noise.spikeProbability);
    if (t < noise.spikeProbability)
      largest = noise.spikeMinimum * std::pow(noise.spikeProbability / t, 1 / noise.spikeIndex);
  }
  if (noise.pauseProbability > 0) {
    double t = tail(purpose::pause, noise.pauseProbability);
    if (t < noise.pauseProbability) { // log-uniform between the shortest and the longest
      double ratio = noise.pauseLongest / noise.pauseShortest;
      largest = std::max(largest, noise.pauseShortest * std::pow(ratio, 1 - t / noise.pauseProbability));
    }
  }
  return largest;
}

/// Of the whole operation: the same for all its messages.
static double operationFactor(double sigma, double correlation, uint64_t purpose, const Place &at) {
  if (sigma == 0)
    return 1;
  Place place = at;
  place.operation = sharedOperation(correlation, at);
  place.where = place.message = 0;
  place.purpose = purpose;
  return lognormalWithMeanOne(sigma, place);
}

double latencyFactor(const Noise &noise, const Place &at) {
  return operationFactor(noise.latencySigma, noise.correlation, purpose::operationLatency, at);
}

double operationTransferFactor(const Noise &noise, const Place &at) {
  return operationFactor(noise.bandwidthSigma, noise.correlation, purpose::operationBandwidth, at);
}

Place placeOfFlows(const Noise &noise, const Place &at) {
  Place place = at;
  if (noise.flowsPerJob)
    place.step = place.operation = 0;
  else
    place.operation = sharedOperation(noise.correlation, at);
  return place;
}

double flowTransferFactor(const Noise &noise, const Place &at) {
  if (noise.flowSigma == 0 && noise.slowFlows == 0)
    return 1;
  Place place = placeOfFlows(noise, at);
  int parts = std::max(1, noise.collisionFlowsPerNic);
  double sum = 0;
  for (int part = 0; part < parts; ++part) {
    place.message = uint64_t(part);
    place.purpose = purpose::flowBandwidth;
    double factor = lognormalWithMeanOne(noise.flowSigma, place);
    place.purpose = purpose::slowFlow;
    sum += uniform(place) < noise.slowFlows ? factor / noise.slowFlowBandwidth : factor;
  }
  return sum / parts;
}

double transferFactor(const Noise &noise, const Place &place) {
  return operationTransferFactor(noise, place) * flowTransferFactor(noise, place);
}

double messageExcess(const Noise &noise, double baseLatency, const Place &at) {
  if (noise.bulkMean == 0)
    return 0;
  Place place = at;
  place.purpose = purpose::bulk;
  return baseLatency * (noise.bulkMean * lognormalWithMeanOne(noise.bulkSigma, place));
}

double computeFactor(double perJob, double perStep, const Place &at) {
  Place place = at;
  place.operation = place.message = 0;
  place.purpose = purpose::computeStep;
  double ofStep = lognormalWithMeanOne(perStep, place);
  place.step = 0;
  place.purpose = purpose::computeJob;
  return lognormalWithMeanOne(perJob, place) * ofStep;
}

int uplink(int uplinks, uint64_t flow, uint64_t part, uint64_t seed, uint64_t job) {
  Place place;
  place.seed = seed;
  place.job = job;
  place.purpose = purpose::jobCollision;
  uint64_t hashed = mix(bits(place), flow << 32 | part);
  return int((unsigned __int128)(hashed) * unsigned(uplinks) >> 64);
}

} // namespace braid::draws
