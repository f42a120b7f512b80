//===- Packings.cpp - trees packed for the links of a cluster ---------------------------------------------------===//
#include "pricing/Packings.h"
#include <algorithm>
#include <numeric>
#include <set>

namespace braid::cost {

/// Planning takes less than a second up to here.
constexpr int mostRanks = 32; // setting: of the search

std::string whyNoPacking(const Cluster &cluster, const RankGroups &groups, int ranks) {
  if (cluster.mesh.empty())
    return "the cluster file gives no links between devices (key intra.links)";
  if (groups.groups.size() > 1)
    return "trees are packed for one group, asked for " + std::to_string(groups.groups.size()) + " at once";
  if (ranks > mostRanks)
    return "trees are packed for up to " + std::to_string(mostRanks) + " ranks, asked for " + std::to_string(ranks);
  return "";
}

algorithms::FabricGraph graphOf(const Topology &topology, const std::vector<int> &devices) {
  algorithms::FabricGraph graph;
  graph.ranks = int(devices.size());
  std::map<int, int> node; // vertex -> node
  for (int device : devices)
    node.try_emplace(topology.device(device), int(node.size()));
  std::set<int> seen; // links in the order in which ranks come to them, so that how hosts are numbered does not matter
  for (int a : devices)
    for (int b : devices)
      for (int link : topology.path(a, b)) {
        if (!seen.insert(link).second)
          continue;
        const Topology::Link &l = topology.links()[size_t(link)];
        int from = node.try_emplace(l.from, int(node.size())).first->second;
        int to = node.try_emplace(l.to, int(node.size())).first->second;
        graph.links.push_back({from, to, l.bandwidth.value, l.latency.value});
      }
  graph.nodes = int(node.size());
  return graph;
}

std::shared_ptr<const algorithms::Packing> Packings::of(const Topology &topology, const Placement &placement,
                                                        const RankGroups &groups, CollectiveKind kind, Bytes bytes) {
  std::vector<int> devices;
  for (int rank : groups.groups.empty() ? std::vector<int>() : groups.groups[0])
    if (rank >= 0 && rank < int(placement.deviceOf.size()))
      devices.push_back(placement.deviceOf[size_t(rank)]);
  if (groups.groups.empty())
    devices = placement.deviceOf;
  bool parts =
      kind == CollectiveKind::AllReduce || kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll;
  int64_t wanted = bytes.value / (parts ? std::max<int64_t>(1, int64_t(devices.size())) : 1);
  int64_t block = 4096;                              // setting: the smallest size that is looked at
  while (block < wanted && block < int64_t(1) << 40) // setting: the largest
    block *= 4;
  auto [found, isNew] = made.try_emplace({devices, block});
  if (isNew)
    found->second = std::make_shared<algorithms::Packing>(graphOf(topology, devices), double(block));
  return found->second;
}

} // namespace braid::cost
