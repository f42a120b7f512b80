//===- Shapes.cpp - communicators of a job on a cluster ---------------------------------------------------------===//
#include "braid/cost_models/Choices.h"
#include <algorithm>
#include <numeric>

namespace braid::cost {

static int devicesOfEveryHost(const Cluster &cluster) {
  int least = cluster.devicesPerHost;
  for (int host = 0; host < cluster.hosts; ++host)
    least = std::min(least, cluster.devicesIn(host));
  return least;
}

std::vector<CommunicatorShape> usualShapes(const Cluster &cluster) {
  std::vector<CommunicatorShape> shapes = {{cluster.ranks(), cluster.hosts}};
  int devices = devicesOfEveryHost(cluster);
  if (cluster.hosts > 1 && devices > 1) {
    shapes.push_back({devices, 1});
    shapes.push_back({cluster.hosts, cluster.hosts});
  }
  return shapes;
}

Result<std::shared_ptr<const RankGroups>> groupsOf(const CommunicatorShape &shape, const Cluster &cluster) {
  auto groups = std::make_shared<RankGroups>();
  auto [ranks, nodes] = shape;
  if (ranks == cluster.ranks() && nodes == cluster.hosts) { // also where hosts differ
    groups->groups.emplace_back(ranks);
    std::iota(groups->groups[0].begin(), groups->groups[0].end(), 0);
    return std::shared_ptr<const RankGroups>(groups);
  }
  std::string got = std::to_string(ranks) + " ranks on " + std::to_string(nodes) + " nodes";
  int devices = devicesOfEveryHost(cluster);
  if (ranks < 2 || nodes < 1 || nodes > cluster.hosts || ranks % nodes != 0 || ranks / nodes > devices)
    return Error{"communicator, expected at least 2 ranks, as many on each of at most " +
                     std::to_string(cluster.hosts) + " nodes, at most " + std::to_string(devices) + " on one, got " +
                     got,
                 ""};
  int perNode = ranks / nodes;
  for (int host = 0; host + nodes <= cluster.hosts; host += nodes)
    for (int slot = 0; slot + perNode <= devices; slot += perNode) {
      std::vector<int> &group = groups->groups.emplace_back();
      for (int node = 0; node < nodes; ++node)
        for (int device = 0; device < perNode; ++device)
          group.push_back(cluster.firstDevice(host + node) + slot + device);
    }
  return std::shared_ptr<const RankGroups>(groups);
}

} // namespace braid::cost
