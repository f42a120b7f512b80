//===- PathPlan.h - connections, rails and source ports of a collective's flows -----------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_PATHPLAN_H
#define BRAID_COST_MODELS_PRICING_PATHPLAN_H

#include "pricing/Played.h"
#include <optional>

namespace braid::cost {

struct PathPlan {
  std::string path; ///< as plans spell it (Paths.h)
  std::shared_ptr<const std::map<std::pair<int, int>, std::vector<Topology::Path>>> ways; ///< by ranks
  std::string how;
};

/// Where the cluster says how its switches hash (FlowHash.h): source ports for the flows of the programs such that those at once
/// collide least, each flow dealt over so many connections. None: no flow has several ways, there are more than 4,096 connections, or
/// fewer ports than connections. Sizes do not matter, parts of the buffer do.
std::optional<PathPlan> planPaths(const PlayedCollective &collective, const PlayedNetwork &network, int connections);

} // namespace braid::cost

#endif
