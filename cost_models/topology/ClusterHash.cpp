//===- ClusterHash.cpp - a hash of what a cluster file means ----------------------------------------------------===//
//
// The fields are written as text in a fixed order, each with its key, so that no two fields can be taken for each other
// and the hash does not depend on the machine.
//===------------------------------------------------------------------------------------------------------------===//
#include "topology/ClusterHash.h"
#include <cstdio>

namespace braid::cost {

namespace {

class Canonical {
public:
  void add(const std::string &key, double value) {
    char number[40];
    std::snprintf(number, sizeof number, "%.17g", value == 0 ? 0.0 : value); // no -0
    add(key, std::string(number));
  }
  void add(const std::string &key, const std::string &value) { text += key + "=" + value + "\n"; }

  std::string hash() const {
    uint64_t h = 0xcbf29ce484222325ull;
    for (unsigned char c : text)
      h = (h ^ c) * 0x100000001b3ull;
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", (unsigned long long)h);
    return digits;
  }

private:
  std::string text;
};

void addProfile(Canonical &out, const std::string &prefix, const FabricProfile &p) {
  out.add(prefix + "rebase", p.latencyRebaseSigma);
  out.add(prefix + "uplinks", p.collisionUplinks);
  out.add(prefix + "flows", p.collisionFlowsPerNic);
  out.add(prefix + "spike", p.spikeProbability);
  out.add(prefix + "spike_minimum", p.spikeMinimum.value);
  out.add(prefix + "spike_index", p.spikeIndex);
  out.add(prefix + "pause", p.pauseProbability);
  out.add(prefix + "pause_shortest", p.pauseShortest.value);
  out.add(prefix + "pause_longest", p.pauseLongest.value);
  out.add(prefix + "bulk_mean", p.bulkMean);
  out.add(prefix + "bulk_sigma", p.bulkSigma);
  out.add(prefix + "correlation", p.correlation);
  out.add(prefix + "quantile", p.defaultQuantile);
}

void addLink(Canonical &out, const std::string &prefix, const LinkClass &link) {
  out.add(prefix + "bandwidth", link.bandwidth.value);
  out.add(prefix + "latency", link.latency.value);
  addProfile(out, prefix + "profile.", link.profile);
}

} // namespace

std::string hashOf(const Cluster &c) {
  Canonical out;
  out.add("hosts", c.hosts);
  out.add("devices_per_host", c.devicesPerHost);
  out.add("nics_per_host", c.nicsPerHost);
  for (const auto &[type, rate] : c.device.peak)
    out.add("device.peak." + type, rate.value);
  out.add("device.f32_dot", c.device.f32Dot);
  out.add("device.matmul_efficiency", c.device.matmulEfficiency);
  out.add("device.memory_bandwidth", c.device.memoryBandwidth.value);
  out.add("device.memory_efficiency", c.device.memoryEfficiency);
  out.add("device.memory", double(c.device.memory.value));
  out.add("device.launch", c.device.launch.value);
  out.add("device.reduction", c.device.reduction.value);
  addLink(out, "intra.", c.intra);
  addLink(out, "inter.", c.inter);
  addLink(out, "host_link.", c.hostLink);
  // The name of the link inside a host says whether it is NVLink, and NCCL's model asks for that.
  out.add("intra.name", c.intra.name);
  out.add("intra.fabric", c.intra.profile.name);
  out.add("topology", c.topology);
  out.add("oversubscription", c.oversubscription);
  out.add("hosts_per_leaf", c.hostsPerLeaf);
  out.add("spine_latency", c.spineLatency.value);
  out.add("nccl.bus_bandwidth_intra", c.nccl.busBandwidthIntra.value);
  out.add("nccl.bus_bandwidth_inter", c.nccl.busBandwidthInter.value);
  out.add("nccl.architecture", c.nccl.architecture);
  out.add("nccl.cpu", c.nccl.cpu);
  out.add("nccl.channels", c.nccl.channels);
  return out.hash();
}

} // namespace braid::cost
