//===- PackedTrees.cpp - collectives along trees and paths made for a topology ----------------------------------===//
//
// The plan is made once for all ranks (packTrees: links for each piece, then an order); a rank's program is its events in
// that order. Relays of an all_to_all keep what is not theirs in scratch.
//
// A sum goes up the trees of an all_gather on the graph with its links turned around, in the reverse of its order: where a rank
// would give a piece to its children, it adds what they have summed. So each sum is made in one place, by one tree.
//
// n ranks, P pieces, one channel: n blocks of P chunks; broadcast and reduce: P chunks.
//
//                               steps (chain of messages)   chunks on the wire
//   all_gather, reduce_scatter  as planned                  n (n-1) P
//   all_reduce                  as planned                  2 n (n-1) P
//   broadcast, reduce           as planned                  (n-1) P
//   all_to_all                  as planned                  the number of transfers: P n (n-1) and one for each relay on a path
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

static double timeOf(const PackedPlan &plan, int event) {
  const Transfer &transfer = plan.transfers[event / 2];
  return event % 2 ? transfer.end : transfer.begin;
}

/// What comes first of two events: what arrives may be sent at once, and messages of a pair arrive in the order of their sends.
static bool isBefore(const PackedPlan &plan, int a, int b) {
  if (double x = timeOf(plan, a), y = timeOf(plan, b); x != y)
    return x < y;
  if (a % 2 != b % 2)
    return a % 2 > b % 2;
  double x = plan.transfers[a / 2].begin, y = plan.transfers[b / 2].begin;
  return x != y ? x < y : a < b;
}

/// Each rank's events in their order. `problem`: rounding has let a message overtake another of its pair, which none does.
static void orderEvents(PackedPlan &plan, std::string &problem) {
  plan.events.assign(plan.ranks, {});
  for (int t = 0; t < int(plan.transfers.size()); ++t) {
    plan.events[plan.transfers[t].from].push_back(2 * t);
    plan.events[plan.transfers[t].to].push_back(2 * t + 1);
  }
  std::map<std::pair<int, int>, std::vector<int>> sent, taken; // of a pair of ranks, in each one's order
  for (std::vector<int> &events : plan.events) {
    std::sort(events.begin(), events.end(), [&](int a, int b) { return isBefore(plan, a, b); });
    for (int event : events)
      (event % 2 ? taken : sent)[{plan.transfers[event / 2].from, plan.transfers[event / 2].to}].push_back(event / 2);
  }
  if (sent != taken)
    problem = "expected messages of two ranks in one order, got two by rounding; ask for another block";
}

/// all_gather, all_to_all, or broadcast. `pieces`: 0: the best number.
static PackedPlan packDown(const FabricGraph &graph, Collective collective, int root, double blockBytes, int pieces,
                           std::string &problem) {
  PackedPlan best;
  best.collective = collective;
  best.ranks = graph.ranks;
  Routes routes(graph);
  best.bound = cutBound(graph, collective, blockBytes, root);
  // Many pieces fill the links, few make short chains, and so do shallow trees; what is best depends on the size. At most so many
  // pieces that planning takes about as long for any number of ranks.
  constexpr double mostMessages = 40000;
  bool exchanges = collective == Collective::AllToAll;
  double sources = collective == Collective::Broadcast ? 1 : graph.ranks;
  double each = sources * std::max(1, graph.ranks - 1) * (exchanges ? 4 : 1);
  double latency = latencyOf(graph, routes);
  for (auto [wanted, shallow] : {std::pair<int, double>{32, 0.02}, {32, 0.3}, {16, 0.3}}) {
    bool good = best.time > 0 && best.time <= (best.bound + latency) * 1.002;
    if (good || (exchanges && best.time > 0)) // paths have no shape to choose
      continue;
    int some = pieces ? pieces : std::max(1, std::min(exchanges ? wanted / 8 : wanted, int(mostMessages / each)));
    std::vector<Transfer> transfers =
        packRoutes(graph, routes, collective, root, blockBytes, some, std::max(best.bound, 1e-12), shallow);
    if (transfers.empty() && graph.ranks > 1) {
      problem = "expected a way from every rank to every other, got none for some";
      return best;
    }
    double time = scheduleTransfers(graph, routes, blockBytes / some, transfers);
    if (best.time > 0 && time >= best.time)
      continue;
    best.time = time;
    best.pieces = some;
    best.transfers = std::move(transfers);
  }
  orderEvents(best, problem);
  return best;
}

