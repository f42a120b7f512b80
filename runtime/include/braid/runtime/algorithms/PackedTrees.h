//===- PackedTrees.h - trees and paths packed into a given topology ---------------------------------------------===//
//
// On an arbitrary graph no fixed pattern uses all links. Here the pattern is made for the graph: each piece of each rank's
// block goes down a tree of its own (all_gather, broadcast), up one (reduce_scatter, reduce), up and down again (all_reduce) or
// along a path (all_to_all), such that no link carries much more than the busiest one has to (the cut bound); then the transfers
// are put in an order, and the order is a step program.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_PACKEDTREES_H
#define BRAID_RUNTIME_ALGORITHMS_PACKEDTREES_H

#include "braid/runtime/algorithms/StepProgram.h"
#include <map>
#include <mutex>

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
  bool reduces = false;      ///< it is added to what is there, on its way up a tree
};

/// What all ranks do.
struct PackedPlan {
  Collective collective = Collective::AllGather;
  int ranks = 0, pieces = 1; ///< a block is so many chunks
  std::vector<Transfer> transfers;
  std::vector<std::vector<int>> events; ///< by rank, in its order: transfer t as 2 t (send) or 2 t + 1 (receive)
  double time = 0;                      ///< seconds, with blocks of the size asked for
  double bound = 0;                     ///< seconds that some cut of the graph takes at least, latencies apart
};

/// For blocks of `blockBytes`: what a rank gives to all, or to each, or gets of a sum; of broadcast and reduce the operand.
/// `root`: of these two. `problem`: why there is none (empty: there is).
PackedPlan packTrees(const FabricGraph &graph, Collective collective, double blockBytes, std::string &problem,
                     int root = 0);

/// Seconds that the collective takes at least: what has to leave a set of nodes, over what its links carry. all_gather: the
/// largest over all sets, found by maximum flows; reduce_scatter: the same with all links turned around; all_reduce: the two
/// together, broadcast and reduce: the narrowest cut between the root and another; all_to_all: the largest over the sets that
/// separate two ranks best, each node alone, and those of all_gather (the largest over all sets is a hard problem).
double cutBound(const FabricGraph &graph, Collective collective, double blockBytes, int root = 0);

/// A graph and a size, which say what every rank's program is: planning is deterministic. Plans are made when they are asked
/// for, once. Thread-safe.
class Packing {
public:
  Packing(FabricGraph graph, double blockBytes) : graph(std::move(graph)), blockBytes(blockBytes) {}

  /// The plan of a collective on so many ranks; null: `problem` says why not.
  std::shared_ptr<const PackedPlan> plan(Collective collective, int ranks, int root, std::string &problem) const;
  /// In words that parse() reads:
  ///   packed_trees(ranks=3 nodes=4 block=65536 links=5e+10/1e-06:0-3.1-3;2.5e+10/1e-06:2>3.3>2)
  /// Bytes per second and seconds of the links after them; 0-3 is a link in each direction, 2>3 in one.
  std::string spelling() const;
  /// What spelling() has put into words, from its keys and values; null: `problem` says what is wrong.
  static std::shared_ptr<const Packing> read(const std::map<std::string, std::string> &words, std::string &problem);

  const FabricGraph graph;
  const double blockBytes;

private:
  mutable std::mutex mutex;
  mutable std::map<std::pair<Collective, int>, std::pair<std::shared_ptr<const PackedPlan>, std::string>> plans;
};

} // namespace braid::algorithms

#endif
