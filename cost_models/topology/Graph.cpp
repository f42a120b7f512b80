//===- Graph.cpp - searches in a topology, on Boost.Graph -------------------------------------------------------===//
#include "topology/Graph.h"
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/strong_components.hpp>

namespace braid::cost {

struct Graph::State {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph;
};

Graph::Graph(const Topology &topology) : state(std::make_unique<State>()) {
  state->graph = decltype(state->graph)(topology.vertices().size());
  for (const Topology::Link &link : topology.links())
    boost::add_edge(link.from, link.to, state->graph);
}

Graph::~Graph() = default;

int Graph::distance(int from, int to) const {
  std::vector<int> distances(boost::num_vertices(state->graph), -1);
  distances[from] = 0;
  auto record = boost::record_distances(distances.data(), boost::on_tree_edge());
  boost::breadth_first_search(state->graph, boost::vertex(from, state->graph),
                              boost::visitor(boost::make_bfs_visitor(record)));
  return distances[to];
}

bool Graph::connected() const {
  std::vector<int> component(boost::num_vertices(state->graph));
  return component.empty() || boost::strong_components(state->graph, component.data()) == 1;
}

} // namespace braid::cost
