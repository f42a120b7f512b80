//===- Orders.cpp - orders of ranks that keep rings and trees inside hosts and racks ----------------------------===//
//
// Eight ranks dealt to two hosts in turn: a ring in the order of the ranks leaves a host eight times, in the order by hosts
// twice. Devices of a host, hosts of a leaf and leaves of a pod have consecutive numbers, so the order by devices stays inside
// each of them as long as it can (localityOrder). The order by hosts, which ranks find out by themselves, is the same where
// hosts first come in the order of their numbers.
//===------------------------------------------------------------------------------------------------------------===//
#include "pricing/Orders.h"
#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace braid::cost {

/// Whether a ring over these ranks leaves some place more often than once, and so is longer than it has to be.
static bool returns(const std::vector<int> &places) {
  std::unordered_set<int> seen(places.begin(), places.end());
  size_t changes = 0;
  for (size_t i = 0; i < places.size(); ++i)
    changes += places[i] != places[i + 1 < places.size() ? i + 1 : 0];
  return seen.size() > 1 && changes > seen.size();
}

std::string betterOrder(const RankGroups &asked, const Cluster &cluster, const Placement &placement) {
  std::vector<std::vector<int>> groups = asked.groups;
  if (groups.empty() && asked.pairs.empty()) {
    groups.emplace_back(placement.deviceOf.size());
    std::iota(groups[0].begin(), groups[0].end(), 0);
  }
  bool scattered = false, outOfOrder = false;
  for (const std::vector<int> &group : groups) {
    std::vector<int> hosts, leaves; // of each rank; of each host as they first come
    std::unordered_set<int> seen;
    for (int rank : group) {
      if (rank < 0 || rank >= int(placement.deviceOf.size()))
        return "";
      hosts.push_back(placement.hostOf(rank, cluster));
      if (seen.insert(hosts.back()).second)
        leaves.push_back(cluster.hostsPerLeaf > 0 ? hosts.back() / cluster.hostsPerLeaf : 0);
    }
    scattered |= returns(hosts);
    outOfOrder |= returns(leaves);
  }
  if (!outOfOrder || groups.size() != 1)
    return scattered ? "hosts" : "";
  std::vector<int> places(groups[0].size());
  for (size_t place = 0; place < places.size(); ++place)
    places[place] = int(place);
  std::sort(places.begin(), places.end(), [&](int a, int b) {
    return placement.deviceOf[size_t(groups[0][size_t(a)])] < placement.deviceOf[size_t(groups[0][size_t(b)])];
  });
  std::string words;
  for (int place : places)
    words += (words.empty() ? "" : ".") + std::to_string(place);
  return words;
}

} // namespace braid::cost
