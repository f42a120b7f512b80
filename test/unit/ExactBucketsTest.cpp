//===- ExactBucketsTest.cpp - contiguous buckets, against all of them -------------------------------------------===//
#include "cost_models/schedule/ExactBuckets.h"
#include "RandomProgram.h"
#include <catch2/catch.hpp>

using namespace braid::cost;
using namespace braid::cost::testing;

/// When the last message of these buckets ends on a channel of its own, and what reads it has run.
static double endOf(const Block &block, const std::vector<Bucket> &buckets, const Pricer &pricer) {
  double clock = 0, now = 0;
  std::vector<double> ready(block.tasks.size());
  for (size_t i = 0; i < block.tasks.size(); ++i)
    if (block.tasks[i].kind == Task::Compute)
      ready[i] = clock += block.tasks[i].duration.value;
  for (const Bucket &bucket : buckets) {
    double begin = now;
    for (int task : bucket.tasks)
      begin = std::max(begin, ready[block.tasks[task].operands.front()]);
    now = begin + pricer.candidates(mergedSpec(block, bucket)).front().time.value;
  }
  return now;
}

TEST_CASE("exact buckets: no other contiguous buckets end earlier") {
  Pricer pricer = smallPricer();
  std::mt19937 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    int count = 2 + int(random() % 8);
    std::vector<Task> tasks;
    std::vector<int> runs, collectives;
    for (int i = 0; i < count; ++i) {
      runs.push_back(int(tasks.size()));
      tasks.push_back(compute("g", 1 + random() % 100));
      collectives.push_back(int(tasks.size()));
      tasks.push_back(collective("r", int64_t(1) << (10 + random() % 14), {runs.back()}));
    }
    Program program = programOf(tasks);
    const Block &block = program.blocks[0];
    double found = endOf(block, exactBuckets(block, runs, pricer), pricer), best = 1e300;
    for (int cuts = 0; cuts < 1 << (count - 1); ++cuts) {
      std::vector<Bucket> buckets(1);
      for (int i = 0; i < count; ++i) {
        buckets.back().tasks.push_back(collectives[i]);
        if (cuts >> i & 1)
          buckets.emplace_back();
      }
      best = std::min(best, endOf(block, buckets, pricer));
    }
    CHECK(found <= best * 1.005); // prices between eighths of octaves are interpolated
  }
}

TEST_CASE("exact buckets: what depends on each other is not merged") {
  Pricer pricer = smallPricer();
  Program chain =
      programOf({compute("x", 1), collective("r", 1 << 10, {0}), compute("y", 1, {1}), collective("r", 1 << 10, {2})});
  for (const Bucket &bucket : exactBuckets(chain.blocks[0], {0, 2}, pricer))
    CHECK(bucket.tasks.size() == 1);
}
