//===- CheckTest.cpp - the symbolic checker rejects broken programs ---------------------------------------------===//
//
// Each case breaks a correct program in one way; the checker must say so, and say where.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/runtime/algorithms/StepProgram.h"
#include <catch2/catch.hpp>

using namespace braid::algorithms;
using Catch::Matchers::Contains;

namespace {

std::vector<StepProgram> make(const char *algorithm, Collective collective, int ranks, StepOptions options = {}) {
  return programs(*find(algorithm), collective, ranks, options);
}

/// A hand-written program.
StepProgram written(Collective collective, int ranks, int chunks, std::vector<Step> steps, int channels = 1) {
  StepProgram program;
  program.collective = collective;
  program.ranks = ranks;
  program.chunks = chunks;
  program.channels = channels;
  program.steps = std::move(steps);
  return program;
}

} // namespace

TEST_CASE("a dropped step is rejected, whichever it is") {
  for (const char *algorithm : {"ring", "double_binary_tree"})
    for (int ranks : {2, 3, 4, 7})
      for (int rank = 0; rank < ranks; ++rank) {
        auto good = make(algorithm, Collective::AllReduce, ranks);
        REQUIRE(check(Collective::AllReduce, ranks, good) == "");
        for (size_t step = 0; step < good[rank].steps.size(); ++step) {
          auto bad = good;
          bad[rank].steps.erase(bad[rank].steps.begin() + step);
          INFO(algorithm << " ranks " << ranks << " rank " << rank << " step " << step);
          CHECK(check(Collective::AllReduce, ranks, bad) != "");
        }
      }
}

TEST_CASE("a swapped peer is rejected") {
  for (int ranks : {3, 4, 7}) {
    auto bad = make("ring", Collective::AllReduce, ranks);
    Step &step = bad[1].steps[2];
    step.peer = (step.peer + 1) % ranks == 1 ? (step.peer + 2) % ranks : (step.peer + 1) % ranks;
    CHECK(check(Collective::AllReduce, ranks, bad) != "");
  }
}

TEST_CASE("two children swapped in one of two sends that match by count is rejected") {
  auto bad = make("pairwise_exchange", Collective::AllToAll, 4);
  std::swap(bad[2].steps[0].chunk, bad[2].steps[1].chunk); // right peers, each other's blocks
  CHECK_THAT(check(Collective::AllToAll, 4, bad), Contains("expected r2.c") && Contains("got r2.c"));
}

TEST_CASE("a doubled reduce is rejected") {
  // Rank 0's contribution goes to rank 1 twice; everything is received.
  Step send{Action::Send, 1, 0, 1, 0}, reduce{Action::ReceiveReduce, 0, 0, 1, 0};
  Step back{Action::Send, 0, 0, 1, 0}, take{Action::Receive, 1, 0, 1, 0};
  std::vector<StepProgram> good = {written(Collective::AllReduce, 2, 1, {send, take}),
                                   written(Collective::AllReduce, 2, 1, {reduce, back})};
  REQUIRE(check(Collective::AllReduce, 2, good) == "");
  std::vector<StepProgram> bad = {written(Collective::AllReduce, 2, 1, {send, send, take}),
                                  written(Collective::AllReduce, 2, 1, {reduce, reduce, back})};
  CHECK_THAT(check(Collective::AllReduce, 2, bad), Contains("rank 0's contribution is combined twice"));
}

