//===- Cases.h - what algorithms are tried with, and what is counted in their programs ---------------------------===//
#ifndef BRAID_TEST_ALGORITHMS_CASES_H
#define BRAID_TEST_ALGORITHMS_CASES_H

#include "braid/runtime/algorithms/PackedTrees.h"
#include <algorithm>
#include <array>
#include <deque>
#include <map>

namespace braid::test {

using namespace algorithms;

constexpr Collective collectives[] = {
    Collective::AllReduce, Collective::ReduceScatter, Collective::AllGather, Collective::AllToAll, Collective::Permute,
    Collective::Broadcast, Collective::Reduce,        Collective::Gather,    Collective::Scatter,  Collective::Barrier};

inline bool rooted(Collective collective) {
  return collective == Collective::Broadcast || collective == Collective::Reduce || collective == Collective::Gather ||
         collective == Collective::Scatter;
}

inline int64_t countWireChunks(const std::vector<StepProgram> &programs) {
  int64_t chunks = 0;
  for (const StepProgram &program : programs)
    for (const Step &step : program.steps)
      if (step.action == Action::Send)
        chunks += step.count;
  return chunks;
}

/// Longest chain of dependent messages: a message is one longer than the longest that its lane has received before.
inline int64_t longestChain(const std::vector<StepProgram> &programs) {
  std::map<std::array<int, 3>, std::deque<int64_t>> queues;
  std::map<std::pair<int, int>, int64_t> reached;
  std::vector<std::map<int, size_t>> next(programs.size());
  int64_t longest = 0;
  for (bool progress = true; progress;) {
    progress = false;
    for (int rank = 0; rank < int(programs.size()); ++rank)
      for (int channel = 0; channel < programs[rank].channels; ++channel)
        for (size_t &i = next[rank][channel]; i < programs[rank].steps.size(); ++i) {
          const Step &step = programs[rank].steps[i];
          if (step.channel != channel)
            continue;
          if (step.more) // with the last step of its message
            continue;
          int64_t &mine = reached[{rank, channel}];
          if (step.action == Action::Send) {
            queues[{rank, step.peer, channel}].push_back(mine + 1);
            longest = std::max(longest, mine + 1);
          } else if (step.action != Action::Combine) {
            auto &queue = queues[{step.peer, rank, channel}];
            if (queue.empty())
              break;
            mine = std::max(mine, queue.front());
            queue.pop_front();
          }
          progress = true;
        }
  }
  return longest;
}

/// A permutation without a pattern that a ring could get away with.
inline std::vector<int> shuffled(int ranks) {
  std::vector<int> order;
  for (int rank = 0; rank < ranks; ++rank)
    order.insert(order.begin() + (rank * 7 + 3) % (rank + 1), rank);
  return order;
}

/// Ranks in a ring with chords, or around two switches that are joined by one link.
inline FabricGraph graphFor(int ranks, bool switches) {
  FabricGraph graph;
  graph.ranks = ranks;
  graph.nodes = ranks + 2;
  auto both = [&](int a, int b, double bandwidth) {
    graph.links.push_back({a, b, bandwidth, 1e-6});
    graph.links.push_back({b, a, bandwidth, 1e-6});
  };
  for (int rank = 0; rank < ranks; ++rank)
    if (switches)
      both(rank, ranks + rank % 2, 25e9);
    else if (ranks > 1)
      both(rank, (rank + 1) % ranks, 10e9 + 5e9 * (rank % 3));
  for (int rank = 0; rank + 5 < ranks && !switches; rank += 4) {
    both(rank, rank + 5, 20e9);
    graph.links.push_back({rank + 5, rank, 30e9, 2e-6}); // and more one way than the other
  }
  if (switches)
    both(ranks, ranks + 1, 50e9);
  return graph;
}

inline std::shared_ptr<const PackedPlan> packedFor(Collective collective, int ranks, bool switches, int root = 0) {
  std::string problem;
  return std::make_shared<PackedPlan>(
      packTrees(graphFor(ranks, switches), collective, ranks > 17 ? 1e4 : 1e5, problem, root));
}

/// Channels and segments, and what makes a difference to the algorithm: roots, orders, hosts, pairs, servers, switches, blocks
/// that differ in size.
inline std::vector<StepOptions> optionsFor(const Algorithm &algorithm, Collective collective, int ranks) {
  std::vector<StepOptions> list;
  bool large = ranks > 17;
  for (int channels : large ? std::vector<int>{1, 2} : std::vector<int>{1, 2, 3})
    for (int segments : large ? std::vector<int>{1, 5} : std::vector<int>{1, 2, 5, 16}) {
      StepOptions options;
      options.channels = channels;
      options.segments = segments;
      if (algorithm.needs == Needs::Switches)
        options.switches.assign(ranks, 0);
      if (algorithm.needs == Needs::Topology) {
        if (channels > 1 || segments > 2)
          continue;
        options.packed = packedFor(collective, ranks, segments == 2);
      }
      list.push_back(options);
      if (rooted(collective))
        for (int root = 1; root < ranks; root += large ? 11 : 1) {
          options.root = root;
          if (algorithm.needs == Needs::Topology)
            options.packed = packedFor(collective, ranks, segments == 2, root);
          list.push_back(options);
        }
      if (algorithm.needs == Needs::Switches) { // two, three and as many as there are ranks
        for (int switches : {2, 3, ranks})
          if (switches <= ranks) {
            for (int rank = 0; rank < ranks; ++rank)
              options.switches[rank] = rank % switches;
            list.push_back(options);
          }
        continue;
      }
      if (algorithm.name.find("hierarchical") != std::string::npos) {
        options.hosts.resize(ranks);
        for (int perHost : {2, 3, 8}) { // consecutive ranks, the last host smaller; then a far one for each
          for (int rank = 0; rank < ranks; ++rank)
            options.hosts[rank] = 7 - rank / perHost;
          list.push_back(options);
          for (int rank = 0; rank < ranks; ++rank)
            options.hosts[rank] = rank % ((ranks + perHost - 1) / perHost);
          list.push_back(options);
          options.hosts[0] = 99;
          list.push_back(options);
        }
        options.hosts.clear();
      }
      if (algorithm.ordered) {
        options.order = shuffled(ranks);
        list.push_back(options);
        options.order.clear();
        for (int rank = 0; rank < ranks; ++rank)
          options.hosts.push_back(rank % 3);
        options.byHosts = true;
        list.push_back(options);
        options.byHosts = false;
        options.hosts.clear();
      }
      if (algorithm.name == "parameter_server")
        for (int servers : {1, 2, 5}) {
          options.servers = servers;
          list.push_back(options);
          options.helpers = servers;
          list.push_back(options);
          options.servers = options.helpers = 0;
        }
      if (collective == Collective::Permute && ranks > 2) {
        options.pairs = {{0, 1}, {1, 2}, {2, 0}};
        list.push_back(options);
        options.pairs = {{0, ranks - 1}, {1, 1}};
        list.push_back(options);
      }
    }
  for (size_t i = 0, even = list.size(); i < even && algorithm.hops && collective == Collective::AllToAll; ++i) {
    list.push_back(list[i]);
    list.back().ragged = true;
  }
  return list;
}

} // namespace braid::test

#endif
