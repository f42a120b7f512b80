//===- PricedClusters.h - small clusters for the tests of prices ------------------------------------------------===//
//
// Made in code, so that a test states every number it depends on.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_UNIT_PRICEDCLUSTERS_H
#define BRAID_TEST_UNIT_PRICEDCLUSTERS_H

#include "braid/cost_models/Price.h"
#include <numeric>
#include <stdexcept>

namespace braid::cost {

/// Hosts of GPUs with NVLink and one 400 Gb/s NIC each; no noise.
inline Cluster quietCluster(int hosts, int devicesPerHost) {
  Cluster c;
  c.name = "quiet";
  c.hosts = hosts;
  c.devicesPerHost = c.nicsPerHost = devicesPerHost;
  c.device.memoryBandwidth = {3.35e12};
  c.device.launch = microseconds(5);
  c.device.reduction = {1e12};
  c.intra.name = "nvlink";
  c.intra.bandwidth = {450e9};
  c.intra.latency = microseconds(0.5);
  c.inter.name = "nic";
  c.inter.bandwidth = {50e9};
  c.inter.latency = microseconds(1.3);
  c.hostLink.name = "pcie";
  c.hostLink.bandwidth = {64e9};
  c.topology = "rail_optimized";
  c.hostsPerLeaf = hosts;
  c.nccl.busBandwidthIntra = {360e9};
  c.nccl.busBandwidthInter = {45e9 * devicesPerHost};
  c.nccl.architecture = "hopper";
  c.nccl.cpu = "intel";
  c.nccl.channels = 2 * devicesPerHost;
  return c;
}

inline FabricProfile roceLike() {
  FabricProfile p;
  p.name = "roce";
  p.latencyRebaseSigma = 0.2;
  p.collisionUplinks = 16;
  p.spikeProbability = 3e-4;
  p.spikeMinimum = microseconds(30);
  p.pauseProbability = 2e-3;
  p.pauseShortest = microseconds(10);
  p.pauseLongest = microseconds(300);
  p.bulkMean = 0.3;
  return p;
}

inline Placement packed(const Cluster &cluster, int ranks = 0) {
  Placement p;
  p.deviceOf.resize(ranks ? ranks : cluster.ranks());
  std::iota(p.deviceOf.begin(), p.deviceOf.end(), 0);
  return p;
}

/// `count` groups; `strided`: rank r is in group r mod count, else in group r / (ranks / count).
inline std::shared_ptr<const RankGroups> groupsOf(int ranks, int count = 1, bool strided = false) {
  auto groups = std::make_shared<RankGroups>();
  groups->groups.resize(count);
  for (int r = 0; r < ranks; ++r)
    groups->groups[strided ? r % count : r / (ranks / count)].push_back(r);
  return groups;
}

inline CollectiveSpec specOf(CollectiveKind kind, int64_t bytes, std::shared_ptr<const RankGroups> groups,
                             int tensors = 1) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.bytes = {bytes};
  spec.tensors = tensors;
  spec.groups = std::move(groups);
  return spec;
}

inline const Candidate &candidateOf(const Pricer &pricer, const CollectiveSpec &spec, const std::string &algorithm,
                                    const std::string &protocol = "") {
  for (const Candidate &c : pricer.candidates(spec))
    if (c.algorithm == algorithm && (protocol.empty() || c.protocol == protocol))
      return c;
  throw std::runtime_error("no candidate " + algorithm + " " + protocol);
}

} // namespace braid::cost

#endif
