//===- GroupShape.cpp - groups of ranks, seen from hosts and NICs -----------------------------------------------===//
#include "pricing/GroupShape.h"
#include "topology/LinksUp.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace braid::cost {

/// The NICs [first, last) that a device of a host sends through: its own, or one shared with its neighbours.
static std::pair<int, int> nicsOf(int device, const Cluster &cluster) {
  int host = cluster.hostOf(device), inHost = device - cluster.firstDevice(host);
  int first = inHost * cluster.nicsIn(host) / cluster.devicesIn(host);
  int last = (inHost + 1) * cluster.nicsIn(host) / cluster.devicesIn(host);
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
    auto [first, last] = nicsOf(device, cluster);
    for (int nic = first; nic < last; ++nic)
      usage[cluster.hostOf(device)].insert(nic);
  }
  return usage;
}

//===- uplinks --------------------------------------------------------------------------------------------------===//

static int leafOf(int host, const Cluster &cluster) {
  return cluster.hostsPerLeaf > 0 ? host / cluster.hostsPerLeaf : 0;
}

static int podOf(int host, const Cluster &cluster) {
  return cluster.topology == "three_tier" ? leafOf(host, cluster) / cluster.leavesPerPod : 0;
}

double linesFromLeaf(const Cluster &cluster) { return leafLinksUp(cluster).all(); }

double linesFromPod(const Cluster &cluster) { return linesFromLeaf(cluster) * spineLinksUp(cluster).all(); }

namespace {
/// Line-rate flows that leave each leaf, summed over groups.
class Uplinks {
public:
  explicit Uplinks(const Cluster &cluster) : cluster(cluster) {}
  /// `rate` of what each of these NICs sends (NIC -> the group's part of it) goes from one host to another.
  void add(int from, int to, const std::map<int, double> &nics, double rate) {
    if (leafOf(from, cluster) != leafOf(to, cluster))
      leave(from, nics, rate, podOf(from, cluster) != podOf(to, cluster) ? rate : 0);
  }
  /// The same to any hosts of other leaves, `beyond` of it to those of other pods; rails are kept: NIC i sends to NIC i.
  void leave(int from, const std::map<int, double> &nics, double rate, double beyond) {
    for (auto [nic, share] : nics) {
      load[{leafOf(from, cluster), cluster.topology == "rail_optimized" ? nic : 0}] += rate * share;
      pods[podOf(from, cluster)] += beyond * share;
    }
  }
  UplinkFlows flows(int streams) const {
    UplinkFlows flows;
    flows.streams = streams;
    for (auto &[leaf, sum] : load) {
      int whole = int(std::ceil(sum - 1e-9));
      flows.total += whole;
      flows.perLeaf = std::max(flows.perLeaf, whole);
      flows.leafLines = std::max(flows.leafLines, sum);
    }
    for (auto &[pod, sum] : pods) {
      flows.perPod = std::max(flows.perPod, int(std::ceil(sum - 1e-9)));
      flows.podLines = std::max(flows.podLines, sum);
    }
    return flows;
  }

private:
  const Cluster &cluster;
  std::map<std::pair<int, int>, double> load;
  std::map<int, double> pods;
};
} // namespace

/// Parent of a position 1 .. n of the in-order binary tree (odd positions are leaves); 0 for the root.
static int treeParent(int position, int n) {
  int bit = position & -position, parent = (position ^ bit) | (bit << 1);
  return parent <= n ? parent : position ^ bit;
}

/// Neighbours in a ring and in two trees over the hosts of one group, in the order of its ranks; a tree's streams are a
/// quarter of what a host sends (half of it on two hosts), each way.
static void addNeighbours(const std::vector<int> &hosts, const std::vector<std::map<int, double>> &nics, Uplinks &ring,
                          Uplinks &tree, Uplinks &everybody, const Cluster &cluster) {
  int n = int(hosts.size());
  std::map<int, int> inLeaf, inPod;
  for (int host : hosts) {
    ++inLeaf[leafOf(host, cluster)];
    ++inPod[podOf(host, cluster)];
  }
  double part = n == 2 ? 0.5 : 0.25; // source: NCCL's two trees, each of half the bytes, up and down
  for (int i = 0; i < n; ++i) {
    ring.add(hosts[i], hosts[(i + 1) % n], nics[i], 1);
    if (int parent = treeParent(i + 1, n))
      for (bool mirrored : {false, true}) {
        int a = mirrored ? n - 1 - i : i, b = mirrored ? n - parent : parent - 1;
        tree.add(hosts[a], hosts[b], nics[a], part);
        tree.add(hosts[b], hosts[a], nics[b], part);
      }
    int outside = n - inLeaf[leafOf(hosts[i], cluster)], beyond = n - inPod[podOf(hosts[i], cluster)];
    if (outside)
      everybody.leave(hosts[i], nics[i], double(outside) / (n - 1), double(beyond) / (n - 1));
  }
}