TEST_CASE("a doubled reduce in each algorithm is rejected") {
  for (const char *algorithm : {"ring", "double_binary_tree"})
    for (int ranks : {2, 5, 8}) {
      auto bad = make(algorithm, Collective::AllReduce, ranks);
      bool done = false; // repeat the first reduce of rank 1 and the send that feeds it
      for (size_t i = 0; i < bad[1].steps.size() && !done; ++i) {
        Step step = bad[1].steps[i];
        if (step.action != Action::ReceiveReduce)
          continue;
        bad[1].steps.insert(bad[1].steps.begin() + i, step);
        auto &peer = bad[step.peer].steps;
        for (size_t k = 0; k < peer.size() && !done; ++k)
          if (peer[k].action == Action::Send && peer[k].peer == 1 && peer[k].channel == step.channel) {
            peer.insert(peer.begin() + k, Step(peer[k]));
            done = true;
          }
      }
      REQUIRE(done);
      INFO(algorithm << " " << ranks);
      CHECK_THAT(check(Collective::AllReduce, ranks, bad), Contains("twice") || Contains("more than once"));
    }
}

TEST_CASE("the right sum in a different order of additions on one rank is rejected") {
  // Naive exchange on 3 ranks: everybody sends to everybody. Adding "nearest first" associates differently on each
  // rank.
  auto exchange = [](bool sameOrder) {
    std::vector<StepProgram> all;
    for (int rank = 0; rank < 3; ++rank) {
      std::vector<Step> steps;
      for (int peer = 0; peer < 3; ++peer)
        if (peer != rank)
          steps.push_back({Action::Send, peer, 0, 1, 0});
      for (int k = 1; k < 3; ++k)
        steps.push_back({Action::ReceiveReduce, (rank + k) % 3, 0, 1, 0});
      all.push_back(written(Collective::AllReduce, 3, 1, steps));
    }
    if (sameOrder) { // a root adds, the others copy
      all = {written(Collective::AllReduce, 3, 1,
                     {{Action::ReceiveReduce, 1, 0, 1, 0},
                      {Action::ReceiveReduce, 2, 0, 1, 0},
                      {Action::Send, 1, 0, 1, 0},
                      {Action::Send, 2, 0, 1, 0}}),
             written(Collective::AllReduce, 3, 1, {{Action::Send, 0, 0, 1, 0}, {Action::Receive, 0, 0, 1, 0}}),
             written(Collective::AllReduce, 3, 1, {{Action::Send, 0, 0, 1, 0}, {Action::Receive, 0, 0, 1, 0}})};
    }
    return all;
  };
  CHECK(check(Collective::AllReduce, 3, exchange(true)) == "");
  CHECK_THAT(check(Collective::AllReduce, 3, exchange(false)), Contains("associated differently"));
}

TEST_CASE("swapped operands of one addition are the same value") {
  // Two ranks exchange and add: a + b on one, b + a on the other. Floating-point addition commutes.
  std::vector<StepProgram> all = {
      written(Collective::AllReduce, 2, 1, {{Action::Send, 1, 0, 1, 0}, {Action::ReceiveReduce, 1, 0, 1, 0}}),
      written(Collective::AllReduce, 2, 1, {{Action::Send, 0, 0, 1, 0}, {Action::ReceiveReduce, 0, 0, 1, 0}})};
  CHECK(check(Collective::AllReduce, 2, all) == "");
}

TEST_CASE("a deadlock names who waits for whom") {
  std::vector<StepProgram> bad = {
      written(Collective::AllReduce, 2, 1, {{Action::ReceiveReduce, 1, 0, 1, 0}, {Action::Send, 1, 0, 1, 0}}),
      written(Collective::AllReduce, 2, 1, {{Action::ReceiveReduce, 0, 0, 1, 0}, {Action::Send, 0, 0, 1, 0}})};
  CHECK(check(Collective::AllReduce, 2, bad) ==
        "deadlock: rank 0 waits in step 0 for rank 1, which waits in step 0 for rank 0");
}

TEST_CASE("a message that nobody receives is rejected") {
  auto bad = make("ring", Collective::AllGather, 3);
  bad[0].steps.push_back({Action::Send, 1, 0, 1, 0});
  CHECK(check(Collective::AllGather, 3, bad) == "rank 0, step 4: the message to rank 1 is never received");
}

