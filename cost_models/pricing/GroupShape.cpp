//===- GroupShape.cpp - groups of ranks, seen from hosts and NICs -----------------------------------------------===//
#include "pricing/GroupShape.h"
#include <algorithm>
#include <map>
#include <set>

namespace braid::cost {

/// The NICs [first, last) that a device of a host sends through: its own, or one shared with its neighbours.
static std::pair<int, int> nicsOf(int deviceInHost, const Cluster &cluster) {
  int first = deviceInHost * cluster.nicsPerHost / cluster.devicesPerHost;
  int last = (deviceInHost + 1) * cluster.nicsPerHost / cluster.devicesPerHost;
  return {first, std::max(last, first + 1)};
}

static int deviceOf(int rank, const Placement &placement) {
  return rank < int(placement.deviceOf.size()) ? placement.deviceOf[rank] : rank;
}

/// Host -> NICs used there.
using Usage = std::map<int, std::set<int>>;

static Usage usageOf(const std::vector<int> &group, const Cluster &cluster, const Placement &placement) {
  Usage usage;
  for (int rank : group) {
    int device = deviceOf(rank, placement);
    auto [first, last] = nicsOf(device % cluster.devicesPerHost, cluster);
    for (int nic = first; nic < last; ++nic)
      usage[device / cluster.devicesPerHost].insert(nic);
  }
  return usage;
}

GroupLayout layoutOf(const RankGroups &groups, const Cluster &cluster, const Placement &placement) {
  std::vector<std::vector<int>> rows = groups.groups;
  if (rows.empty()) { // no groups: one group of all ranks
    rows.emplace_back();
    for (int rank = 0; rank < int(placement.deviceOf.size()); ++rank)
      rows[0].push_back(rank);
  }
  std::vector<Usage> usages;
  std::map<std::pair<int, int>, int> users; // (host, NIC) -> groups that cross hosts through it
  for (std::vector<int> &row : rows) {
    row.erase(std::remove_if(row.begin(), row.end(), [](int rank) { return rank < 0; }), row.end()); // padding
    usages.push_back(usageOf(row, cluster, placement));
    if (usages.back().size() > 1)
      for (auto &[host, nics] : usages.back())
        for (int nic : nics)
          ++users[{host, nic}];
  }
  GroupLayout layout;
  layout.nicsInUse = int(users.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].empty())
      continue;
    GroupShape shape;
    shape.ranks = int(rows[i].size());
    shape.hosts = int(usages[i].size());
    std::map<int, int> perHost;
    for (int rank : rows[i])
      shape.perHost = std::max(shape.perHost, ++perHost[deviceOf(rank, placement) / cluster.devicesPerHost]);
    if (shape.hosts > 1) {
      shape.nics = cluster.nicsPerHost;
      for (auto &[host, nics] : usages[i]) {
        double share = 0;
        for (int nic : nics)
          share += 1.0 / users[{host, nic}];
        shape.nics = std::min(shape.nics, share);
      }
    }
    layout.hosts = std::max(layout.hosts, shape.hosts);
    if (std::find(layout.shapes.begin(), layout.shapes.end(), shape) == layout.shapes.end())
      layout.shapes.push_back(shape);
  }
  if (layout.shapes.empty())
    layout.shapes.push_back(GroupShape());
  return layout;
}

PermuteLayout layoutOfPairs(const RankGroups &groups, const Cluster &cluster, const Placement &placement) {
  PermuteLayout layout;
  std::map<std::tuple<int, int, bool>, double> load; // (host, NIC, outgoing) -> messages
  std::set<int> hosts;
  for (auto [source, target] : groups.pairs) {
    int from = deviceOf(source, placement), to = deviceOf(target, placement);
    int fromHost = from / cluster.devicesPerHost, toHost = to / cluster.devicesPerHost;
    hosts.insert(fromHost);
    hosts.insert(toHost);
    if (fromHost == toHost) {
      layout.intraPairs += from != to;
      continue;
    }
    ++layout.interPairs;
    for (bool outgoing : {true, false}) {
      auto [first, last] = nicsOf((outgoing ? from : to) % cluster.devicesPerHost, cluster);
      for (int nic = first; nic < last; ++nic) {
        double &sum = load[{outgoing ? fromHost : toHost, nic, outgoing}];
        sum += 1.0 / (last - first);
        layout.nicLoad = std::max(layout.nicLoad, sum);
      }
    }
  }
  layout.hosts = layout.interPairs ? int(hosts.size()) : 1;
  return layout;
}

} // namespace braid::cost
