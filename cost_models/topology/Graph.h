//===- Graph.h - searches in a topology, on Boost.Graph (in Graph.cpp only) -------------------------------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_GRAPH_H
#define BRAID_COST_MODELS_TOPOLOGY_GRAPH_H

#include "braid/cost_models/Topology.h"

namespace braid::cost {

class Graph {
public:
  explicit Graph(const Topology &topology);
  ~Graph();
  /// Fewest links between two vertices, -1 if there is no way.
  int distance(int from, int to) const;
  /// Whether every vertex reaches every other.
  bool connected() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace braid::cost

#endif