//===- groups ---------------------------------------------------------------------------------------------------===//

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
  std::set<int> touched;
  Uplinks ring(cluster), tree(cluster), everybody(cluster);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].empty())
      continue;
    GroupShape shape;
    shape.ranks = int(rows[i].size());
    shape.hosts = int(usages[i].size());
    std::map<int, int> perHost;
    for (int rank : rows[i])
      shape.perHost = std::max(shape.perHost, ++perHost[cluster.hostOf(deviceOf(rank, placement))]);
    if (shape.hosts > 1) {
      shape.nics = cluster.nicsPerHost;
      std::vector<int> order; // hosts as the group's ranks meet them
      std::set<int> met;
      for (int rank : rows[i]) {
        int host = cluster.hostOf(deviceOf(rank, placement));
        if (met.insert(host).second)
          order.push_back(host);
      }
      std::vector<std::map<int, double>> shares; // of the order's hosts: NIC -> the part of it that is this group's
      for (int host : order) {
        double sum = 0;
        shares.emplace_back();
        for (int nic : usages[i][host])
          sum += shares.back()[nic] = cluster.contention ? 1.0 / users[{host, nic}] : 1;
        shape.nics = std::min(shape.nics, sum);
      }
      addNeighbours(order, shares, ring, tree, everybody, cluster);
    }
    layout.hosts = std::max(layout.hosts, shape.hosts);
    if (shape.ranks > 1)
      for (auto &[host, nics] : usages[i])
        touched.insert(host);
    if (std::find(layout.shapes.begin(), layout.shapes.end(), shape) == layout.shapes.end())
      layout.shapes.push_back(shape);
  }
  layout.allHosts = std::max(1, int(touched.size()));
  layout.ring = ring.flows(1);
  layout.tree = tree.flows(layout.hosts == 2 ? 2 : 4);
  layout.everybody = everybody.flows(std::max(1, layout.hosts - 1));
  if (layout.shapes.empty())
    layout.shapes.push_back(GroupShape());
  return layout;
}

Members membersOf(const RankGroups &groups, const Cluster &cluster, const Placement &placement) {
  auto of = [](const Device &d) { return Members{d.launch, d.reduction, d.memoryBandwidth * d.memoryEfficiency}; };
  if (cluster.groups.empty())
    return of(cluster.device);
  std::set<const Device *> kinds;
  for (const std::vector<int> &group : groups.groups)
    for (int rank : group)
      if (rank >= 0)
        kinds.insert(&cluster.kindOf(deviceOf(rank, placement)));
  for (auto [source, target] : groups.pairs)
    for (int rank : {source, target})
      kinds.insert(&cluster.kindOf(deviceOf(rank, placement)));
  if (groups.groups.empty() && groups.pairs.empty()) // all ranks
    for (int device : placement.deviceOf)
      kinds.insert(&cluster.kindOf(device));
  Members all = kinds.empty() ? of(cluster.device) : of(**kinds.begin());
  for (const Device *kind : kinds) {
    Members one = of(*kind);
    all = {std::max(all.launch, one.launch), std::min(all.reduction, one.reduction), std::min(all.memory, one.memory)};
  }
  return all;
}

PermuteLayout layoutOfPairs(const RankGroups &groups, const Cluster &cluster, const Placement &placement) {
  PermuteLayout layout;
  std::map<std::tuple<int, int, bool>, double> load; // (host, NIC, outgoing) -> messages
  std::set<int> hosts;
  Uplinks uplinks(cluster);
  for (auto [source, target] : groups.pairs) {
    int from = deviceOf(source, placement), to = deviceOf(target, placement);
    int fromHost = cluster.hostOf(from), toHost = cluster.hostOf(to);
    hosts.insert(fromHost);
    hosts.insert(toHost);
    if (fromHost == toHost) {
      layout.intraPairs += from != to;
      continue;
    }
    ++layout.interPairs;
    auto [nic, end] = nicsOf(from, cluster);
    uplinks.add(fromHost, toHost, {{nic, 1.0}}, 1);
    for (bool outgoing : {true, false}) {
      auto [first, last] = nicsOf(outgoing ? from : to, cluster);
      for (int nic = first; nic < last; ++nic) {
        double &sum = load[{outgoing ? fromHost : toHost, nic, outgoing}];
        sum += 1.0 / (last - first);
        layout.nicLoad = std::max(layout.nicLoad, sum);
      }
    }
  }
  layout.uplinks = uplinks.flows(1);
  layout.hosts = layout.interPairs ? int(hosts.size()) : 1;
  return layout;
}

} // namespace braid::cost
