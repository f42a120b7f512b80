//===- Draws.cpp - the draws of a fabric's profile --------------------------------------------------------------===//
//
// The formulas are in runtime/draws, which the emulated fabric shares: two searches that ask in different orders, on
// different threads, or a model and an emulation in different processes, see the same fabric.
//===------------------------------------------------------------------------------------------------------------===//
#include "fabrics/Draws.h"
#include <cmath>

namespace braid::cost {

draws::Noise FabricProfile::noise() const {
  draws::Noise n;
  n.latencyRebaseSigma = latencyRebaseSigma;
  n.latencySigma = latencySigma;
  n.bandwidthSigma = bandwidthSigma;
  n.flowSigma = flowSigma;
  n.slowFlows = slowFlows;
  n.slowFlowBandwidth = slowFlowBandwidth;
  n.flowsPerJob = flowsPerJob;
  n.collisionUplinks = collisionUplinks;
  n.collisionFlowsPerNic = collisionFlowsPerNic;
  n.spikeProbability = spikeProbability;
  n.spikeMinimum = spikeMinimum.value;
  n.spikeIndex = spikeIndex;
  n.pauseProbability = pauseProbability;
  n.pauseShortest = pauseShortest.value;
  n.pauseLongest = pauseLongest.value;
  n.bulkMean = bulkMean;
  n.bulkSigma = bulkSigma;
  n.correlation = correlation;
  return n;
}

double drawJobLatencyFactor(const FabricProfile &profile, uint64_t seed, uint64_t job) {
  return draws::jobLatencyFactor(profile.noise(), seed, job);
}

Seconds drawOperationSpike(const FabricProfile &profile, int nodes, const DrawPlace &place) {
  return {draws::operationSpike(profile.noise(), nodes, place)};
}

double operationSpikeCdf(const FabricProfile &p, int nodes, Seconds extra) {
  double spike = 0, pause = 0, s = extra.value; // P(one node's is longer)
  if (p.spikeProbability > 0)
    spike = p.spikeProbability * (s < p.spikeMinimum.value ? 1 : std::pow(p.spikeMinimum.value / s, p.spikeIndex));
  if (p.pauseProbability > 0) {
    double shortest = p.pauseShortest.value, longest = p.pauseLongest.value;
    double part = s <= shortest ? 0 : s >= longest ? 1 : std::log(s / shortest) / std::log(longest / shortest);
    pause = p.pauseProbability * (1 - part);
  }
  return s < 0 ? 0 : std::exp(nodes * (std::log1p(-spike) + std::log1p(-pause)));
}

Seconds drawMessageExcess(const FabricProfile &profile, Seconds baseLatency, const DrawPlace &place) {
  return {draws::messageExcess(profile.noise(), baseLatency.value, place)};
}

} // namespace braid::cost
