//===- PackedTrees.cpp - all_gather and all_to_all along trees and paths made for a topology ---------------------===//
//
// The plan is made once for all ranks (packTrees: links for each piece, then an order); a rank's program is its events in
// that order. Relays keep what is not theirs in scratch.
//
// n ranks, P pieces, one channel: n blocks of P chunks.
//
//               steps (chain of messages)        chunks on the wire
//   all_gather  as planned                       n (n-1) P
//   all_to_all  as planned                       the number of transfers: P n (n-1) and one for each relay on a path
//
// Worked example, three ranks in a line, 0 - 1 - 2, P = 1, all_gather: 0 sends its block to 1, which sends it to 2; 1 sends its
// own to both; 2 sends to 1, which sends to 0. The cut around {0, 1} and that around {1, 2} take two blocks each.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "PackTrees.h"
#include <algorithm>

namespace braid::algorithms {

/// Of the quickest way from a rank to another.
static double latencyOf(const FabricGraph &graph, const Routes &routes) {
  double least = -1;
  for (int from = 0; from < graph.ranks; ++from)
    for (int to = 0; to < graph.ranks; ++to) {
      double sum = 0;
      for (int link : from == to ? std::vector<int>() : routes.of(from, to))
        sum += graph.links[link].latency;
      if (from != to && !routes.of(from, to).empty() && (least < 0 || sum < least))
        least = sum;
    }
  return std::max(0.0, least);
}

PackedPlan packTrees(const FabricGraph &graph, Collective collective, double blockBytes, std::string &problem) {
  problem.clear();
  PackedPlan best;
  best.collective = collective;
  best.ranks = graph.ranks;
  if (collective != Collective::AllGather && collective != Collective::AllToAll) {
    problem = std::string("trees are packed for all_gather and all_to_all, got ") + name(collective);
    return best;
  }
  for (const FabricGraph::Link &link : graph.links)
    if (link.from < 0 || link.to < 0 || link.from >= graph.nodes || link.to >= graph.nodes || !(link.bandwidth > 0) ||
        !(link.latency >= 0)) {
      problem = "expected links between nodes below " + std::to_string(graph.nodes) +
                " with a bandwidth above 0, got one from " + std::to_string(link.from) + " to " +
                std::to_string(link.to);
      return best;
    }
  Routes routes(graph);
  best.bound = cutBound(graph, collective, blockBytes);
  // Many pieces fill the links, few make short chains, and so do shallow trees; what is best depends on the size. At most so many
  // pieces that planning takes about as long for any number of ranks.
  constexpr double mostMessages = 40000;
  bool exchanges = collective == Collective::AllToAll;
  double each = double(graph.ranks) * std::max(1, graph.ranks - 1) * (exchanges ? 4 : 1);
  double latency = latencyOf(graph, routes);
  for (auto [wanted, shallow] : {std::pair<int, double>{32, 0.02}, {32, 0.3}, {16, 0.3}}) {
    bool good = best.time > 0 && best.time <= (best.bound + latency) * 1.002;
    if (good || (exchanges && best.time > 0)) // paths have no shape to choose
      continue;
    int pieces = std::max(1, std::min(exchanges ? wanted / 8 : wanted, int(mostMessages / each)));
    std::vector<Transfer> transfers =
        packRoutes(graph, routes, collective, blockBytes, pieces, std::max(best.bound, 1e-12), shallow);
    if (transfers.empty() && graph.ranks > 1) {
      problem = "expected a way from every rank to every other, got none for some";
      return best;
    }
    double time = scheduleTransfers(graph, routes, blockBytes / pieces, transfers);
    if (best.time > 0 && time >= best.time)
      continue;
    best.time = time;
    best.pieces = pieces;
    best.transfers = std::move(transfers);
  }
  best.events.assign(graph.ranks, {});
  for (int t = 0; t < int(best.transfers.size()); ++t) {
    best.events[best.transfers[t].from].push_back(2 * t);
    best.events[best.transfers[t].to].push_back(2 * t + 1);
  }
  auto timeOf = [&](int event) {
    const Transfer &transfer = best.transfers[event / 2];
    return event % 2 ? transfer.end : transfer.begin;
  };
  for (std::vector<int> &events : best.events)
    std::sort(events.begin(), events.end(), [&](int a, int b) {
      return timeOf(a) != timeOf(b) ? timeOf(a) < timeOf(b)
             : a % 2 != b % 2       ? a % 2 > b % 2
                                    : a < b; // what arrives may be sent at once
    });
  return best;
}

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && (collective == Collective::AllGather || collective == Collective::AllToAll);
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  const PackedPlan &plan = *options.packed;
  StepProgram result;
  result.collective = collective;
  result.ranks = ranks;
  result.chunks = ranks * plan.pieces;
  bool exchanges = collective == Collective::AllToAll;
  auto passes = [&](const Transfer &transfer) { return exchanges && transfer.to == rank && transfer.target != rank; };
  std::vector<int> slot(plan.transfers.size(), -1); // of what passes through, by the transfer that brings it
  for (int event : plan.events[rank])
    if (event % 2 && passes(plan.transfers[event / 2])) {
      slot[event / 2] = int(result.scratch.size());
      result.scratch.push_back(plan.transfers[event / 2].piece);
    }
  for (int event : plan.events[rank]) {
    const Transfer &transfer = plan.transfers[event / 2];
    int owner = exchanges && transfer.after < 0 && event % 2 == 0 ? transfer.target : transfer.source;
    int chunk = owner * plan.pieces + transfer.piece;
    if (event % 2)
      result.steps.push_back(
          {Action::Receive, transfer.from, slot[event / 2] < 0 ? chunk : result.chunks + slot[event / 2], 1, 0});
    else
      result.steps.push_back({Action::Send, transfer.to,
                              !exchanges           ? chunk
                              : transfer.after < 0 ? result.own(chunk)
                                                   : result.chunks + slot[transfer.after],
                              1, 0});
  }
  return result;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  const PackedPlan &plan = *options.packed;
  std::vector<int> order(2 * plan.transfers.size()); // all events by time: what was sent before it was received
  for (size_t event = 0; event < order.size(); ++event)
    order[event] = int(event);
  auto timeOf = [&](int event) {
    const Transfer &transfer = plan.transfers[event / 2];
    return event % 2 ? transfer.end : transfer.begin;
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return timeOf(a) != timeOf(b) ? timeOf(a) < timeOf(b) : a % 2 != b % 2 ? a % 2 > b % 2 : a < b;
  });
  std::vector<int64_t> reached(ranks), chain(plan.transfers.size());
  int64_t longest = 0;
  for (int event : order) {
    const Transfer &transfer = plan.transfers[event / 2];
    if (event % 2)
      reached[transfer.to] = std::max(reached[transfer.to], chain[event / 2]);
    else
      longest = std::max(longest, chain[event / 2] = reached[transfer.from] + 1);
  }
  return longest;
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return int64_t(options.packed->transfers.size());
}

Algorithm packedTrees() { return {"packed_trees", serves, program, steps, wireChunks, Needs::Topology}; }

} // namespace braid::algorithms