TEST_CASE("reduce_scatter must land at its rank, all_gather must begin there") {
  auto bad = make("ring", Collective::ReduceScatter, 4);
  for (StepProgram &program : bad) // every rank one block further, the frequent off by one
    for (Step &step : program.steps)
      step.chunk = (step.chunk + 1) % 4;
  CHECK_THAT(check(Collective::ReduceScatter, 4, bad), Contains("expected the sum of all ranks"));
  bad = make("ring", Collective::AllGather, 4);
  for (StepProgram &program : bad)
    for (Step &step : program.steps)
      step.chunk = (step.chunk + 1) % 4;
  CHECK(check(Collective::AllGather, 4, bad) != "");
}

TEST_CASE("two channels must not share a chunk") {
  auto bad = make("ring", Collective::AllReduce, 3, [] {
    StepOptions options;
    options.channels = 2;
    return options;
  }());
  bad[1].steps[1].chunk = bad[1].steps[0].chunk;
  CHECK_THAT(check(Collective::AllReduce, 3, bad), Contains("which are not ordered"));
}

TEST_CASE("another root, other pairs, another collective are rejected") {
  StepOptions options;
  options.root = 2;
  auto broadcast = make("ring", Collective::Broadcast, 5, options);
  CHECK(check(Collective::Broadcast, 5, broadcast, 2) == "");
  CHECK(check(Collective::Broadcast, 5, broadcast, 1) != "");
  CHECK_THAT(check(Collective::Broadcast, 5, broadcast, 5), Contains("expected a root below 5, got 5"));

  StepOptions pairs, others;
  pairs.pairs = {{0, 1}, {1, 0}};
  others.pairs = {{0, 1}, {1, 2}};
  auto permute = make("direct", Collective::Permute, 3, pairs);
  CHECK(check(Collective::Permute, 3, permute, pairs) == "");
  CHECK(check(Collective::Permute, 3, permute, others) != "");

  auto gather = make("ring", Collective::AllGather, 3);
  CHECK(check(Collective::AllReduce, 3, gather) != "");
}

TEST_CASE("steps out of range are rejected before anything runs") {
  auto broken = [](auto change) {
    auto bad = make("ring", Collective::AllReduce, 3);
    change(bad[1].steps[0]);
    return check(Collective::AllReduce, 3, bad);
  };
  CHECK_THAT(broken([](Step &s) { s.peer = 3; }),
             Contains("rank 1, step 0: expected another rank below 3 as peer, got 3"));
  CHECK_THAT(broken([](Step &s) { s.peer = 1; }), Contains("got 1"));
  CHECK_THAT(broken([](Step &s) { s.chunk = 6; }), Contains("expected chunks below 6")); // 3 to 5 are its operand
  CHECK_THAT(broken([](Step &s) { s.count = 0; }), Contains("expected chunks below 6"));
  CHECK_THAT(broken([](Step &s) { s = {Action::ReceiveReduce, s.peer, 3, 1, 0}; }),
             Contains("expected chunks below 3")); // which nobody writes
  CHECK_THAT(broken([](Step &s) { s = {Action::Send, s.peer, 2, 2, 0}; }), Contains("got some of each"));
  CHECK_THAT(broken([](Step &s) { s.more = true; }), Contains("expected the rest of the message in the next step"));
  CHECK_THAT(broken([](Step &s) { s.channel = 1; }), Contains("expected a channel below 1, got 1"));
  auto few = make("ring", Collective::AllReduce, 3);
  few.pop_back();
  CHECK_THAT(check(Collective::AllReduce, 3, few), Contains("expected 3 programs, got 2"));
}

TEST_CASE("128 ranks are checked too") {
  StepOptions options;
  options.segments = 4;
  CHECK(check(Collective::AllReduce, 128, make("ring", Collective::AllReduce, 128)) == "");
  CHECK(check(Collective::AllReduce, 128, make("double_binary_tree", Collective::AllReduce, 128, options)) == "");
}
