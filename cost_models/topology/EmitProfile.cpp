//===- EmitProfile.cpp - a cluster as the runtime's emulated fabric reads it ------------------------------------===//
#include "braid/cost_models/EmitProfile.h"
#include "braid/cost_models/Aggregators.h"
#include "braid/cost_models/Price.h"
#include "braid/runtime/algorithms/Paths.h"
#include "topology/JsonText.h"
#include "topology/LinksUp.h"
#include <algorithm>

namespace braid::cost {

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

/// What the cluster file states of it: nothing where it states nothing.
static std::string compute(const ComputeNoise &c) {
  std::string out;
  if (c.skewed())
    out = "\"skew\": {\"per_job\": " + number(c.skewPerJob) + ", \"per_step\": " + number(c.skewPerStep) + "}";
  if (c.slowed())
    out += std::string(out.empty() ? "" : ", ") +
           "\"slowdown\": {\"intra\": " + number(c.slowdown[int(Fabric::Intra)]) +
           ", \"inter\": " + number(c.slowdown[int(Fabric::Inter)]) + "}";
  return out.empty() ? "" : " \"compute\": {" + out + "},\n";
}

template <class Range, class Text> static std::string list(const Range &range, Text text) {
  std::string out = "[";
  for (const auto &element : range)
    out += (out.size() > 1 ? ", " : "") + text(element);
  return out + "]";
}

/// The flows of a path, which must be between the ranks of the placement.
static Result<algorithms::Paths> readPath(const std::string &path, const Cluster &cluster, size_t ranks) {
  algorithms::Paths paths;
  if (path.empty())
    return paths;
  if (std::string problem = algorithms::Paths::read(path, paths); !problem.empty())
    return Error{"path, " + problem, ""};
  if (!cluster.flowHash.chooses())
    return Error{"path, expected a cluster file that says how its switches hash (topology.source_ports), got " +
                     cluster.path,
                 ""};
  for (const auto &[ends, all] : paths.flows)
    if (size_t(std::max(ends.first, ends.second)) >= ranks)
      return Error{"path, expected ranks below " + std::to_string(ranks) + ", got a flow from " +
                       std::to_string(ends.first) + " to " + std::to_string(ends.second),
                   ""};
  return paths;
}

Result<std::string> emitProfile(const Cluster &cluster, const Placement &placement, bool aggregators,
                                const std::string &path) {
  if (!cluster.contention)
    return Error{"topology.contention: expected on, as messages share the links of the emulated fabric, got off",
                 cluster.path};
  if (int hashed = cluster.inter.profile.collisionUplinks, links = leafLinksUp(cluster).links;
      hashed > 0 && cluster.topology != "single_switch" && hashed != links)
    return Error{"inter.profile.collision_uplinks: expected as many as the emulated fabric has links up, " +
                     std::to_string(links) + ", or 0 for no collisions, got " + std::to_string(hashed),
                 cluster.path};
  Result<Topology> topology = Topology::build(cluster);
  if (!topology)
    return topology.error();
  Result<algorithms::Paths> paths = readPath(path, cluster, placement.deviceOf.size());
  if (!paths)
    return paths.error();
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
                    ",\n  \"inter\": " + noise(cluster.inter.profile) + "},\n" + compute(cluster.compute);
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
      if (auto flow = paths->flows.find({int(source), int(target)}); flow != paths->flows.end()) {
        ways.clear();
        for (const algorithms::Paths::Connection &one : flow->second)
          ways.push_back(topology->path(devices[source], devices[target], uint64_t(one.port), one.rail));
      }
      auto links = [&](const Topology::Path &way) { return list(way, integer); };
      out += (target + source == 0 ? "" : ", ") + (ways.size() == 1 ? links(ways[0]) : list(ways, links));
    }
  return out + "]}\n";
}

} // namespace braid::cost
