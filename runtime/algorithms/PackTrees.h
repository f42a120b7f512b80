//===- PackTrees.h - the two halves of planning: routes, then times ---------------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_PACKTREES_H
#define BRAID_RUNTIME_ALGORITHMS_PACKTREES_H

#include "braid/runtime/algorithms/PackedTrees.h"

namespace braid::algorithms {

/// FabricGraph::route of all pairs of ranks.
class Routes {
public:
  explicit Routes(const FabricGraph &graph);
  const std::vector<int> &of(int from, int to) const { return paths[size_t(from) * size_t(n) + size_t(to)]; }

private:
  int n;
  std::vector<std::vector<int>> paths;
};

/// The transfers of all pieces (all_gather, all_to_all, or broadcast from the root), without times; empty: some rank cannot be
/// reached. `shallow`: by how much dearer a tree's link is for each link above it.
std::vector<Transfer> packRoutes(const FabricGraph &graph, const Routes &routes, Collective collective, int root,
                                 double blockBytes, int pieces, double bound, double shallow);

/// Gives each transfer its time under the link rule (a message takes its links in order, cut-through; on each it starts when
/// the link is free and it has started on the one before): each link takes, of what is ready, the transfer that need not wait
/// further on, of these the one with the longest way to go. Returns the time of the last.
double scheduleTransfers(const FabricGraph &graph, const Routes &routes, double pieceBytes,
                         std::vector<Transfer> &transfers);

} // namespace braid::algorithms

#endif
