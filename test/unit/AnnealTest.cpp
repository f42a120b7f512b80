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

TEST_CASE("anneal: layers' weights are gathered as far ahead as there is memory for") {
  Pricer pricer = smallPricer();
  std::vector<Task> tasks;
  for (int layer = 0; layer < 6; ++layer) { // its kernel takes longer than the gather, as all are free to begin at once
    tasks.push_back(collective("weights", 1 << 23, {}, -1, CollectiveKind::AllGather));
    tasks.back().result = {1 << 26};
    std::vector<int> operands{int(tasks.size()) - 1};
    if (layer)
      operands.insert(operands.begin(), int(tasks.size()) - 2);
    tasks.push_back(compute("layer", 2000, operands, 1 << 10));
  }
  Program program = programOf(tasks);
  Schedule start; // one after the other
  start.blocks.resize(1);
  for (int layer = 0; layer < 6; ++layer) {
    start.blocks[0].buckets.push_back({{2 * layer}, 0});
    start.blocks[0].order.insert(start.blocks[0].order.end(),
                                 {{Event::Start, layer}, {Event::Wait, layer}, {Event::Run, 2 * layer + 1}});
  }
  AnnealOptions options;
  options.inFlight = 6;
  options.budget = 200000;
  double price = pricer.candidates(tasks.front().spec).front().time.value;
  auto timeOf = [&](const Schedule &schedule) { return playWithoutNoise(program, schedule, pricer).total.value; };
  CHECK(timeOf(start) == Approx(6 * (price + 2e-3)));
  // Two at a time hide all gathers but the first.
  options.memoryLimit = {(2 << 26) + (4 << 10)};
  Schedule found = anneal(program, start, pricer, options);
  CHECK(peakMemory(program, found).bytes <= options.memoryLimit);
  CHECK(timeOf(found) == Approx(price + 12e-3));
  // What the search did before: it went through states of any size, and what it found did not fit.
  options.memoryLimit = {};
  CHECK(peakMemory(program, anneal(program, start, pricer, options)).bytes.value > (2 << 26) + (4 << 10));
}

TEST_CASE("anneal: no more memory than the limit, in blocks that nest others, too") {
  Pricer pricer = smallPricer();
  int shorter = 0, above = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Program program = randomProgram(seed, 10 + int(seed) * 2);
    std::mt19937_64 random(seed);
    ListOptions list;
    list.inFlight = 1 + int(seed % 3);
    Schedule start = scheduleProgram(program, randomRule(random), pricer, list);
    AnnealOptions options;
    options.inFlight = list.inFlight;
    options.budget = 100000;
    Schedule free = anneal(program, start, pricer, options);
    Bytes needed = peakMemory(program, start).bytes;
    options.memoryLimit = needed;
    Schedule found = anneal(program, start, pricer, options);
    INFO("seed " << seed);
    CHECK(peakMemory(program, found).bytes <= needed);
    CHECK(verifySchedule(program, found, list, &pricer) == "");
    shorter += playWithoutNoise(program, found, pricer).total < playWithoutNoise(program, start, pricer).total;
    above += peakMemory(program, free).bytes > needed;
  }
  CHECK(shorter > 20);
  CHECK(above > 10);
}
