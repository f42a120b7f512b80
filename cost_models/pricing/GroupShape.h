//===- GroupShape.h - what a collective's groups look like on the machine ---------------------------------------===//
//
// A price depends on a group only through its shape: how many ranks, over how many hosts, how many of them on the
// fullest host, and how many NICs it has to itself. Groups that run at once share NICs: of 8 groups that each take one
// GPU of every host, each has one NIC of 8.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_GROUPSHAPE_H
#define BRAID_COST_MODELS_PRICING_GROUPSHAPE_H

#include "braid/cost_models/Price.h"

namespace braid::cost {

struct GroupShape {
  int ranks = 1;
  int hosts = 1;
  int perHost = 1; ///< ranks on the fullest host; ranks / hosts when they are spread evenly
  double nics =
      0; ///< NICs on the poorest host, a NIC used by k groups counting 1/k; 0 when the group stays in one host
  bool operator==(const GroupShape &o) const {
    return ranks == o.ranks && hosts == o.hosts && perHost == o.perHost && nics == o.nics;
  }
};

/// What leaves leaf switches upwards, counted in flows of a NIC's line rate.
struct UplinkFlows {
  int total = 0;
  int perLeaf = 0; ///< of the leaf with the most
  int perPod = 0;  ///< what goes on from spines to cores, of the pod with the most; 0 where there are no cores
  /// The same as perLeaf and perPod, not rounded up to whole flows: what links up have to carry.
  double leafLines = 0, podLines = 0;
  int streams =
      1; ///< connections that one such flow consists of: a ring's host sends to one other, a tree's to several
};

/// All groups of a collective. Their ranks move at once, so the price is that of the costliest shape.
struct GroupLayout {
  std::vector<GroupShape> shapes;    ///< distinct, in the order of the groups
  int hosts = 1;                     ///< most hosts that one group touches
  int allHosts = 1;                  ///< hosts that groups of more than one rank touch
  UplinkFlows ring, tree, everybody; ///< of a ring or the two trees over hosts in rank order; of all_to_all
};

GroupLayout layoutOf(const RankGroups &groups, const Cluster &cluster, const Placement &placement);

/// The slowest of the devices that take part, field by field of those that prices know: launch, reduction, memory rate. Every
/// step of a collective waits for the member that works longest in it.
struct Members {
  Seconds launch;
  BytesPerSecond reduction;
  BytesPerSecond memory; ///< that kernels reach
};
Members membersOf(const RankGroups &groups, const Cluster &cluster, const Placement &placement);

/// A permute: what leaves and enters the busiest NIC and the busiest device.
struct PermuteLayout {
  int interPairs = 0; ///< pairs on different hosts
  int intraPairs = 0; ///< pairs on one host, other than a rank with itself
  double nicLoad = 0; ///< messages through one direction of the busiest NIC
  int hosts = 1;      ///< hosts that exchange messages
  UplinkFlows uplinks;
};
PermuteLayout layoutOfPairs(const RankGroups &groups, const Cluster &cluster, const Placement &placement);

/// Flows of line rate that the links up of one leaf switch carry, and those of one pod's spines to cores (0: there are none).
double linesFromLeaf(const Cluster &cluster);
double linesFromPod(const Cluster &cluster);

} // namespace braid::cost

#endif
