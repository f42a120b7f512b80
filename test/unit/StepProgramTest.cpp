//===- StepProgramTest.cpp - each algorithm is correct, and moves what its file says ----------------------------===//
#include "braid/runtime/algorithms/StepProgram.h"
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <map>
#include <set>

using namespace braid::algorithms;

namespace {

constexpr Collective all[] = {
    Collective::AllReduce, Collective::ReduceScatter, Collective::AllGather, Collective::AllToAll, Collective::Permute,
    Collective::Broadcast, Collective::Reduce,        Collective::Gather,    Collective::Scatter,  Collective::Barrier};

bool rooted(Collective collective) {
  return collective == Collective::Broadcast || collective == Collective::Reduce || collective == Collective::Gather ||
         collective == Collective::Scatter;
}

int64_t countWireChunks(const std::vector<StepProgram> &programs) {
  int64_t chunks = 0;
  for (const StepProgram &program : programs)
    for (const Step &step : program.steps)
      if (step.action == Action::Send)
        chunks += step.count;
  return chunks;
}

/// Longest chain of dependent messages: a message is one longer than the longest that its lane has received before.
int64_t longestChain(const std::vector<StepProgram> &programs) {
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
std::vector<int> shuffled(int ranks) {
  std::vector<int> order;
  for (int rank = 0; rank < ranks; ++rank)
    order.insert(order.begin() + (rank * 7 + 3) % (rank + 1), rank);
  return order;
}

/// Channels and segments, and what makes a difference to the algorithm: roots, orders, hosts, pairs, servers, switches.
std::vector<StepOptions> optionsFor(const Algorithm &algorithm, Collective collective, int ranks) {
  std::vector<StepOptions> list;
  bool large = ranks > 17;
  for (int channels : large ? std::vector<int>{1, 2} : std::vector<int>{1, 2, 3})
    for (int segments : large ? std::vector<int>{1, 5} : std::vector<int>{1, 2, 5, 16}) {
      StepOptions options;
      options.channels = channels;
      options.segments = segments;
      if (algorithm.needs == Needs::Switches)
        options.switches.assign(ranks, 0);
      list.push_back(options);
      if (rooted(collective))
        for (int root = 1; root < ranks; root += large ? 11 : 1) {
          options.root = root;
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
      if (algorithm.name == "ring" || algorithm.name == "pipelined_chain") {
        options.order = shuffled(ranks);
        list.push_back(options);
        options.order.clear();
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
      if (algorithm.ragged && collective == Collective::AllToAll) {
        for (int pair = 0; pair < ranks * ranks; ++pair)
          options.counts.push_back(pair * 5 % 7 % 4);
        list.push_back(options);
      }
    }
  return list;
}

/// Proves the programs of a number of ranks, and the formulas of the algorithms' files.
void prove(int ranks) {
  for (const Algorithm &algorithm : registry())
    for (Collective collective : all) {
      if (!algorithm.serves(collective, ranks))
        continue;
      for (const StepOptions &options : optionsFor(algorithm, collective, ranks)) {
        INFO(algorithm.name << " " << name(collective) << " ranks " << ranks << " channels " << options.channels
                            << " segments " << options.segments << " root " << options.root << " servers "
                            << options.servers << " helpers " << options.helpers);
        std::vector<StepProgram> made = programs(algorithm, collective, ranks, options);
        REQUIRE(check(collective, ranks, made, options) == "");
        CHECK(countWireChunks(made) == algorithm.wireChunks(collective, ranks, options));
        CHECK(longestChain(made) == algorithm.steps(collective, ranks, options));
      }
    }
}

} // namespace

TEST_CASE("every program of every algorithm is correct, 1 to 17 ranks", "[algorithms]") {
  for (int ranks = 1; ranks <= 17; ++ranks)
    prove(ranks);
}

TEST_CASE("every program of every algorithm is correct, 18 to 33 ranks", "[algorithms]") {
  for (int ranks = 18; ranks <= 33; ++ranks)
    prove(ranks);
}

TEST_CASE("every program of every algorithm is correct, 64, 100 and 128 ranks", "[algorithms][large]") {
  for (int ranks : {64, 100, 128})
    prove(ranks);
}

TEST_CASE("every collective has a program on any number of ranks") {
  for (Collective collective : all)
    for (int ranks : {1, 2, 7, 128, 16384}) {
      int served = 0;
      for (const Algorithm &algorithm : registry())
        served += algorithm.serves(collective, ranks);
      INFO(name(collective) << " on " << ranks);
      CHECK(served >= 1);
    }
}

TEST_CASE("algorithms are found by name") {
  for (const Algorithm &algorithm : registry()) {
    REQUIRE(find(algorithm.name) != nullptr);
    CHECK(find(algorithm.name)->name == algorithm.name);
  }
  CHECK(find("rnig") == nullptr);
}

TEST_CASE("formulas in the files' banners, as numbers") {
  const Algorithm &ring = *find("ring"), &tree = *find("double_binary_tree"), &pairwise = *find("pairwise_exchange");
  StepOptions one;
  CHECK(ring.steps(Collective::AllReduce, 8, one) == 14);
  CHECK(ring.wireChunks(Collective::AllReduce, 8, one) == 2 * 8 * 7);
  CHECK(ring.steps(Collective::ReduceScatter, 8, one) + ring.steps(Collective::AllGather, 8, one) ==
        ring.steps(Collective::AllReduce, 8, one));
  CHECK(tree.steps(Collective::AllReduce, 3, one) == 2);
  CHECK(tree.wireChunks(Collective::AllReduce, 3, one) == 8);
  CHECK(tree.steps(Collective::AllReduce, 16384, one) == 28);
  CHECK(tree.steps(Collective::Broadcast, 17, one) == 5);
  CHECK(pairwise.steps(Collective::AllToAll, 4, one) == 2);
  CHECK(pairwise.steps(Collective::AllToAll, 5, one) == 2);
}

TEST_CASE("double binary tree: inner in one tree at most, never more than two buffers sent") {
  for (int ranks = 2; ranks <= 40; ++ranks) {
    const Algorithm &tree = *find("double_binary_tree");
    for (int rank = 0; rank < ranks; ++rank) {
      StepProgram program = tree.program(Collective::AllReduce, ranks, rank, {});
      std::set<int> children[2];
      for (const Step &step : program.steps)
        if (step.action == Action::ReceiveReduce)
          children[step.channel].insert(step.peer);
      INFO("rank " << rank << " of " << ranks);
      CHECK((children[0].empty() || children[1].empty()));
      CHECK(children[0].size() <= 2);
      CHECK(children[1].size() <= 2);
      int64_t sent = countWireChunks({program});
      CHECK(sent <= 2 * program.chunks);
    }
  }
}

TEST_CASE("ring: each rank sends the same, to the next rank only") {
  const Algorithm &ring = *find("ring");
  for (int ranks : {2, 5, 16})
    for (int rank = 0; rank < ranks; ++rank) {
      StepProgram program = ring.program(Collective::AllReduce, ranks, rank, {});
      CHECK(countWireChunks({program}) == 2 * (ranks - 1));
      for (const Step &step : program.steps)
        CHECK(step.peer == (rank + (step.action == Action::Send ? 1 : ranks - 1)) % ranks);
    }
}

TEST_CASE("pairwise exchange: each pair meets once, and both blocks of a round leave before either arrives") {
  const Algorithm &pairwise = *find("pairwise_exchange");
  for (int ranks = 2; ranks <= 17; ++ranks)
    for (const StepProgram &program : programs(pairwise, Collective::AllToAll, ranks, {})) {
      std::set<int> sent, received;
      for (const Step &step : program.steps) {
        CHECK(step.chunk == step.peer);
        (step.action == Action::Send ? sent : received).insert(step.peer);
        if (step.action == Action::Receive)
          CHECK(sent.count(step.peer) == 1); // its block is where the received one goes
      }
      CHECK(program.steps.size() == 2 * size_t(ranks - 1));
      CHECK((int(sent.size()) == ranks - 1 && received == sent));
    }
}

TEST_CASE("one rank's program of 16384 is made alone, in milliseconds") {
  auto begin = std::chrono::steady_clock::now();
  StepOptions options;
  options.segments = 64;
  StepProgram ring = find("ring")->program(Collective::AllReduce, 16384, 9999, options);
  StepProgram tree = find("double_binary_tree")->program(Collective::AllReduce, 16384, 9999, options);
  CHECK(ring.steps.size() == 4 * 16383);
  CHECK(tree.steps.size() < 2000);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(200));
}

TEST_CASE("buffers: all_gather works on its result") {
  CHECK(bufferBytes(Collective::AllGather, 8, 100) == 800);
  CHECK(bufferBytes(Collective::AllReduce, 8, 100) == 100);
}
