//===- LinksUp.h - links up of a leaf and of a spine, from the stated oversubscription --------------------------===//
//
// A cluster file states a ratio, what can come up to a switch from below over what it can pass on upwards, and no number of
// links. The ratio is kept exactly, and links stay whole:
//
//   each link up serves k links down, k the least divisor of the links down that is not below the ratio,
//   and carries k / ratio of what a link down does
//
//   4 links down    1:1   4 links up of 1         2:1   2 of 1       3:1   1 of 4/3
//                 1.5:1   2 links up of 4/3     2.5:1   1 of 8/5     8:1   1 of 1/2
//
// So the links up are never slower than a link down, unless the ratio is above the number of links down: one message alone is
// not slowed by what others would need. And as all serve equally many links down, a leaf that sends all it can is slowed by
// the ratio, whatever it is: with another number of links some would serve one more than others.
//
// A file may say how many links up flows are hashed over (inter.profile.collision_uplinks), where the hardware has others than these. They
// carry the same together, and are no slower for being more than the links down: 32 NICs at 4:1 have 8 lines up; so 4 uplinks are
// of 2 lines each, 32 of 1/4, and 64 as well.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_LINKSUP_H
#define BRAID_COST_MODELS_TOPOLOGY_LINKSUP_H

#include "braid/cost_models/Cluster.h"

namespace braid::cost {

struct LinksUp {
  int links = 0;   ///< of one switch
  double rate = 1; ///< of each, in units of a link down
  /// What they carry together, in units of a link down.
  double all() const { return links * rate; }
};

LinksUp linksUp(int down, double oversubscription);

/// Of each leaf of a plane, in units of a NIC's port: those that the leaf with most NICs needs.
LinksUp leafLinksUp(const Cluster &cluster);
/// Of each spine of a plane, in units of a leaf's uplink; none but where there are cores.
LinksUp spineLinksUp(const Cluster &cluster);

/// Those that flows are hashed over.
HashedUplinks hashedUplinks(const Cluster &cluster);

/// Over how many links up the flows of a leaf are hashed (inter.profile.collisionUplinks), where the profile leaves it to the topology:
/// over those that there are. Returns a sentence where what the file says is not what its reader may think, or "".
std::string settleCollisions(Cluster &cluster);

} // namespace braid::cost

#endif
