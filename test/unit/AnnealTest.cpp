//===- AnnealTest.cpp - local search over orders and buckets ------------------------------------------------------===//
#include "cost_models/schedule/Anneal.h"
#include "RandomProgram.h"
#include <catch2/catch.hpp>

using namespace braid::cost;
using namespace braid::cost::testing;

TEST_CASE("anneal: valid schedules, none longer than before, the same again") {
  Pricer pricer = smallPricer();
  int shorter = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Program program =
        randomProgram(seed, 10 + int(seed) * 2); // with loops, barriers, synchronous and ordered collectives
    std::mt19937_64 random(seed);
    ListOptions list;
    list.inFlight = 1 + int(seed % 3);
    Schedule start = scheduleProgram(program, randomRule(random), pricer, list);
    AnnealOptions options;
    options.inFlight = list.inFlight;
    options.budget = 100000;
    Schedule found = anneal(program, start, pricer, options);
    INFO("seed " << seed);
    CHECK(verifySchedule(program, found, list, &pricer) == "");
    Seconds before = playWithoutNoise(program, start, pricer).total,
            after = playWithoutNoise(program, found, pricer).total;
    CHECK(after.value <= before.value * (1 + 1e-12));
    shorter += after < before;
    CHECK(playWithoutNoise(program, anneal(program, start, pricer, options), pricer).total.value == after.value);
  }
  CHECK(shorter > 15);
}

TEST_CASE("anneal: a long message is fed first, though its kernel comes last") {
  Pricer pricer = smallPricer();
  std::vector<Task> tasks;
  for (int i = 0; i < 6; ++i)
    tasks.push_back(compute("kernel", 500));
  tasks.push_back(compute("feeds", 100));
  tasks.push_back(collective("long", 1 << 27, {6}, -1));
  Program program = programOf(tasks);
  Schedule start;
  start.blocks.resize(1);
  start.blocks[0].buckets = {{{7}, 0}};
  for (int i = 0; i < 7; ++i)
    start.blocks[0].order.push_back({Event::Run, i});
  start.blocks[0].order.push_back({Event::Start, 0});
  start.blocks[0].order.push_back({Event::Wait, 0});
  AnnealOptions options;
  CHECK(playWithoutNoise(program, anneal(program, start, pricer, options), pricer).total.value > 5e-3); // budget 0
  options.budget = 100000;
  double message = pricer.candidates(tasks.back().spec).front().time.value;
  CHECK(playWithoutNoise(program, anneal(program, start, pricer, options), pricer).total.value ==
        Approx(std::max(3.1e-3, 1e-4 + message)));
}

TEST_CASE("anneal: small messages that nothing waits for become one") {
  Pricer pricer = smallPricer();
  std::vector<Task> tasks{compute("x", 10)};
  for (int i = 0; i < 8; ++i)
    tasks.push_back(collective("small", 1024, {0}));
  Program program = programOf(tasks);
  AnnealOptions options;
  options.budget = 100000;
  Schedule start = scheduleProgram(program, {}, pricer, {}), found = anneal(program, start, pricer, options);
  CHECK(start.blocks[0].buckets.size() == 8);
  CHECK(found.blocks[0].buckets.size() == 1);
}

TEST_CASE("anneal: a result that three hundred kernels read is awaited once") {
  // Counted in a byte, the 257th reader awaited it again.
  Pricer pricer = smallPricer();
  std::vector<Task> tasks{compute("g", 1), collective("weights", 1024, {0})};
  for (int i = 0; i < 300; ++i)
    tasks.push_back(compute("reader", 1, {1}));
  Program program = programOf(tasks);
  Schedule start = scheduleProgram(program, {}, pricer, {});
  AnnealOptions options;
  options.budget = 1000;
  CHECK(verifySchedule(program, anneal(program, start, pricer, options), {}, &pricer) == "");
}
