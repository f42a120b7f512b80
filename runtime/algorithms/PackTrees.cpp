//===- PackTrees.cpp - which links each piece takes --------------------------------------------------------------===//
//
// A link has a price that grows exponentially with the time it is busy already, and falls with its bandwidth. Each piece takes
// the cheapest tree (all_gather: grown rank by rank, the cheapest next) or path (all_to_all) at the prices of the moment. A
// few rounds follow in which each piece gives its links back and chooses again. Prices of this form lead to loads near the
// least possible (Plotkin, Shmoys and Tardos, 1995); cutBound says how near.
//===------------------------------------------------------------------------------------------------------------===//
#include "PackTrees.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

namespace braid::algorithms {

std::vector<int> FabricGraph::route(int from, int to) const {
  struct Way {
    int hops = std::numeric_limits<int>::max();
    double width = 0;
    int link = -1;
  };
  std::vector<Way> best(nodes);
  best[from] = {0, std::numeric_limits<double>::infinity(), -1};
  std::vector<int> level = {from};
  for (int hops = 1; !level.empty() && best[to].link < 0; ++hops) {
    std::vector<int> following;
    for (int link = 0; link < int(links.size()); ++link) {
      const Link &l = links[link];
      bool starts = std::find(level.begin(), level.end(), l.from) != level.end();
      if (!starts || (l.to < ranks && l.to != to) || best[l.to].hops < hops)
        continue;
      double width = std::min(best[l.from].width, l.bandwidth);
      if (best[l.to].hops > hops)
        following.push_back(l.to);
      if (best[l.to].hops > hops || width > best[l.to].width)
        best[l.to] = {hops, width, link};
    }
    level = following;
  }
  std::vector<int> path;
  for (int node = to; node != from && best[node].link >= 0; node = links[best[node].link].from)
    path.push_back(best[node].link);
  std::reverse(path.begin(), path.end());
  return path;
}

Routes::Routes(const FabricGraph &graph) : n(graph.ranks), paths(size_t(n) * size_t(n)) {
  for (int from = 0; from < n; ++from)
    for (int to = 0; to < n; ++to)
      if (from != to)
        paths[size_t(from) * n + to] = graph.route(from, to);
}

namespace {

class Packer {
public:
  Packer(const FabricGraph &graph, const Routes &routes, double pieceBytes, double bound, double shallow)
      : graph(graph), routes(routes), bytes(pieceBytes), bound(bound), shallow(shallow), busy(graph.links.size()) {}

  /// Edges (from, to) of the piece's tree or path, in an order in which they can be made; empty: not all can be reached.
  std::vector<std::pair<int, int>> choose(int source, int target) {
    return target < 0 ? tree(source) : path(source, target);
  }

  void use(const std::vector<std::pair<int, int>> &edges, double times) {
    for (auto [from, to] : edges)
      use(from, to, times);
  }

private:
  void use(int from, int to, double times) {
    for (int link : routes.of(from, to))
      busy[link] += times * bytes / graph.links[link].bandwidth;
  }

  /// What a transfer costs at the prices of the moment, and the time it takes for itself.
  double price(int from, int to) const {
    double sum = 0;
    for (int link : routes.of(from, to)) {
      const FabricGraph::Link &l = graph.links[link];
      double time = bytes / l.bandwidth;
      sum += time / bound * (std::exp(steepness * (busy[link] + time) / bound) + 1e-3) + 1e-6 * l.latency / bound;
    }
    return sum;
  }

