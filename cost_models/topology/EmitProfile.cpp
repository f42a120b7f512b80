//===- EmitProfile.cpp - a cluster as the runtime's emulated fabric reads it ------------------------------------===//
#include "braid/cost_models/EmitProfile.h"
#include "braid/cost_models/Aggregators.h"
#include <cstdio>

namespace braid::cost {

/// Shortest text that reads back as the same number.
static std::string number(double value) {
  char text[32];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  return text;
}

static std::string noise(const FabricProfile &p) {
  std::string out = "{\"name\": \"" + p.name + "\"";
  auto add = [&](const char *key, double value) { out += std::string(", \"") + key + "\": " + number(value); };
  add("latency_rebase_sigma", p.latencyRebaseSigma);
  add("collision_uplinks", p.collisionUplinks);
  add("collision_flows_per_nic", p.collisionFlowsPerNic);
  add("latency_sigma", p.latencySigma);
  add("bandwidth_sigma", p.bandwidthSigma);
  add("flow_sigma", p.flowSigma);
  add("slow_flows", p.slowFlows);
  add("slow_flow_bandwidth", p.slowFlowBandwidth);
  add("flows_per_job", p.flowsPerJob);
  add("spike_probability", p.spikeProbability);
  add("spike_minimum", p.spikeMinimum.value);
  add("spike_index", p.spikeIndex);
  add("pause_probability", p.pauseProbability);
  add("pause_shortest", p.pauseShortest.value);
  add("pause_longest", p.pauseLongest.value);
  add("bulk_mean", p.bulkMean);
  add("bulk_sigma", p.bulkSigma);
  add("correlation", p.correlation);
  return out + "}";
}

template <class Range, class Text> static std::string list(const Range &range, Text text) {
  std::string out = "[";
  for (const auto &element : range)
    out += (out.size() > 1 ? ", " : "") + text(element);
  return out + "]";
}

static std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text)
    out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

Result<std::string> emitProfile(const Cluster &cluster, const Placement &placement, bool aggregators) {
  Result<Topology> topology = Topology::build(cluster);
  if (!topology)
    return topology.error();
  auto integer = [](int i) { return std::to_string(i); };
  std::vector<int> hosts;
  for (int device : placement.deviceOf)
    hosts.push_back(cluster.hostOf(device));
  std::vector<int> devices = placement.deviceOf, switches;
  if (aggregators) {
    Result<Aggregators> made = aggregatorsOf(*topology, placement.deviceOf);
    if (!made)
      return made.error();
    switches = made->vertices;
    for (size_t i = 0; i < switches.size(); ++i) { // numbers of their own, for draws
      devices.push_back(cluster.ranks() + int(i));
      hosts.push_back(cluster.hosts + int(i));
    }
  }
  /// One number, or where hosts differ one for each rank.
  auto byRank = [&](double (*of)(const Device &)) {
    if (cluster.groups.empty())
      return number(of(cluster.device));
    return list(devices, [&](int device) {
      return number(of(device < cluster.ranks() ? cluster.kindOf(device) : cluster.device));
    });
  };
  std::string out = "{\"format\": \"braid-fabric 1\",\n \"cluster\": " + quoted(cluster.name) +
                    ",\n \"hash\": " + quoted(cluster.hash) + ",\n \"ranks\": " + std::to_string(devices.size()) +
                    ",\n \"devices\": " + list(devices, integer) + ",\n \"hosts\": " + list(hosts, integer) +
                    ",\n \"launch_s\": " + byRank([](const Device &d) { return d.launch.value; }) +
                    ",\n \"reduction_bytes_per_s\": " + byRank([](const Device &d) { return d.reduction.value; }) +
                    ",\n \"noise\": {\n  \"intra\": " + noise(cluster.intra.profile) +
                    ",\n  \"inter\": " + noise(cluster.inter.profile) + "},\n";
  out += " \"links\": " + list(topology->links(), [&](const Topology::Link &link) {
           int spine = -1;
           if (link.level == Topology::Level::Spine)
             for (int end : {link.from, link.to})
               if (topology->vertices()[end].kind == Topology::VertexKind::Spine)
                 spine = topology->vertices()[end].index;
           return "[" + number(link.bandwidth.value) + ", " + number(link.latency.value) + ", " +
                  (link.level == Topology::Level::Intra ? "0" : "1") + ", " + std::to_string(spine) + "]";
         });
  out += ",\n \"paths\": [";
  size_t ranks = placement.deviceOf.size();
  auto vertex = [&](size_t rank) {
    return rank < ranks ? topology->device(placement.deviceOf[rank]) : switches[rank - ranks];
  };
  for (size_t source = 0; source < devices.size(); ++source)
    for (size_t target = 0; target < devices.size(); ++target) {
      bool between = source < ranks && target < ranks;
      std::vector<Topology::Path> ways =
          between ? topology->ways(devices[source], devices[target])
                  : std::vector<Topology::Path>{wayBetween(*topology, vertex(source), vertex(target))};
      auto links = [&](const Topology::Path &way) { return list(way, integer); };
      out += (target + source == 0 ? "" : ", ") + (ways.size() == 1 ? links(ways[0]) : list(ways, links));
    }
  return out + "]}\n";
}

} // namespace braid::cost
