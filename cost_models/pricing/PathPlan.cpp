//===- PathPlan.cpp - connections, rails and source ports of a collective's flows ---------------------------------===//
#include "pricing/PathPlan.h"
#include "braid/runtime/algorithms/Paths.h"
#include "pricing/AssignPaths.h"
#include "pricing/Terms.h"
#include <algorithm>

namespace braid::cost {

namespace {

constexpr size_t mostConnections = 4096; ///< setting: of a path: a plan is to stay readable

/// The way of each connection of a flow as the switches hash it when nobody chooses ports.
std::vector<int> hashedChoices(const PathFlow &flow, int from, int to, int connections, const Topology &topology) {
  std::vector<int> taken;
  for (int connection = 0; connection < connections; ++connection) {
    Topology::Path way = topology.path(from, to, uint64_t(connection));
    auto found = std::find_if(flow.choices.begin(), flow.choices.end(),
                              [&](const Topology::PortedPath &choice) { return choice.path == way; });
    taken.push_back(found == flow.choices.end() ? 0 : int(found - flow.choices.begin()));
  }
  return taken;
}

} // namespace

std::optional<PathPlan> planPaths(const PlayedCollective &collective, const PlayedNetwork &network, int connections) {
  const Topology &topology = network.topology;
  std::vector<FlowRound> rounds = collective.rounds(network);
  std::map<std::pair<int, int>, PathFlow> byEnds;
  for (size_t round = 0; round < rounds.size(); ++round)
    for (const auto &[ends, part] : rounds[round])
      byEnds[ends].sent.push_back({int(round), part});
  std::vector<PathFlow> flows;
  std::vector<std::vector<int>> hashed;
  for (auto entry = byEnds.begin(); entry != byEnds.end();) {
    auto &[ends, flow] = *entry;
    int from = network.deviceOf[size_t(ends.first)], to = network.deviceOf[size_t(ends.second)];
    if (topology.pathSet(from, to).size() < 2) { // under one leaf
      entry = byEnds.erase(entry);
      continue;
    }
    flow.choices = topology.choices(from, to, connections);
    if (flow.choices.empty() || (flows.size() + 1) * size_t(connections) > mostConnections)
      return std::nullopt;
    hashed.push_back(hashedChoices(flow, from, to, connections, topology));
    flows.push_back(flow);
    ++entry;
  }
  if (flows.empty())
    return std::nullopt;
  PathAssignment assigned = assignPaths(flows, connections, topology);
  algorithms::Paths paths;
  paths.destinationPort = topology.cluster().flowHash.destinationPort;
  auto ways = std::make_shared<std::map<std::pair<int, int>, std::vector<Topology::Path>>>();
  size_t index = 0;
  for (const auto &[ends, flow] : byEnds) {
    std::vector<int> &own = assigned.choice[index++];
    std::sort(own.begin(), own.end());
    for (size_t connection = 0; connection < own.size(); ++connection) {
      const Topology::PortedPath &choice = flow.choices[size_t(own[connection])];
      size_t before = size_t(std::count(own.begin(), own.begin() + long(connection), own[connection]));
      if (before >= choice.ports.size())
        return std::nullopt;
      paths.flows[ends].push_back({choice.ports[before], choice.rail});
      (*ways)[ends].push_back(choice.path);
    }
  }
  double most = mostLoaded(flows, hashed, topology);
  PathPlan plan;
  plan.path = paths.spelling();
  plan.ways = std::move(ways);
  std::string each = connections > 1 ? text(", %d connections each", connections) : "";
  plan.how = text("source ports of %zu flows%s: ", flows.size(), each.c_str());
  if (assigned.most > 0) {
    std::string when = rounds.size() > 1 ? text("summed over %zu rounds", rounds.size()) : "at once";
    std::string least = assigned.optimal ? "the fewest possible" : text("at least %.3g", assigned.bound);
    plan.how += text("%s %.3g on the most loaded link where they choose, %s; as their hash deals them, %.3g",
                     when.c_str(), assigned.most, least.c_str(), most);
  } else // also where they collide
    plan.how += "none has a choice, all of its ports lead it the same way";
  return plan;
}

} // namespace braid::cost
