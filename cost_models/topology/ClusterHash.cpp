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
  if (p.mostFlowsPerNic > 0) {
    out.add(prefix + "most_flows", p.mostFlowsPerNic);
    out.add(prefix + "flow_cost", p.flowCost.value);
  }
  if (p.adaptiveRouting)
    out.add(prefix + "adaptive", 1);
  if (p.latencySigma != 0)
    out.add(prefix + "latency_sigma", p.latencySigma);
  if (p.bandwidthSigma != 0)
    out.add(prefix + "bandwidth_sigma", p.bandwidthSigma);
  if (p.flowsVary()) {
    out.add(prefix + "flow_sigma", p.flowSigma);
    out.add(prefix + "slow_flows", p.slowFlows);
    out.add(prefix + "slow_flow_bandwidth", p.slowFlowBandwidth);
    out.add(prefix + "flows_per_job", p.flowsPerJob);
  }
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

void addDevice(Canonical &out, const std::string &prefix, const Device &device) {
  for (const auto &[type, rate] : device.peak)
    out.add(prefix + "peak." + type, rate.value);
  out.add(prefix + "f32_dot", device.f32Dot);
  out.add(prefix + "matmul_efficiency", device.matmulEfficiency);
  out.add(prefix + "memory_bandwidth", device.memoryBandwidth.value);
  out.add(prefix + "memory_efficiency", device.memoryEfficiency);
  out.add(prefix + "memory", double(device.memory.value));
  out.add(prefix + "launch", device.launch.value);
  out.add(prefix + "reduction", device.reduction.value);
}

} // namespace

std::string hashOf(const Cluster &c) {
  Canonical out;
  out.add("hosts", c.hosts);
  out.add("devices_per_host", c.devicesPerHost);
  out.add("nics_per_host", c.nicsPerHost);
  addDevice(out, "device.", c.device);
  addLink(out, "intra.", c.intra);
  for (const MeshLink &link : c.mesh)
    out.add("intra.links", std::to_string(link.a) + "-" + std::to_string(link.b) + ":" + std::to_string(link.count));
  addLink(out, "inter.", c.inter);
  addLink(out, "host_link.", c.hostLink);
  // The name of the link inside a host says whether it is NVLink, and NCCL's model asks for that.
  out.add("intra.name", c.intra.name);
  out.add("intra.fabric", c.intra.profile.name);
  out.add("topology", c.topology);
  out.add("oversubscription", c.oversubscription);
  out.add("hosts_per_leaf", c.hostsPerLeaf);
  out.add("spine_latency", c.spineLatency.value);
  if (c.topology == "three_tier") {
    out.add("leaves_per_pod", c.leavesPerPod);
    out.add("core_oversubscription", c.coreOversubscription);
    out.add("core_latency", c.coreLatency.value);
  }
  if (c.planes > 1)
    out.add("planes", c.planes);
  if (c.routing != Routing::Static) {
    out.add("routing", int(c.routing));
    out.add("hash_seed", std::to_string(c.hashSeed));
    if (const FlowHash &h = c.flowHash; h.chooses()) {
      out.add("hash", int(h.function));
      for (bool read : h.reads)
        out.add("hash_field", int(read));
      out.add("addresses", h.addresses);
      out.add("protocol", h.protocol);
      out.add("source_ports", std::to_string(h.firstPort) + ".." + std::to_string(h.lastPort));
      out.add("destination_port", h.destinationPort);
      if (h.table)
        out.add("table", h.table->meaning());
    }
  }
  if (!c.contention)
    out.add("contention", "off");
  for (size_t i = 0; i < c.groups.size(); ++i) {
    std::string prefix = "group" + std::to_string(i) + ".";
    out.add(prefix + "hosts", c.groups[i].hosts);
    out.add(prefix + "devices_per_host", c.groups[i].devicesPerHost);
    out.add(prefix + "nics_per_host", c.groups[i].nicsPerHost);
    addDevice(out, prefix + "device.", c.groups[i].device);
  }
  if (c.compute.skewed()) {
    out.add("compute.skew.per_job", c.compute.skewPerJob);
    out.add("compute.skew.per_step", c.compute.skewPerStep);
  }
  if (c.compute.slowed()) {
    out.add("compute.slowdown.intra", c.compute.slowdown[0]);
    out.add("compute.slowdown.inter", c.compute.slowdown[1]);
  }
  if (c.inNetwork.granted()) {
    out.add("in_network.at", c.inNetwork.at);
    for (const std::string &type : c.inNetwork.types)
      out.add("in_network.type", type);
    out.add("in_network.smallest", double(c.inNetwork.smallest.value));
    out.add("in_network.largest", double(c.inNetwork.largest.value));
    out.add("in_network.groups", c.inNetwork.groups);
  }
  out.add("nccl.bus_bandwidth_intra", c.nccl.busBandwidthIntra.value);
  out.add("nccl.bus_bandwidth_inter", c.nccl.busBandwidthInter.value);
  out.add("nccl.architecture", c.nccl.architecture);
  out.add("nccl.cpu", c.nccl.cpu);
  out.add("nccl.channels", c.nccl.channels);
  for (CalibratedModel model : {CalibratedModel::Nccl, CalibratedModel::Messages}) {
    const FittedConstants &fitted = model == CalibratedModel::Nccl ? c.ncclFit : c.messageFit;
    for (size_t i = 0; i < fitted.size(); ++i)
      out.add(std::string("calibration.") + name(model) + "." + constantsOf(model)[i].key, fitted[i]);
  }
  return out.hash();
}

} // namespace braid::cost
