//===- PackedTrees.h - trees and paths packed into a given topology ---------------------------------------------===//
//
// On an arbitrary graph no fixed pattern uses all links. Here the pattern is made for the graph: all_gather sends each piece of
// each rank's block down a tree of its own, all_to_all sends each piece along a path, such that no link carries much more
// than the busiest one has to (the cut bound); then the transfers are put in an order, and the order is a step program.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_PACKEDTREES_H
#define BRAID_RUNTIME_ALGORITHMS_PACKEDTREES_H

#include "braid/runtime/algorithms/StepProgram.h"

namespace braid::algorithms {

/// Ranks are nodes 0 .. ranks - 1, the other nodes are switches: they pass messages on, and neither copy nor reduce.
struct FabricGraph {
  struct Link {
    int from, to;
    double bandwidth; ///< bytes per second
    double latency;   ///< seconds
  };
  int ranks = 0, nodes = 0;
  std::vector<Link> links; ///< one direction each

  /// The links from one rank to another over switches only: the fewest, of these the widest; empty: there are none.
  std::vector<int> route(int from, int to) const;
};

/// One message: a piece of a block, from rank to rank.
struct Transfer {
  int source, target; ///< whose block; all_to_all: for whom
  int piece;
  int from, to;
  int after = -1;            ///< the transfer that brings it to `from`; -1: it starts there
  double begin = 0, end = 0; ///< seconds, as planned
};

/// What all ranks do.
struct PackedPlan {
  Collective collective = Collective::AllGather;
  int ranks = 0, pieces = 1; ///< a block is so many chunks
  std::vector<Transfer> transfers;
  std::vector<std::vector<int>> events; ///< by rank, in its order: transfer t as 2 t (send) or 2 t + 1 (receive)
  double time = 0;                      ///< seconds, all_gather or all_to_all with blocks of the size asked for
  double bound = 0;                     ///< seconds that some cut of the graph takes at least, latencies apart
};

/// For blocks of `blockBytes` (what a rank gives to all, or to each). `problem`: why there is none (empty: there is).
PackedPlan packTrees(const FabricGraph &graph, Collective collective, double blockBytes, std::string &problem);

/// Seconds that the collective takes at least: what has to leave a set of nodes, over what its links carry. all_gather: the
/// largest over all sets, found by maximum flows; all_to_all: the largest over the sets that separate two ranks best, each
/// node alone, and those of all_gather (the largest over all sets is a hard problem).
double cutBound(const FabricGraph &graph, Collective collective, double blockBytes);

} // namespace braid::algorithms

#endif
