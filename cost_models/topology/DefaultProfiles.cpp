//===- DefaultProfiles.cpp - what a fabric's name stands for ----------------------------------------------------===//
//
// The name of a fabric picks these numbers and no more; a cluster file replaces any of them, and measured data beat the
// name (shared InfiniBand has tails too, and tuned RoCE can be quiet).
//
// InfiniBand: per-iteration times of small all_reduces on MareNostrum 5 (NDR) and Leonardo (HDR), raw data of
// HLC-Lab/pico: bulk CV of 2 to 8 %, lognormal excess with sigma 0.2 to 0.5; excess of more than 50 us with p = 1e-4 to
// 7e-4 per node and operation, median excess 28 to 93 us on 4 to 16 nodes, Hill index 1 to 4. Latency of one job
// against the next: two LUMI batches minutes apart differ by 25 %, three jobs on Leonardo by 6 %.
//
// RoCE: no public series of GPU collectives per iteration is known, so the profile is a prior: wider bulk (one leaf;
// 0.3 for several tiers under load), a pause by priority flow control of 10 to 300 us with p = 1e-3 to 5e-3 per node
// and operation, flows that collide on the links up of a leaf for as long as the job lives, and a default quantile of 0.95, since a plan for the median would ignore all of these.
//===------------------------------------------------------------------------------------------------------------===//
#include "topology/DefaultProfiles.h"

namespace braid::cost {

const std::vector<std::string> &fabricNames() {
  static const std::vector<std::string> names = {"infiniband", "roce", "nvlink", "pcie", "quiet"};
  return names;
}

std::optional<FabricProfile> defaultProfile(const std::string &fabric) {
  FabricProfile p;
  p.name = fabric;
  if (fabric == "quiet") // no noise at all: every quantile is the plain price
    return p;
  p.bulkSigma = 0.5;                 // source: HLC-Lab/pico, sigma of the lognormal excess 0.2 to 0.5
  p.spikeIndex = 2;                  // source: HLC-Lab/pico, Hill index 1 to 4 on InfiniBand
  p.spikeMinimum = microseconds(30); // source: HLC-Lab/pico, median excess of spikes 28 to 93 us
  if (fabric == "infiniband") {
    p.bulkMean = 0.05;           // source: HLC-Lab/pico, bulk CV of 2 to 8 %
    p.spikeProbability = 3e-4;   // source: HLC-Lab/pico, 1e-4 to 7e-4 per node and operation
    p.latencyRebaseSigma = 0.05; // source: HLC-Lab/pico, three jobs on Leonardo within 6 %
    return p;
  }
  if (fabric == "roce") {
    p.bulkMean = 0.15;                  // assumption: three times InfiniBand's, one leaf
    p.spikeProbability = 3e-4;          // assumption: spikes are the hosts', so InfiniBand's
    p.pauseProbability = 2e-3;          // assumption: between 1e-3 and 5e-3
    p.pauseShortest = microseconds(10); // assumption: a few pause quanta in a row
    p.pauseLongest = microseconds(300); // assumption: a burst of pauses
    p.latencyRebaseSigma = 0.15;        // assumption: jobs differ three times as much as on InfiniBand
    p.defaultQuantile = 0.95;           // assumption: a plan for the median would ignore all of these
    p.collisionUplinks =
        FabricProfile::uplinksOfTopology; // assumption: flow by flow, as Ethernet switches hash by default
    return p;
  }
  if (fabric == "nvlink" || fabric == "pcie") {
    p.bulkMean = 0.02;         // assumption: less than any network's
    p.spikeProbability = 1e-4; // assumption: the low end of what is seen between hosts
    return p;
  }
  return std::nullopt;
}

std::string defaultProfileReason(const std::string &fabric) {
  if (fabric == "infiniband")
    return "default profile of InfiniBand: a prior from per-iteration times on two shared clusters, not of this one";
  if (fabric == "roce")
    return "default profile of RoCE: a guess, no public per-iteration series of GPU collectives on RoCE is known";
  if (fabric == "nvlink" || fabric == "pcie")
    return "default profile inside a host: a guess, the low end of the spikes per operation seen between hosts";
  return "no noise";
}

} // namespace braid::cost
