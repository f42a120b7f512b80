//===- BucketizeTest.cpp - which collectives share a bucket -----------------------------------------------------===//
#include "RandomProgram.h"
#include <catch2/catch.hpp>
#include <numeric>

using namespace braid::cost;
using namespace braid::cost::testing;

static constexpr int64_t mib = int64_t(1) << 20;

static BucketRule unlimited() {
  BucketRule rule;
  rule.cap = {int64_t(1) << 60};
  rule.scanPastDependents = true;
  return rule;
}

static std::vector<std::vector<int>> bucketsOf(const Block &block, const BucketRule &rule) {
  std::vector<std::vector<int>> buckets;
  for (const Bucket &bucket : bucketize(block, rule))
    buckets.push_back(bucket.tasks);
  return buckets;
}

/// Interleavings of `chains` chains of two collectives: every order of the text in which each chain's first comes
/// first.
static std::vector<std::vector<int>> interleavings(int chains) {
  std::vector<int> text;
  for (int c = 0; c < chains; ++c)
    text.insert(text.end(), {c, c});
  std::vector<std::vector<int>> all;
  do
    all.push_back(text);
  while (std::next_permutation(text.begin(), text.end()));
  return all;
}

TEST_CASE(
    "bucketize: interleaved chains give two buckets, one member of each chain in each, in any order of the text") {
  for (int chains : {2, 3, 4})
    for (const std::vector<int> &text : interleavings(chains)) {
      Block block;
      std::vector<int> last(chains, -1);
      for (int chain : text) {
        std::vector<int> operands;
        if (last[chain] >= 0) {
          block.tasks.push_back(compute("between", 1, {last[chain]}));
          operands = {int(block.tasks.size()) - 1};
        }
        block.tasks.push_back(collective("c", 8, operands));
        last[chain] = int(block.tasks.size()) - 1;
      }
      auto buckets = bucketsOf(block, unlimited());
      REQUIRE(buckets.size() == 2);
      CHECK(int(buckets[0].size()) == chains);
      CHECK(int(buckets[1].size()) == chains);
    }
}

TEST_CASE("bucketize: without scanning, a bucket closes at the first collective that depends on it") {
  Block block{
      "b", {collective("a0", 8, {}), collective("a1", 8, {0}), collective("b0", 8, {}), collective("b1", 8, {2})}, {}};
  BucketRule rule = unlimited();
  CHECK(bucketsOf(block, rule) == std::vector<std::vector<int>>{{0, 2}, {1, 3}});
  rule.scanPastDependents = false;
  CHECK(bucketsOf(block, rule) == std::vector<std::vector<int>>{{0}, {1, 2}, {3}});
}

TEST_CASE("bucketize: crossed dependences between two keys never make a cycle") {
  // Keys 1 and 2; a_i feeds b_i' of the other key crosswise. {a0, a1} and {b0, b1} would wait for each other.
  Block block{"b",
              {collective("a0", 8, {}, 1), collective("b0", 8, {}, 2), collective("b1", 8, {0}, 2),
               collective("a1", 8, {1}, 1)},
              {}};
  auto buckets = bucketsOf(block, unlimited());
  // {a0, a1} is formed first; b1 (after a0) and b0 (before a1) must then stay apart.
  CHECK(buckets == std::vector<std::vector<int>>{{0, 3}, {1}, {2}});
}

TEST_CASE("bucketize: XLA's rule counts bytes, keys and members") {
  std::vector<Task> tasks;
  for (int64_t size : {10, 10, 10, 40, 10, 5})
    tasks.push_back(collective("c", size * mib, {}, 0));
  Block block{"b", tasks, {}};
  BucketRule rule;
  rule.cap = {30 * mib};
  CHECK(bucketsOf(block, rule) ==
        std::vector<std::vector<int>>{{0, 1, 2}, {3}, {4, 5}}); // 40 is larger than the cap: alone
  rule.countCap = 2;
  CHECK(bucketsOf(block, rule) == std::vector<std::vector<int>>{{0, 1}, {2, 4}, {3}, {5}});
  rule.countCap = 1 << 30;
  block.tasks[1].key = 7;
  block.tasks[2].key = -1;
  CHECK(bucketsOf(block, rule) == std::vector<std::vector<int>>{{0, 4, 5}, {1}, {2}, {3}});
  block.tasks[0].asynchronous = false;
  CHECK(bucketsOf(block, rule) == std::vector<std::vector<int>>{{0}, {1}, {2}, {3}, {4, 5}});
  rule.cap = {};
  CHECK(bucketsOf(block, rule).size() == 6);
}

TEST_CASE(
    "bucketize: DDP's rule closes at the tensor that reaches the cap, first bucket small, in order of readiness") {
  // Operands are produced in the reverse of the order in which they are reduced.
  std::vector<Task> tasks;
  for (int i = 0; i < 6; ++i)
    tasks.push_back(compute("g", 1));
  for (int i = 0; i < 6; ++i)
    tasks.push_back(collective("c", 10 * mib, {5 - i}));
  Block block{"b", tasks, {}};
  BucketRule rule;
  rule.cap = {25 * mib};
  rule.firstCap = {mib};
  CHECK(bucketsOf(block, rule) == std::vector<std::vector<int>>{{6, 7}, {8, 9, 10}, {11}});
  for (int i = 6; i < 9; ++i)
    block.tasks[i].key = 1; // each key has its own first bucket
  CHECK(bucketsOf(block, rule) == std::vector<std::vector<int>>{{6, 7}, {8}, {9, 10}, {11}});
}

TEST_CASE("bucketize: nothing crosses a barrier or leaves the order of ordered collectives") {
  Task barrier = compute("barrier", 1);
  barrier.kind = Task::Barrier;
  Block block{"b", {collective("a", 8, {}), barrier, collective("b", 8, {}), collective("c", 8, {})}, {}};
  CHECK(bucketsOf(block, unlimited()) == std::vector<std::vector<int>>{{0}, {2, 3}});
  Block ordered{"b", {collective("a", 8, {}, 0), collective("b", 8, {}, 1), collective("c", 8, {}, 0)}, {}};
  CHECK(bucketsOf(ordered, unlimited()).size() == 2);
  for (Task &task : ordered.tasks)
    task.ordered = true;
  CHECK(bucketsOf(ordered, unlimited()).size() == 3);
}

TEST_CASE("bucketize: random blocks, each collective once, and a schedule that verifies") {
  Pricer pricer = smallPricer();
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Program program = randomProgram(seed);
    std::mt19937_64 random(seed);
    BucketRule rule = randomRule(random);
    ListOptions options;
    options.inFlight = 2;
    Schedule schedule = scheduleProgram(program, rule, pricer, options);
    INFO("seed " << seed);
    REQUIRE(verifySchedule(program, schedule, options, &pricer) == "");
  }
}
