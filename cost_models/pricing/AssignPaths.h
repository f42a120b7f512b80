//===- AssignPaths.h - flows onto equal links, such that those at once collide least ------------------------------===//
//
// On a Clos of leaves and spines a flow from leaf a to leaf b by spine s uses the link up (a, s) and the link down (s, b). Flows that
// are under way at once are the edges of a bipartite multigraph between leaves, spines are colours, and links carry what is of one
// colour at one leaf. With equal flows and all spines open to each, the edges can be coloured such that no link carries more than
// ceil(D / S) of them, D being the most flows of a leaf and S the spines (König 1916; Slepian and Duguid for Clos networks): 8 flows
// over 8 uplinks do not collide at all. The proof is the algorithm: an edge that finds no colour free at both of its ends takes the
// one free at the first, and a chain of edges changes between two colours.
//
// Here flows may differ in size, have only some ways open (the source ports that were probed), meet at more stages (planes, cores),
// and be under way in several rounds. The same chains are searched for, within a number of steps that is counted, not timed; small
// cases that do not reach the lower bound are searched through.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_ASSIGNPATHS_H
#define BRAID_COST_MODELS_PRICING_ASSIGNPATHS_H

#include "braid/cost_models/Topology.h"
#include <vector>

namespace braid::cost {

/// What goes from one place to another, over one of several ways for each of its connections.
struct PathFlow {
  std::vector<std::pair<int, double>> sent; ///< (round, how much in it)
  std::vector<Topology::PortedPath> choices;
};

struct PathAssignment {
  std::vector<std::vector<int>> choice; ///< flow -> of each connection, a number of its choices
  /// Summed over rounds: what the most loaded link carries of those where flows choose, and what it carries at least, whatever is
  /// chosen. In units of the largest part of a flow that one connection carries in a round.
  double most = 0, bound = 0;
  bool optimal = false; ///< nothing else has a smaller `most`, by the bound or because all was tried
};

/// Each flow is dealt in equal parts over `connections` of its own. Equal questions have equal answers.
PathAssignment assignPaths(const std::vector<PathFlow> &flows, int connections, const Topology &topology);

/// `most` of ways that somebody else has chosen: numbers of choices, of each flow's connections.
double mostLoaded(const std::vector<PathFlow> &flows, const std::vector<std::vector<int>> &choice,
                  const Topology &topology);

} // namespace braid::cost

#endif
