//===- Draws.cpp - the draws of a fabric's profile --------------------------------------------------------------===//
//
// The formulas are in runtime/draws, which the emulated fabric shares: two searches that ask in different orders, on
// different threads, or a model and an emulation in different processes, see the same fabric.
//===------------------------------------------------------------------------------------------------------------===//
#include "fabrics/Draws.h"

namespace braid::cost {

draws::Noise FabricProfile::noise() const {
  draws::Noise n;
  n.latencyRebaseSigma = latencyRebaseSigma;
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

Seconds drawMessageExcess(const FabricProfile &profile, Seconds baseLatency, const DrawPlace &place) {
  return {draws::messageExcess(profile.noise(), baseLatency.value, place)};
}

} // namespace braid::cost
