//===- BoundTest.cpp - the lower bound and its witness ----------------------------------------------------------===//
#include "RandomProgram.h"
#include <catch2/catch.hpp>

using namespace braid::cost;
using namespace braid::cost::testing;
using Catch::Matchers::Contains;

static double priceOf(const Pricer &pricer, const Task &task) { return pricer.cheapestTime(task.spec).value; }

TEST_CASE("bound: no schedule of random programs is faster, with any buckets, options and candidates") {
  for (BucketForm form : {BucketForm::OneLaunch, BucketForm::Copies, BucketForm::GroupCall}) {
    Pricer pricer = smallPricer(false, form);
    double closest = 1e9;
    for (uint64_t seed = 1; seed <= 100; ++seed) {
      Program program = randomProgram(seed, 10 + int(seed) % 70);
      Bound bound = lowerBound(program, pricer);
      std::mt19937_64 random(seed);
      for (int trial = 0; trial < 5; ++trial) {
        ListOptions options = randomOptions(random);
        Schedule schedule = scheduleProgram(program, randomRule(random), pricer, options);
        if (trial % 2)
          for (size_t b = 0; b < schedule.blocks.size(); ++b)
            for (Bucket &bucket : schedule.blocks[b].buckets)
              bucket.candidate = int(random() % pricer.candidates(mergedSpec(program.blocks[b], bucket)).size());
        Seconds played = playWithoutNoise(program, schedule, pricer).total;
        INFO("seed " << seed << ", " << bound.witness);
        CHECK(bound.time.value <= played.value * (1 + 1e-9));
        closest = std::min(closest, played / bound.time);
      }
    }
    CHECK(closest < 1.01); // and it is not idle
  }
}

TEST_CASE("bound: the expected step with noise lies above it") {
  Pricer pricer = smallPricer(true);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Program program = randomProgram(seed);
    CHECK(objective(program, scheduleProgram(program, {}, pricer, {}), pricer, {}, {}) >
          lowerBound(program, pricer).time);
  }
}

TEST_CASE("bound: witnesses") {
  Pricer pricer = smallPricer();
  Program chain = programOf({compute("x", 1), collective("r", 1 << 20, {0}), compute("y", 1, {1})});
  Bound bound = lowerBound(chain, pricer);
  CHECK(bound.time.value == Approx(2e-6 + priceOf(pricer, chain.blocks[0].tasks[1])));
  CHECK_THAT(bound.witness, Contains("critical path from 'x'"));

  // One stream: both branches run before what needs both.
  Program branches = programOf({compute("x", 100), compute("y", 100), collective("r", 1 << 20, {0, 1})});
  CHECK(lowerBound(branches, pricer).time.value == Approx(200e-6 + priceOf(pricer, branches.blocks[0].tasks[2])));

  Program busy = programOf({compute("x", 1000), compute("y", 1000), collective("r", 8, {})});
  CHECK(lowerBound(busy, pricer).time.value == Approx(2e-3));
  CHECK(lowerBound(busy, pricer).witness == "sum of compute");

  // Many small messages could be one; it cannot start before the first operand, nor end after the last reader.
  std::vector<Task> tasks{compute("head", 50)};
  for (int i = 0; i < 16; ++i)
    tasks.push_back(collective("r", 1 << 22, {0}));
  for (int i = 0; i < 16; ++i)
    tasks.push_back(compute("tail", 1, {i + 1}));
  Program messages = programOf(tasks);
  bound = lowerBound(messages, pricer);
  CollectiveSpec all = tasks[1].spec;
  all.bytes = {16 << 22};
  CHECK(bound.time.value == Approx(51e-6 + pricer.cheapestTime(all).value));
  CHECK_THAT(bound.witness, Contains("inter: one message of 64.0 MiB"));
  for (size_t i = 1; i <= 8; ++i)
    messages.blocks[0].tasks[i].key = 1; // two keys: two messages one after another
  all.bytes = {8 << 22};
  CHECK(lowerBound(messages, pricer).time.value == Approx(51e-6 + 2 * pricer.cheapestTime(all).value));
}

TEST_CASE("bound: trips multiply nested blocks, barriers add up") {
  Pricer pricer = smallPricer();
  Task loop = compute("loop", 0);
  loop.kind = Task::Nested;
  loop.block = 0;
  loop.trips = 7;
  Program program;
  program.ranks = 8;
  program.blocks.push_back({"body", {collective("r", 1 << 20, {}, -1)}, {}});
  program.blocks.push_back({"main", {compute("x", 10), loop}, {}});
  double price = priceOf(pricer, program.blocks[0].tasks[0]);
  CHECK(lowerBound(program, pricer).time.value == Approx(10e-6 + 7 * price));
  Task barrier = compute("barrier", 0);
  barrier.kind = Task::Barrier;
  Program cut = programOf({compute("x", 1000), barrier, collective("r", 1 << 20, {}, -1)});
  CHECK(lowerBound(cut, pricer).time.value == Approx(1e-3 + price));
  CHECK_THAT(lowerBound(cut, pricer).witness, Contains("parts between barriers"));
}