/// The same trees from their leaves to the root, in the reverse order: what was given is now added.
static PackedPlan packUp(FabricGraph graph, Collective collective, int root, double blockBytes, std::string &problem) {
  for (FabricGraph::Link &link : graph.links)
    std::swap(link.from, link.to);
  PackedPlan plan = packDown(graph, collective == Collective::Reduce ? Collective::Broadcast : Collective::AllGather,
                             root, blockBytes, 0, problem);
  plan.collective = collective;
  for (Transfer &transfer : plan.transfers) {
    std::swap(transfer.from, transfer.to);
    double begin = plan.time - transfer.end;
    transfer.end = plan.time - transfer.begin;
    transfer.begin = begin;
    transfer.after = -1; // after several
    transfer.reduces = true;
  }
  if (problem.empty())
    orderEvents(plan, problem);
  return plan;
}

PackedPlan packTrees(const FabricGraph &graph, Collective collective, double blockBytes, std::string &problem,
                     int root) {
  problem.clear();
  PackedPlan none;
  none.ranks = graph.ranks;
  if (!packedTrees().serves(collective, graph.ranks)) {
    problem = std::string("trees are not packed for ") + name(collective);
    return none;
  }
  for (const FabricGraph::Link &link : graph.links)
    if (link.from < 0 || link.to < 0 || link.from >= graph.nodes || link.to >= graph.nodes || !(link.bandwidth > 0) ||
        !(link.latency >= 0)) {
      problem = "expected links between nodes below " + std::to_string(graph.nodes) +
                " with a bandwidth above 0, got one from " + std::to_string(link.from) + " to " +
                std::to_string(link.to);
      return none;
    }
  if (collective == Collective::ReduceScatter || collective == Collective::Reduce)
    return packUp(graph, collective, root, blockBytes, problem);
  if (collective != Collective::AllReduce)
    return packDown(graph, collective, root, blockBytes, 0, problem);
  PackedPlan up = packUp(graph, Collective::ReduceScatter, root, blockBytes, problem);
  PackedPlan down = problem.empty() ? packDown(graph, Collective::AllGather, root, blockBytes, up.pieces, problem) : up;
  up.collective = collective;
  int first = int(up.transfers.size());
  for (Transfer transfer : down.transfers) {
    transfer.begin += up.time;
    transfer.end += up.time;
    transfer.after += transfer.after >= 0 ? first : 0;
    up.transfers.push_back(transfer);
  }
  for (int rank = 0; rank < graph.ranks; ++rank)
    for (int event : down.events[size_t(rank)])
      up.events[size_t(rank)].push_back(event + 2 * first);
  up.time += down.time;
  up.bound += down.bound;
  return up;
}

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && collective != Collective::Permute && collective != Collective::Gather &&
         collective != Collective::Scatter && collective != Collective::Barrier;
}

/// The plan of a program that is to be made; who gives a packing has asked it for problems.
static std::shared_ptr<const PackedPlan> planOf(Collective collective, int ranks, const StepOptions &options) {
  std::string problem;
  return options.packed ? options.packed : options.packing->plan(collective, ranks, options.root, problem);
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  std::shared_ptr<const PackedPlan> made = planOf(collective, ranks, options);
  const PackedPlan &plan = *made;
  StepProgram result;
  result.collective = collective;
  result.ranks = ranks;
  bool exchanges = collective == Collective::AllToAll;
  bool whole = collective == Collective::Broadcast || collective == Collective::Reduce;
  result.chunks = (whole ? 1 : ranks) * plan.pieces;
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
    int chunk = (whole ? 0 : owner * plan.pieces) + transfer.piece;
    if (event % 2)
      result.steps.push_back({transfer.reduces ? Action::ReceiveReduce : Action::Receive, transfer.from,
                              slot[event / 2] < 0 ? chunk : result.chunks + slot[event / 2], 1, 0});
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
  std::shared_ptr<const PackedPlan> made = planOf(collective, ranks, options);
  const PackedPlan &plan = *made;
  // Each rank's events in its order, when what they wait for has happened.
  std::vector<int64_t> reached(ranks), chain(plan.transfers.size());
  std::vector<size_t> next(ranks);
  int64_t longest = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < ranks; ++rank)
      for (; next[rank] < plan.events[rank].size(); ++next[rank], moved = true) {
        int event = plan.events[rank][next[rank]];
        if (event % 2 == 0)
          longest = std::max(longest, chain[event / 2] = reached[rank] + 1);
        else if (chain[event / 2])
          reached[rank] = std::max(reached[rank], chain[event / 2]);
        else
          break;
      }
  }
  return longest;
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return int64_t(planOf(collective, ranks, options)->transfers.size());
}

Algorithm packedTrees() { return {"packed_trees", serves, program, steps, wireChunks, Needs::Topology}; }

} // namespace braid::algorithms
