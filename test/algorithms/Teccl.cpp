//===- Teccl.cpp - packed trees against TE-CCL's schedules ------------------------------------------------------===//
//
// For each topology, collective and size of 1 MB or more: the plan for its graph, played by the cost model's player under the
// link rule, takes at most 1.01 times the best finish time that TE-CCL published, or 1.01 times the cut bound and the latency of
// the quickest way between two ranks, whichever is larger; and is made in less than a second.
//
// The tables' sizes are of all blocks of as many GPUs as the chassis have; nodes that TE-CCL declares switches hold none.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/algorithms/PackedTrees.h"
#include "pricing/Player.h"
#include "test/algorithms/Checks.h"
#include "test/unit/PricedClusters.h"
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>

namespace braid::test {

using namespace algorithms;

namespace {

std::vector<std::vector<std::string>> readCsv(const char *path) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#' || line.compare(0, 9, "topology,") == 0)
      continue;
    rows.emplace_back();
    std::stringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');)
      rows.back().push_back(field);
  }
  return rows;
}

/// Ranks first, then the nodes that are switches.
FabricGraph graphOf(const std::vector<std::vector<std::string>> &edges, const std::string &topology) {
  std::vector<int> switches = topology.compare(0, 4, "DGX2") == 0 ? std::vector<int>{0, 17} : std::vector<int>{0};
  std::map<int, int> number;
  for (const auto &row : edges)
    if (row[0] == topology)
      number[std::stoi(row[1])] = number[std::stoi(row[2])] = 0;
  FabricGraph graph;
  for (auto &[node, index] : number)
    if (std::find(switches.begin(), switches.end(), node) == switches.end())
      index = graph.ranks++;
  graph.nodes = graph.ranks;
  for (int node : switches)
    number[node] = graph.nodes++;
  for (const auto &row : edges)
    if (row[0] == topology)
      graph.links.push_back(
          {number[std::stoi(row[1])], number[std::stoi(row[2])], std::stod(row[3]) * 1e9, std::stod(row[4]) * 1e-6});
  return graph;
}

/// The programs of all ranks, played on the graph's links.
double play(const FabricGraph &graph, Collective collective, double blockBytes,
            const std::vector<StepProgram> &programs) {
  cost::Cluster cluster = cost::quietCluster(1, graph.ranks); // for nothing but the player's form
  auto topology = cost::Topology::build(cluster);
  cost::PlayedNetwork network(*topology, cost::packed(cluster));
  network.links.clear();
  for (const FabricGraph::Link &link : graph.links)
    network.links.push_back(
        {link.from, link.to, cost::Topology::Level::Nic, {link.bandwidth}, {link.latency}, &cluster.inter});
  std::vector<cost::Topology::Path> paths(size_t(graph.ranks) * size_t(graph.ranks));
  for (int from = 0; from < graph.ranks; ++from)
    for (int to = 0; to < graph.ranks; ++to)
      for (int link : from == to ? std::vector<int>() : graph.route(from, to)) {
        cost::Topology::Path &path = paths[size_t(from) * size_t(graph.ranks) + size_t(to)];
        path.links[size_t(path.count++)] = link;
      }
  network.route = [&](int from, int to) { return paths[size_t(from) * size_t(graph.ranks) + size_t(to)]; };
  std::vector<int> group;
  std::vector<cost::PlayedRank> ranks;
  for (int rank = 0; rank < graph.ranks; ++rank)
    group.push_back(rank);
  for (const StepProgram &program : programs)
    ranks.push_back({&group, program, false, int(ranks.size())});
  cost::PlayOptions options;
  options.operand = {int64_t(blockBytes * (collective == Collective::AllToAll ? graph.ranks : 1) + 0.5)};
  auto time = cost::playPrograms(ranks, network, options);
  return time ? time->value : -1;
}

} // namespace

int teccl(const char *edgesPath, const char *schedulesPath, bool control) {
  auto edges = readCsv(edgesPath), schedules = readCsv(schedulesPath);
  std::map<std::array<std::string, 3>, double> theirs; // topology, collective, size -> seconds, the best of their modes
  for (const auto &row : schedules)
    if (row[4].find("KB") == std::string::npos) {
      double &best = theirs[{row[0] + "_" + row[1], row[2], row[4]}];
      double time = std::stod(row[5]) * 1e-6;
      best = best == 0 ? time : std::min(best, time);
    }
  double worst = 0, longest = 0, furthest = 0;
  int rows = 0, over = 0;
  for (const auto &[key, published] : theirs) {
    FabricGraph graph = graphOf(edges, key[0]), seen = graph;
    if (control)
      for (FabricGraph::Link &link : seen.links) // a planner that takes all links for equal
        link.bandwidth = 50e9;
    Collective collective = key[1] == "AllGather" ? Collective::AllGather : Collective::AllToAll;
    double gpus = key[0] == "NDv2_2" ? 16 : 32;
    double block = std::stod(key[2]) * (key[2].find("GB") != std::string::npos ? 1e9 : 1e6) / gpus;
    std::clock_t begin = std::clock();
    std::string problem;
    StepOptions options;
    options.packed = std::make_shared<PackedPlan>(packTrees(seen, collective, block, problem));
    double took = double(std::clock() - begin) / CLOCKS_PER_SEC; // one thread: seconds of a processor of its own
    std::vector<StepProgram> made;
    if (problem.empty()) {
      made = programs(*find("packed_trees"), collective, graph.ranks, options);
      if (key[2] == "1MB" || key[2] == "1GB")
        problem = check(collective, graph.ranks, made, options);
    }
    if (!problem.empty()) {
      std::printf("FAILS: %s %s %s: %s\n", key[0].c_str(), key[1].c_str(), key[2].c_str(), problem.c_str());
      return 1;
    }
    double time = play(graph, collective, block, made), bound = cutBound(graph, collective, block), latency = 1;
    for (int from = 0; from < graph.ranks; ++from)
      for (int to = 0; to < graph.ranks; ++to) {
        double sum = 0;
        for (int link : from == to ? std::vector<int>() : graph.route(from, to))
          sum += graph.links[size_t(link)].latency;
        if (sum > 0)
          latency = std::min(latency, sum);
      }
    double limit = 1.01 * std::max(published, bound + latency);
    bool holds = time > 0 && time <= limit && took < 1;
    std::printf("%-7s %-9s %-6s TE-CCL %9.2f us, ours %9.2f us (limit %9.2f), %.4f x the cut bound, %d pieces, planned "
                "in %.2f s%s\n",
                key[0].c_str(), key[1].c_str(), key[2].c_str(), published * 1e6, time * 1e6, limit * 1e6, time / bound,
                options.packed->pieces, took, holds ? "" : "  <- over");
    ++rows;
    over += !holds;
    worst = std::max(worst, time / published);
    furthest = std::max(furthest, time / bound);
    longest = std::max(longest, took);
  }
  if (over || rows == 0) {
    std::printf("%s: %d of %d rows are over the limit\n", control ? "rejected" : "FAILS", over, rows);
    return !control;
  }
  std::printf("%d rows: at most %.3f x TE-CCL's best, %.3f x the cut bound (small sizes have latency in it), each "
              "planned in %.2f s or less\n",
              rows, worst, furthest, longest);
  return control;
}

} // namespace braid::test
