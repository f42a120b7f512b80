//===- StagesTest.cpp - stages that send each other messages ------------------------------------------------------===//
#include "braid/cost_models/Stages.h"
#include "RandomProgram.h"
#include <catch2/catch.hpp>

using namespace braid::cost;
using namespace braid::cost::testing;
using Catch::Matchers::Contains;

namespace {

std::shared_ptr<const RankGroups> pair(int from, int to) {
  auto groups = std::make_shared<RankGroups>();
  groups->pairs = {{from, to}};
  return groups;
}
Task message(const std::string &name, int from, int to, std::vector<int> operands) {
  return collective(name, 1024, std::move(operands), -1, CollectiveKind::Permute, pair(from, to));
}
Stage asWritten(std::vector<Task> tasks, const Pricer &pricer) {
  ListOptions options;
  options.overlap = false;
  Stage stage{programOf(std::move(tasks)), {}};
  stage.schedule = scheduleProgram(stage.program, {}, pricer, options);
  return stage;
}

} // namespace

TEST_CASE("stages: a message ends when it arrives, or where it is waited for if that is later") {
  Pricer pricer = smallPricer();
  // 0: x 10 us, to 1, y 100 us, from 1, z 1 us; 1: from 0, u 20 us, to 0.
  std::vector<Stage> stages;
  stages.push_back(asWritten({compute("x", 10), message("a", 0, 1, {0}), compute("y", 100, {0}), message("b", 1, 0, {}),
                              compute("z", 1, {2, 3})},
                             pricer));
  stages.push_back(asWritten({message("a", 0, 1, {}), compute("u", 20, {0}), message("b", 1, 0, {1})}, pricer));
  std::vector<Message> messages{{0, 1, 1, 0, microseconds(5)}, {1, 2, 0, 3, microseconds(5)}};
  Result<StagesPlayed> played = playStages(stages, messages, pricer);
  REQUIRE(played);
  CHECK(played->stages[1].total.value == Approx(35e-6)); // 10 + 5 + 20; sending costs the sender nothing
  CHECK(played->stages[1].exposed.value == Approx(15e-6));
  CHECK(played->total.value == Approx(111e-6)); // it was there when y had ended
  CHECK(played->stages[0].exposed.value == Approx(0).margin(1e-12));

  messages[1].time = microseconds(80); // there at 115 us
  played = playStages(stages, messages, pricer);
  REQUIRE(played);
  CHECK(played->total.value == Approx(116e-6));
  CHECK(played->stages[0].exposed.value == Approx(5e-6));
}

TEST_CASE("stages: in a ring of p stages m batches take (m + p - 1) times the stage") {
  Pricer pricer = smallPricer();
  constexpr int count = 4, batches = 6;
  std::vector<Stage> stages;
  std::vector<Message> messages;
  for (int s = 0; s < count; ++s) {
    std::vector<Task> tasks;
    for (int m = 0; m < batches; ++m) {
      std::vector<int> operands;
      if (m > 0)
        operands.push_back(int(tasks.size()) - (s + 1 < count ? 2 : 1));
      if (s > 0) {
        messages[size_t((s - 1) * batches + m)].to = s;
        messages[size_t((s - 1) * batches + m)].received = int(tasks.size());
        operands.push_back(int(tasks.size()));
        tasks.push_back(message("m", s - 1, s, {}));
      }
      tasks.push_back(compute("f", 10, operands));
      if (s + 1 < count) {
        messages.push_back({s, int(tasks.size()), 0, 0, {}});
        tasks.push_back(message("m", s, s + 1, {int(tasks.size()) - 1}));
      }
    }
    stages.push_back(asWritten(tasks, pricer));
  }
  Result<StagesPlayed> played = playStages(stages, messages, pricer);
  REQUIRE(played);
  CHECK(played->total.value == Approx((batches + count - 1) * 10e-6));
}

TEST_CASE("stages: those that wait for each other are an error") {
  Pricer pricer = smallPricer();
  std::vector<Stage> stages;
  for (int s : {0, 1})
    stages.push_back(asWritten({message("in", 1 - s, s, {}), message("out", s, 1 - s, {0})}, pricer));
  std::vector<Message> messages{{0, 1, 1, 0, microseconds(5)}, {1, 1, 0, 0, microseconds(5)}};
  Result<StagesPlayed> played = playStages(stages, messages, pricer);
  REQUIRE_FALSE(played);
  CHECK_THAT(played.error().message, Contains("got 2 of which each waits for a message of another"));
}
