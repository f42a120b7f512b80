//===- CutBound.cpp - how long a cut of a graph takes at least --------------------------------------------------===//
//
// A set X of nodes, with a ranks of n inside. all_gather: every rank outside needs the a blocks from inside, and they have to
// get out at least once: time >= a b / (bandwidth that leaves X), if there is a rank outside. all_to_all: a (n - a) b.
//
// The worst set for all_gather: with a time T, a source gives b to each rank, and links carry T times their bandwidth. If rank v
// cannot get n b, the minimum cut is a set that takes longer than T; T becomes what it takes, until all ranks get all
// (Dinkelbach; the cuts of ForestColl, arXiv 2402.06787).
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/algorithms/PackedTrees.h"
#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace braid::algorithms {

namespace {

/// Maximum flow by shortest augmenting paths (Dinic). Nodes, and a source.
class Flow {
public:
  explicit Flow(int nodes) : first(nodes) {}

  void add(int from, int to, double capacity) {
    first[from].push_back(int(edges.size()));
    edges.push_back({to, capacity});
    first[to].push_back(int(edges.size()));
    edges.push_back({from, 0});
  }

  double run(int from, int to) {
    double total = 0;
    for (const Edge &edge : edges)
      tiny = std::max(tiny, edge.capacity * 1e-12);
    while (levels(from, to)) {
      next.assign(first.size(), 0);
      while (double sent = push(from, to, std::numeric_limits<double>::infinity()))
        total += sent;
    }
    return total;
  }

  /// After run: the nodes on the source's side of a minimum cut.
  std::vector<char> side() const {
    std::vector<char> reached(level.size());
    for (size_t node = 0; node < level.size(); ++node)
      reached[node] = level[node] >= 0;
    return reached;
  }

private:
  struct Edge {
    int to;
    double capacity;
  };

  bool levels(int from, int to) {
    level.assign(first.size(), -1);
    level[from] = 0;
    std::queue<int> open;
    open.push(from);
    while (!open.empty()) {
      int node = open.front();
      open.pop();
      for (int e : first[node])
        if (edges[e].capacity > tiny && level[edges[e].to] < 0) {
          level[edges[e].to] = level[node] + 1;
          open.push(edges[e].to);
        }
    }
    return level[to] >= 0;
  }

  double push(int node, int to, double limit) {
    if (node == to)
      return limit;
    for (size_t &i = next[node]; i < first[node].size(); ++i) {
      Edge &edge = edges[first[node][i]];
      if (edge.capacity <= tiny || level[edge.to] != level[node] + 1)
        continue;
      if (double sent = push(edge.to, to, std::min(limit, edge.capacity))) {
        edge.capacity -= sent;
        edges[first[node][i] ^ 1].capacity += sent;
        return sent;
      }
    }
    return 0;
  }

  std::vector<std::vector<int>> first;
  std::vector<Edge> edges;
  std::vector<int> level;
  std::vector<size_t> next;
  double tiny = 0;
};

/// What the set takes at least; 0: it holds no rank, or all.
double timeOf(const FabricGraph &graph, Collective collective, double bytes, const std::vector<char> &inside) {
  double out = 0, ranks = 0;
  for (int rank = 0; rank < graph.ranks; ++rank)
    ranks += inside[rank];
  for (const FabricGraph::Link &link : graph.links)
    if (inside[link.from] && !inside[link.to])
      out += link.bandwidth;
  double others = graph.ranks - ranks;
  if (ranks == 0 || others == 0)
    return 0;
  return bytes * ranks * (collective == Collective::AllToAll ? others : 1) / out; // no way out: infinity
}

} // namespace

static FabricGraph turned(FabricGraph graph) {
  for (FabricGraph::Link &link : graph.links)
    std::swap(link.from, link.to);
  return graph;
}

double cutBound(const FabricGraph &graph, Collective collective, double blockBytes, int root) {
  int n = graph.ranks, source = graph.nodes;
  double bound = 0;
  if (collective == Collective::ReduceScatter || collective == Collective::Reduce)
    return cutBound(turned(graph), collective == Collective::Reduce ? Collective::Broadcast : Collective::AllGather,
                    blockBytes, root);
  if (collective == Collective::AllReduce)
    return cutBound(graph, Collective::ReduceScatter, blockBytes) + cutBound(graph, Collective::AllGather, blockBytes);
  if (collective == Collective::Broadcast) {
    for (int rank = 0; rank < n; ++rank) {
      Flow flow(graph.nodes);
      for (const FabricGraph::Link &link : graph.links)
        flow.add(link.from, link.to, link.bandwidth);
      if (rank != root)
        bound = std::max(bound, blockBytes / flow.run(root, rank)); // no way: infinity
    }
    return bound;
  }
  auto consider = [&](std::vector<char> inside) {
    inside.resize(graph.nodes);
    double time = timeOf(graph, collective, blockBytes, inside);
    bool longer = time > bound * (1 + 1e-9);
    bound = std::max(bound, time);
    return longer;
  };
  for (int rank = 0; rank < n; ++rank) { // alone, and all but it
    std::vector<char> one(graph.nodes), rest(graph.nodes, 1);
    one[rank] = 1;
    rest[rank] = 0;
    consider(one);
    consider(rest);
  }
  double gather = bound; // of all_gather, whose worst sets are candidates for all_to_all too
  if (collective == Collective::AllToAll)
    gather = cutBound(graph, Collective::AllGather, blockBytes);
  for (int rank = 0; rank < n; ++rank)
    for (bool again = true; again;) {
      again = false;
      Flow flow(graph.nodes + 1);
      for (int other = 0; other < n; ++other)
        flow.add(source, other, blockBytes);
      double time = collective == Collective::AllToAll ? gather * (1 - 1e-6) : bound;
      for (const FabricGraph::Link &link : graph.links)
        flow.add(link.from, link.to, link.bandwidth * time);
      if (flow.run(source, rank) < n * blockBytes * (1 - 1e-9))
        again = consider(flow.side()) && collective != Collective::AllToAll;
    }
  for (int from = 0; from < n && collective == Collective::AllToAll; ++from)
    for (int to = 0; to < n; ++to)
      if (from != to) {
        Flow flow(graph.nodes);
        for (const FabricGraph::Link &link : graph.links)
          flow.add(link.from, link.to, link.bandwidth);
        flow.run(from, to);
        consider(flow.side());
      }
  return bound;
}

} // namespace braid::algorithms
