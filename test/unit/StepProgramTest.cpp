//===- StepProgramTest.cpp - each algorithm is correct, and moves what its file says ----------------------------===//
#include "test/algorithms/Cases.h"
#include <catch2/catch.hpp>
#include <chrono>
#include <set>

using namespace braid::algorithms;
using namespace braid::test;

namespace {

/// Proves the programs of a number of ranks, and the formulas of the algorithms' files.
void prove(int ranks) {
  for (const Algorithm &algorithm : registry())
    for (Collective collective : collectives) {
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

TEST_CASE("ragged all_to_all: bytes on the wire are hops x bytes of each block, also of empty ones", "[algorithms]") {
  for (const Algorithm &algorithm : registry()) {
    for (int ranks : {1, 2, 3, 5, 8, 12, 17, 33}) {
      if (!servesRagged(algorithm, ranks))
        continue;
      std::vector<int64_t> counts;
      for (int pair = 0; pair < ranks * ranks; ++pair)
        counts.push_back(pair * 2654435761u % 7 * (pair * 40503u % 11)); // 0 to 60, about a quarter 0
      for (const StepOptions &options : optionsFor(algorithm, Collective::AllToAll, ranks)) {
        if (!options.ragged)
          continue;
        int64_t sent = 0, expected = 0;
        std::vector<StepProgram> made = programs(algorithm, Collective::AllToAll, ranks, options);
        for (int rank = 0; rank < ranks; ++rank)
          for (const Step &step : made[size_t(rank)].steps)
            for (int c = step.chunk; c < step.chunk + step.count && step.action == Action::Send; ++c) {
              int64_t share = made[size_t(rank)].shareOf(c, rank), k = made[size_t(rank)].channels;
              int64_t count = counts[size_t(share / k)], each = (count + k - 1) / k;
              sent += std::min(count, each * (share % k + 1)) - std::min(count, each * (share % k));
            }
        for (int source = 0; source < ranks; ++source)
          for (int target = 0; target < ranks; ++target)
            expected += counts[size_t(source * ranks + target)] * algorithm.hops(ranks, source, target, options);
        INFO(algorithm.name << " on " << ranks << ", channels " << options.channels);
        CHECK(sent == expected);
      }
    }
  }
  CHECK(find("bruck")->hops(8, 1, 0, {}) == 3); // 7 on: three bits
}

TEST_CASE("algorithms are spelled with what they take", "[algorithms]") {
  StepOptions options;
  std::string problem;
  CHECK(parse("ring(order=hosts)", options, problem) == find("ring"));
  CHECK((options.byHosts && options.order.empty() && problem.empty()));
  CHECK(parse("double_binary_tree(order=2.0.1)", options, problem) == find("double_binary_tree"));
  CHECK((options.order == std::vector<int>{2, 0, 1} && !options.byHosts));
  CHECK(parse("parameter_server(servers=3)", options, problem) == find("parameter_server"));
  CHECK(options.servers == 3);
  for (const char *wrong : {"ring(order=0.0.1)", "ring(order=)", "ring(order=0.1", "ring(colour=red)",
                            "bruck(order=0.1)", "ring(order=1.-1.0)", "parameter_server(servers=0)"}) {
    INFO(wrong);
    CHECK(parse(wrong, options, problem) == nullptr);
    CHECK(problem.find("got '") != std::string::npos);
  }
  CHECK(parse("rnig(order=hosts)", options, problem) == nullptr);
  CHECK(problem == "");
}

TEST_CASE("every collective has a program on any number of ranks") {
  for (Collective collective : collectives)
    for (int ranks : {1, 2, 7, 128, 16384}) {
      int served = 0;
      for (const Algorithm &algorithm : registry())
        served += algorithm.serves(collective, ranks);
      INFO(name(collective) << " on " << ranks);
      CHECK(served >= 1);
    }
}

TEST_CASE("algorithms are found by name") {
  for (const Algorithm &algorithm : registry())
    CHECK(find(algorithm.name) == &algorithm); // and so no name is there twice
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

TEST_CASE("one rank's program of 16384 is made alone, in little time and memory", "[algorithms]") {
  int ranks = 16384, made = 0;
  StepOptions options;
  options.segments = 64;
  for (bool hosts : {false, true}) {
    for (int rank = 0; rank < ranks && hosts; ++rank)
      options.hosts.push_back(rank / 8 - (rank > 16000)); // uneven ones
    for (const Algorithm &algorithm : registry())
      for (Collective collective : collectives) {
        if (algorithm.needs == Needs::Topology || !algorithm.serves(collective, ranks) ||
            hosts != (algorithm.name == "hierarchical" || algorithm.name == "hierarchical_ring"))
          continue;
        options.switches.assign(algorithm.needs == Needs::Switches ? ranks : 0, 0);
        auto begin = std::chrono::steady_clock::now();
        StepProgram program = algorithm.program(collective, ranks, 9999, options);
        INFO(algorithm.name << " " << name(collective));
        CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(500));
        CHECK(program.steps.capacity() * sizeof(Step) + program.scratch.capacity() * sizeof(int) < 32 << 20);
        ++made;
      }
  }
  CHECK(made > 40);
  CHECK(find("ring")->program(Collective::AllReduce, ranks, 9999, options).steps.size() == 4 * 16383);
}

TEST_CASE("one rank's ragged program is made alone too, of as many ranks as algorithms that forward serve",
          "[algorithms]") {
  int made = 0;
  for (int ranks : {mostForwarding, 16384}) {
    StepOptions options;
    options.ragged = true;
    for (int rank = 0; rank < ranks; ++rank)
      options.hosts.push_back(rank / 8);
    for (const Algorithm &algorithm : registry()) {
      if (!servesRagged(algorithm, ranks))
        continue;
      auto begin = std::chrono::steady_clock::now();
      StepProgram program = algorithm.program(Collective::AllToAll, ranks, 3999, options);
      INFO(algorithm.name << " on " << ranks);
      CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(500));
      CHECK(program.ragged);
      ++made;
    }
  }
  CHECK(made == 4); // pairwise exchange on both, Bruck and hierarchical on the smaller number
}

TEST_CASE("buffers: all_gather works on its result") {
  CHECK(bufferBytes(Collective::AllGather, 8, 100) == 800);
  CHECK(bufferBytes(Collective::AllReduce, 8, 100) == 100);
}
