//===- LinksUp.cpp - links up of a leaf and of a spine, from the stated oversubscription ------------------------===//
#include "topology/LinksUp.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace braid::cost {

LinksUp linksUp(int down, double oversubscription) {
  double ratio = std::max(1.0, oversubscription);
  if (down < 1)
    return {};
  int served = ratio < down ? int(std::ceil(ratio - 1e-9)) : down; // but for rounding
  while (down % served != 0)
    ++served;
  return {down / served, served / ratio};
}

/// NICs of the fullest leaf of a plane.
static int fullestLeaf(const Cluster &c) {
  int hosts = c.hostsPerLeaf > 0 ? std::min(c.hosts, c.hostsPerLeaf) : c.hosts;
  if (c.topology == "rail_optimized") // one NIC of each host, all of which have a first one
    return hosts;
  if (c.groups.empty())
    return hosts * c.nicsPerHost;
  int most = 0, nics = 0, left = hosts; // of the leaf that is being filled
  for (const HostGroup &group : c.groups)
    for (int toPlace = group.hosts; toPlace > 0;) {
      int here = std::min(toPlace, left);
      nics += here * group.nicsPerHost;
      most = std::max(most, nics);
      toPlace -= here;
      left -= here;
      if (left == 0) {
        nics = 0;
        left = hosts;
      }
    }
  return most;
}

LinksUp leafLinksUp(const Cluster &cluster) { return linksUp(fullestLeaf(cluster), cluster.oversubscription); }

LinksUp spineLinksUp(const Cluster &cluster) {
  return cluster.topology == "three_tier" ? linksUp(cluster.leavesPerPod, cluster.coreOversubscription) : LinksUp();
}

static std::string text(double value) {
  char out[32];
  std::snprintf(out, sizeof out, "%.3g", value);
  return out;
}

HashedUplinks hashedUplinks(const Cluster &cluster) {
  double lines = leafLinksUp(cluster).all();
  return {lines, lines / std::clamp(cluster.inter.profile.collisionUplinks, 1, std::max(1, fullestLeaf(cluster)))};
}

std::string settleCollisions(Cluster &cluster) {
  cluster.intra.profile.collisionUplinks = std::max(0, cluster.intra.profile.collisionUplinks);
  int &hashed = cluster.inter.profile.collisionUplinks;
  bool tiers = cluster.topology != "single_switch";
  LinksUp own = leafLinksUp(cluster);
  if (hashed == FabricProfile::uplinksOfTopology)
    hashed = tiers && cluster.routing == Routing::Static ? own.links : 0;
  if (hashed <= 0 || (tiers && hashed == own.links))
    return "";
  std::string key = "inter.profile.collision_uplinks: " + std::to_string(hashed);
  if (!tiers)
    return key + " has no effect, as a single switch has no links up";
  return key + " links up of a leaf, of " + text(hashedUplinks(cluster).rate) +
         " x a NIC's port each; prices without noise are for " + std::to_string(own.links) + " of " + text(own.rate) +
         ", which is what the oversubscription makes and the default";
}

} // namespace braid::cost
