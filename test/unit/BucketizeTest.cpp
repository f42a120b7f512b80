//===- BucketizeTest.cpp - which collectives share a bucket -----------------------------------------------------===//
#include "RandomProgram.h"
#include <catch2/catch.hpp>
#include <chrono>
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

/// What bucketize decides, by the definition: a search through the graph with its buckets for each pair.
static std::vector<std::vector<int>> bucketsByDefinition(const Block &block) {
  int count = int(block.tasks.size());
  std::vector<std::vector<int>> members(count);
  std::vector<int> home(count), segment(count);
  std::vector<std::vector<int>> operands(count);
  int chained = -1, current = 0;
  for (int i = 0; i < count; ++i) {
    const Task &task = block.tasks[i];
    home[i] = i;
    members[i] = {i};
    operands[i] = task.operands;
    current += task.kind == Task::Barrier;
    segment[i] = current;
    current += task.kind == Task::Barrier;
    if (task.kind == Task::Nested || (task.kind == Task::Collective && task.ordered)) {
      if (chained >= 0)
        operands[i].push_back(chained);
      chained = i;
    }
  }
  auto reaches = [&](int from, int to) {
    std::vector<char> seen(count);
    std::vector<int> stack{to};
    while (!stack.empty()) {
      int top = home[stack.back()];
      stack.pop_back();
      if (seen[top])
        continue;
      seen[top] = 1;
      for (int member : members[top])
        stack.insert(stack.end(), operands[member].begin(), operands[member].end());
    }
    return seen[home[from]] != 0;
  };
  std::vector<std::vector<int>> buckets;
  for (int i = 0; i < count; ++i) {
    const Task &seed = block.tasks[i];
    if (seed.kind != Task::Collective || home[i] != i)
      continue;
    for (int c = i + 1; c < count && seed.key >= 0 && seed.asynchronous; ++c) {
      const Task &task = block.tasks[c];
      if (task.kind != Task::Collective || home[c] != c || task.key != seed.key || !task.asynchronous ||
          segment[c] != segment[i] || reaches(i, c) || reaches(c, i))
        continue;
      home[c] = i;
      members[i].push_back(c);
    }
    buckets.push_back(members[i]);
  }
  return buckets;
}

TEST_CASE("bucketize: random blocks, the buckets are those of the definition") {
  for (uint64_t seed = 1; seed <= 200; ++seed)
    for (const Block &block : randomProgram(seed).blocks) {
      INFO("seed " << seed);
      CHECK(bucketsOf(block, unlimited()) == bucketsByDefinition(block));
    }
}

TEST_CASE("bucketize: 10,000 collectives, independent, in one chain, and each far from the only other of its key") {
  constexpr int count = 10000;
  for (bool chain : {false, true})
    for (int keys : {1, count / 2}) {
      Block block;
      int sum = -1, last = -1;
      for (int i = 0; i < count; ++i) {
        block.tasks.push_back(collective("c", 8, chain && last >= 0 ? std::vector<int>{last} : std::vector<int>{}));
        block.tasks.back().key = i % keys;
        last = int(block.tasks.size()) - 1;
        block.tasks.push_back(compute("sum", 1, sum < 0 ? std::vector<int>{last} : std::vector<int>{sum, last}));
        std::sort(block.tasks.back().operands.begin(), block.tasks.back().operands.end());
        sum = int(block.tasks.size()) - 1;
      }
      auto begin = std::chrono::steady_clock::now();
      std::vector<std::vector<int>> buckets = bucketsOf(block, unlimited());
      double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      INFO(keys << " keys" << (chain ? ", chain" : ""));
      if (chain)
        CHECK(buckets.size() == count);
      else if (keys == 1)
        CHECK(buckets.size() == 1);
      CHECK(seconds < 3); // 0.3 s on a machine that does nothing else
    }
}
