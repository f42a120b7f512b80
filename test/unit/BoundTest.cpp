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

static Cluster drawnCluster() {
  Cluster cluster = smallCluster(true);
  cluster.topology = "fat_tree";
  cluster.hostsPerLeaf = 2;
  cluster.spineLatency = microseconds(1);
  cluster.inter.profile.latencySigma = 0.3;
  cluster.inter.profile.bandwidthSigma = 0.2;
  return cluster;
}

static Placement eightRanks() {
  Placement placement;
  for (int rank = 0; rank < 8; ++rank)
    placement.deviceOf.push_back(rank);
  return placement;
}

TEST_CASE("quantile bound: no launch of a step costs less than its least factors say") {
  for (Engine engine : {Engine::Nccl, Engine::Braid}) {
    Pricer pricer(drawnCluster(), eightRanks(), engine, BucketForm::OneLaunch);
    CollectiveSpec spec = collective("r", 1 << 20, {}).spec;
    double closest = 1e9;
    for (const Candidate &c : pricer.candidates(spec))
      for (uint64_t job = 0; job < 50; ++job) {
        LeastFactors f = pricer.leastFactors(c, Fabric::Inter, 7, job, 3, 6);
        double least = c.fixed.value + c.latency.value * f.latency + c.wire.value * f.wire;
        for (uint64_t operation = 0; operation < 6; ++operation) {
          double drawn = pricer.draw(c, Fabric::Inter, 7, job, 3, operation).value;
          CHECK(drawn >= least * (1 - 1e-12));
          closest = std::min(closest, drawn / least);
        }
      }
    CHECK(closest < 1.2); // and it is not idle
  }
}

TEST_CASE("quantile bound: without noise it is the bound") {
  Pricer pricer = smallPricer();
  Program program = randomProgram(3);
  Bound plain = lowerBound(program, pricer);
  QuantileBound bound = quantileBound(program, pricer, plain, {}, {});
  CHECK(bound.p50 == plain.time);
  CHECK(bound.p99 == plain.time);
  CHECK(bound.objective == plain.time);
}

TEST_CASE("quantile bound: what a job's latency does to a collective that can't be hidden is counted in full") {
  Cluster cluster = smallCluster();
  cluster.inter.profile.latencyRebaseSigma = 0.3;
  Pricer pricer(cluster, eightRanks(), Engine::Nccl, BucketForm::OneLaunch);
  for (int64_t bytes : {1 << 10, 1 << 24}) { // another candidate is the cheapest in another draw
    Program program = programOf({compute("x", 10), collective("r", bytes, {0}, -1), compute("y", 10, {1})});
    QuantileBound bound = quantileBound(program, pricer, lowerBound(program, pricer), {}, {});
    Quantiles played = quantiles(program, scheduleProgram(program, {}, pricer, {}), pricer, {});
    for (auto [of, least] :
         {std::pair(played.p50, bound.p50), std::pair(played.p95, bound.p95), std::pair(played.p99, bound.p99)}) {
      CHECK(of >= least);
      CHECK(of.value < 1.02 * least.value);
    }
    CHECK(bound.p99 > bound.p50);
  }
}

TEST_CASE("quantile bound: no policy of random programs lies below it") {
  for (Engine engine : {Engine::Nccl, Engine::Braid}) {
    Pricer pricer(drawnCluster(), eightRanks(), engine, BucketForm::OneLaunch);
    PlanOptions options;
    options.sampling = {1, 60, 6, 4};
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      options.objective.kind = seed % 2 ? ObjectiveKind::Training : ObjectiveKind::Serving;
      Program program = randomProgram(seed, 30);
      QuantileBound bound =
          quantileBound(program, pricer, lowerBound(program, pricer), options.objective, unseen(options.sampling));
      for (Policy policy : {Policy::NoOverlap, Policy::PerTensor, Policy::OneBucket}) {
        PolicyResult result = runPolicy(program, pricer, policy, options);
        INFO("seed " << seed << ", " << name(policy));
        CHECK(result.quantiles.p50.value >= bound.p50.value * (1 - 1e-9));
        CHECK(result.quantiles.p99.value >= bound.p99.value * (1 - 1e-9));
        CHECK(result.objective.value >= bound.objective.value * (1 - 1e-9));
      }
    }
  }
}

TEST_CASE("quantile bound: beside a known one, the lower of both is what it is without") {
  Pricer pricer(drawnCluster(), eightRanks(), Engine::Nccl, BucketForm::OneLaunch);
  for (unsigned seed = 1; seed < 8; ++seed) {
    Program program = randomProgram(seed);
    Bound plain = lowerBound(program, pricer);
    SampleOptions samples;
    samples.samples = 50;
    samples.jobs = samples.steps = 4;
    QuantileBound own = quantileBound(program, pricer, plain, {}, samples);
    for (double share : {0.1, 0.5, 0.9, 1.0, 1.1, 2.0}) {
      QuantileBound known = {share * own.p50, share * own.p95, share * own.p99, share * own.objective};
      QuantileBound beside = quantileBound(program, pricer, plain, {}, samples, &known);
      CHECK(std::min(beside.p50, known.p50) == std::min(own.p50, known.p50));
      CHECK(std::min(beside.p95, known.p95) == std::min(own.p95, known.p95));
      CHECK(std::min(beside.p99, known.p99) == std::min(own.p99, known.p99));
      CHECK(std::min(beside.objective, known.objective) == std::min(own.objective, known.objective));
    }
  }
}
