//===- LinksUp.cpp - links up of a leaf and of a spine, from the stated oversubscription ------------------------===//
#include "topology/LinksUp.h"
#include <algorithm>
#include <cmath>

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

} // namespace braid::cost
