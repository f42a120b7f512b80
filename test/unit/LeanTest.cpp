//===- LeanTest.cpp - the schedule of little memory -------------------------------------------------------------===//
#include "RandomProgram.h"
#include "cost_models/schedule/Search.h"
#include <catch2/catch.hpp>

using namespace braid::cost;
using namespace braid::cost::testing;
using Catch::Matchers::Contains;

TEST_CASE("lean: random programs pass the verifier, each collective alone and at once") {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    Program program = randomProgram(seed, 10 + int(seed) % 80);
    Schedule schedule = leanSchedule(program);
    CHECK(verifySchedule(program, schedule, {}) == "");
    for (const BlockSchedule &block : schedule.blocks)
      for (const Bucket &bucket : block.buckets)
        CHECK(bucket.tasks.size() == 1);
  }
}

/// A forward pass over gathered and converted parameters, of which all gathers stand first.
static Program gathersFirst(int layers) {
  Program program = programOf({});
  std::vector<Task> &tasks = program.blocks[0].tasks;
  for (int layer = 0; layer < layers; ++layer) {
    tasks.push_back(collective("gather", 100, {}, 0, CollectiveKind::AllGather));
    tasks.back().result = {800};
  }
  for (int layer = 0; layer < layers; ++layer) {
    tasks.push_back(compute("convert", 1, {layer}, 1600));
    std::vector<int> operands = {layers + 2 * layer};
    if (layer > 0)
      operands = {layers + 2 * layer - 1, layers + 2 * layer};
    tasks.push_back(compute("product", 10, operands, 1000));
  }
  tasks.back().escapes = true;
  return program;
}

TEST_CASE("lean: gathers come when they are read, however early they stand") {
  Program program = gathersFirst(10);
  // At a product: its parameters, converted, what the layer before gave, and what it gives.
  CHECK(peakMemory(program, leanSchedule(program)).bytes.value == 1600 + 1000 + 1000);
  Bytes written = runPolicy(program, smallPricer(), Policy::NoOverlap, {}).peak.bytes;
  CHECK(written.value >= 10 * 800);

  PlanOptions options;
  options.memoryLimit = {1600 + 1000 + 1000};
  Result<PlanResult> result = plan(program, smallPricer(), options);
  REQUIRE(result);
  CHECK(result->braid().peak.bytes <= options.memoryLimit);
  options.memoryLimit = {3000};
  result = plan(program, smallPricer(), options);
  REQUIRE(!result);
  CHECK_THAT(result.error().text(),
             Contains("memory of the program with each gather as late as it can be, expected at most"));
}