  std::vector<std::pair<int, int>> tree(int source) {
    std::vector<std::pair<int, int>> edges;
    std::vector<double> cost(graph.ranks, std::numeric_limits<double>::infinity());
    std::vector<int> parent(graph.ranks, -1), depth(graph.ranks);
    std::vector<char> in(graph.ranks);
    int newest = source;
    in[source] = 1;
    for (int count = 1; count < graph.ranks; ++count) {
      for (int to = 0; to < graph.ranks; ++to)
        if (!in[to] && !routes.of(newest, to).empty())
          if (double c = price(newest, to) * (1 + shallow * depth[newest]); c < cost[to]) {
            cost[to] = c;
            parent[to] = newest;
          }
      int best = -1;
      for (int to = 0; to < graph.ranks; ++to)
        if (!in[to] && parent[to] >= 0 && (best < 0 || cost[to] < cost[best]))
          best = to;
      if (best < 0)
        break;
      in[best] = 1;
      depth[best] = depth[parent[best]] + 1;
      edges.push_back({parent[best], best});
      use(parent[best], best, 1);
      int giver = parent[best];
      newest = best;
      for (int to = 0; to < graph.ranks; ++to) // the giver's links have become dearer
        if (!in[to] && parent[to] == giver)
          cost[to] = price(giver, to) * (1 + shallow * depth[giver]);
    }
    use(edges, -1);
    if (int(edges.size()) != graph.ranks - 1)
      edges.clear();
    return edges;
  }

  std::vector<std::pair<int, int>> path(int source, int target) {
    std::vector<double> cost(graph.ranks, std::numeric_limits<double>::infinity());
    std::vector<int> parent(graph.ranks, -1);
    std::vector<char> done(graph.ranks);
    cost[source] = 0;
    for (;;) {
      int at = -1;
      for (int rank = 0; rank < graph.ranks; ++rank)
        if (!done[rank] && cost[rank] < std::numeric_limits<double>::infinity() && (at < 0 || cost[rank] < cost[at]))
          at = rank;
      if (at < 0 || at == target)
        break;
      done[at] = 1;
      for (int to = 0; to < graph.ranks; ++to)
        if (!done[to] && !routes.of(at, to).empty())
          if (double c = cost[at] + price(at, to); c < cost[to]) {
            cost[to] = c;
            parent[to] = at;
          }
    }
    std::vector<std::pair<int, int>> edges;
    for (int rank = target; rank != source && parent[rank] >= 0; rank = parent[rank])
      edges.push_back({parent[rank], rank});
    std::reverse(edges.begin(), edges.end());
    return edges;
  }

  static constexpr double steepness = 12;
  const FabricGraph &graph;
  const Routes &routes;
  double bytes, bound, shallow;
  std::vector<double> busy; ///< seconds, by link
};

} // namespace

std::vector<Transfer> packRoutes(const FabricGraph &graph, const Routes &routes, Collective collective, int root,
                                 double blockBytes, int pieces, double bound, double shallow) {
  struct Piece {
    int source, target, number;
    std::vector<std::pair<int, int>> edges;
  };
  std::vector<Piece> all;
  for (int number = 0; number < pieces; ++number)
    for (int source = 0; source < graph.ranks; ++source)
      for (int shift = 1; shift < (collective == Collective::AllToAll ? graph.ranks : 2); ++shift)
        if (collective != Collective::Broadcast || source == root)
          all.push_back({source, collective == Collective::AllToAll ? (source + shift) % graph.ranks : -1, number, {}});
  Packer packer(graph, routes, blockBytes / pieces, bound, shallow);
  for (int round = 0; round < 3; ++round)
    for (Piece &piece : all) {
      packer.use(piece.edges, -1);
      piece.edges = packer.choose(piece.source, piece.target);
      if (piece.edges.empty())
        return {};
      packer.use(piece.edges, 1);
    }
  std::vector<Transfer> transfers;
  std::vector<int> bringer(graph.ranks);
  for (const Piece &piece : all) {
    bringer.assign(graph.ranks, -1);
    for (auto [from, to] : piece.edges) {
      bringer[to] = int(transfers.size());
      transfers.push_back({piece.source, piece.target, piece.number, from, to, bringer[from]});
    }
  }
  return transfers;
}

} // namespace braid::algorithms
