//===- SlowdownTest.cpp - kernels beside collectives in flight, and ranks that compute differently ----------------===//
#include "RandomProgram.h"
#include "cost_models/bounds/LeastPrices.h"
#include "cost_models/schedule/EventOrder.h"
#include "cost_models/simulate/RankClocks.h"
#include <catch2/catch.hpp>

using namespace braid::cost;
using namespace braid::cost::testing;
using Catch::Matchers::Contains;

namespace {

Cluster withCompute(ComputeNoise noise, bool noisyFabric = false) {
  Cluster cluster = smallCluster(noisyFabric);
  cluster.compute = noise;
  return cluster;
}
ComputeNoise slowed(double intra, double inter) { return {0, 0, {intra, inter}}; }
ComputeNoise skewed(double perJob, double perStep) { return {perJob, perStep, {1, 1}}; }

Placement inOrder() { return {{0, 1, 2, 3, 4, 5, 6, 7}}; }
Pricer pricerOf(const Cluster &cluster) { return Pricer(cluster, inOrder(), Engine::Nccl, BucketForm::OneLaunch); }

double price(const Pricer &pricer, const Task &task) { return pricer.cheapestTime(task.spec).value; }
/// Every collective alone in a bucket, with the cheapest candidate.
std::vector<Bucket> alone(const Block &block, const Pricer &pricer) {
  std::vector<Bucket> buckets;
  for (size_t i = 0; i < block.tasks.size(); ++i)
    if (block.tasks[i].kind == Task::Collective)
      buckets.push_back({{int(i)}, pricer.cheapest(block.tasks[i].spec)});
  return buckets;
}

} // namespace

TEST_CASE("slowdown: elapsed time is piecewise linear in the work", "[slowdown]") {
  Slowdown s(slowed(2, 1.5));
  double channels[2] = {10, 16};
  CHECK(s.elapsed(1, 20, channels) == 1);           // nothing in flight
  CHECK(s.elapsed(2, 4, channels) == Approx(6));    // both: at 1/3, done as the first one ends
  CHECK(s.elapsed(6, 4, channels) == Approx(12));   // 2 in 6, then 4 at 1/1.5
  CHECK(s.elapsed(7, 4, channels) == Approx(13));   // and 1 at full rate
  CHECK(s.elapsed(3, 10, channels) == Approx(4.5)); // only the other fabric's
  double other[2] = {16, 10};
  CHECK(s.elapsed(6, 4, other) == Approx(13));            // 2 in 6, then 3 at 1/2 in 6, then 1
  CHECK(Slowdown({}).elapsed(0.1, 0.2, channels) == 0.1); // to the bit
  // Two kernels one after another are as one of both together.
  for (double first : {0.5, 2.0, 3.0, 6.5}) {
    double begun = s.elapsed(first, 4, channels);
    CHECK(begun + s.elapsed(7 - first, 4 + begun, channels) == Approx(13));
  }
}

TEST_CASE("slowdown: hidden communication M makes a step of C one of C + M (1 - 1/f)", "[slowdown]") {
  for (double f : {1.0, 1.1, 1.4, 3.0}) {
    Pricer pricer = pricerOf(withCompute(slowed(1, f)));
    Program program = programOf({collective("r", 1 << 22, {}, -1), compute("x", 50000), compute("y", 50000)});
    Schedule schedule = scheduleProgram(program, {}, pricer, {});
    double m = price(pricer, program.blocks[0].tasks[0]), c = 0.1, expected = c + m * (1 - 1 / f);
    Played played = playWithoutNoise(program, schedule, pricer);
    CHECK(played.total.value == Approx(expected));
    CHECK(played.slowed.value == Approx(m * (1 - 1 / f)).margin(1e-15));
    CHECK(played.exposed.value == 0);
    CHECK(playWithoutNoise(program, schedule, pricer, true).total.value == Approx(expected)); // kernels one by one
    Bound bound = lowerBound(program, pricer);
    CHECK(bound.time.value == Approx(expected)); // and the bound says so
    if (f > 1)
      CHECK_THAT(bound.witness, Contains("that they take from computing"));
  }
  // Awaited where it stands, it takes nothing.
  Pricer pricer = pricerOf(withCompute(slowed(1, 3)));
  Program program = programOf({collective("r", 1 << 22, {}, -1), compute("x", 500, {0})});
  CHECK(playWithoutNoise(program, scheduleProgram(program, {}, pricer, {}), pricer).slowed.value == 0);
}

TEST_CASE("slowdown: both fabrics together take the product, and the bound takes them for coincident", "[slowdown]") {
  Pricer pricer = pricerOf(withCompute(slowed(1.5, 2)));
  Program program =
      programOf({collective("r", 1 << 22, {}, -1),
                 collective("s", 1 << 22, {}, -1, CollectiveKind::AllReduce, pairsInHosts()), compute("x", 100000)});
  double inter = price(pricer, program.blocks[0].tasks[0]), intra = price(pricer, program.blocks[0].tasks[1]);
  REQUIRE(inter > intra);
  double expected = 0.1 + intra * (1 - 1 / 3.0) + (inter - intra) * (1 - 1 / 2.0);
  CHECK(playWithoutNoise(program, scheduleProgram(program, {}, pricer, {}), pricer).total.value == Approx(expected));
  CHECK(lowerBound(program, pricer).time.value == Approx(expected));
}

TEST_CASE("slowdown: what is before the first and after the last kernel takes nothing, and the bound knows",
          "[slowdown]") {
  Pricer pricer = pricerOf(withCompute(slowed(1, 2)));
  // x, then its reduction r beside y, then the reduction of y: only r is in flight beside a kernel.
  Program program = programOf({compute("x", 30000), collective("r", 1 << 22, {0}, -1), compute("y", 30000, {0}),
                               collective("s", 1 << 22, {2}, -1)});
  double m = price(pricer, program.blocks[0].tasks[1]);
  double expected = 0.06 + m / 2 + m;
  CHECK(playWithoutNoise(program, scheduleProgram(program, {}, pricer, {}), pricer).total.value == Approx(expected));
  CHECK(lowerBound(program, pricer).time.value == Approx(expected));
}

TEST_CASE("slowdown: factors of one change nothing, to the bit; steps grow with them and never fall below",
          "[slowdown]") {
  Pricer none = smallPricer(), ones = pricerOf(withCompute(slowed(1, 1)));
  std::vector<std::unique_ptr<Pricer>> growing;
  for (double f : {1.05, 1.2, 1.5, 3.0})
    growing.push_back(
        std::make_unique<Pricer>(withCompute(slowed(f, 1 + f / 10)), inOrder(), Engine::Nccl, BucketForm::OneLaunch));
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Program program = randomProgram(seed);
    std::mt19937_64 random(seed);
    Schedule schedule = scheduleProgram(program, randomRule(random), none, randomOptions(random));
    double before = playWithoutNoise(program, schedule, none).total.value;
    CHECK(playWithoutNoise(program, schedule, ones).total.value == before);
    CHECK(lowerBound(program, ones).time.value == lowerBound(program, none).time.value);
    double bound = lowerBound(program, none).time.value;
    for (auto &pricer : growing) {
      Played played = playWithoutNoise(program, schedule, *pricer);
      CHECK(played.total.value >= before * (1 - 1e-12));
      CHECK(played.slowed.value >= 0);
      CHECK(played.total.value == Approx(played.compute.value + played.exposed.value));
      CHECK(lowerBound(program, *pricer).time.value >= bound);
      before = played.total.value;
    }
  }
}

TEST_CASE("slowdown: the incremental play is the simulator's, and its early end certain", "[slowdown]") {
  Pricer pricer = pricerOf(withCompute(slowed(1.3, 1.8)));
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Program program = randomProgram(seed * 3 + 1, 50); // one block
    std::mt19937_64 random(seed);
    ListOptions options;
    options.inFlight = 1 + int(seed % 2);
    Schedule schedule = scheduleProgram(program, randomRule(random), pricer, options);
    EventOrder order(program.blocks[0], schedule.blocks[0], pricer, options.inFlight, {});
    for (int change = 0; change < 100; ++change) {
      int at = int(random() % uint64_t(order.size())), to = int(random() % uint64_t(order.size()));
      if (!order.shift(at, to))
        continue;
      double time = order.play(1e300);
      order.accept();
      Schedule written{{order.written()}};
      CHECK(playWithoutNoise(program, written, pricer).total.value == Approx(time));
      if (!order.shift(to, at))
        continue;
      double all = order.play(1e300);
      order.reject();
      if (order.shift(to, at)) {
        CHECK(order.play(all * 0.999) > all * 0.999);
        order.reject();
      }
    }
  }
}

TEST_CASE("slowdown: no order of small programs is faster than the bound", "[slowdown][bounds]") {
  for (ComputeNoise noise : {slowed(1.2, 1.2), slowed(1, 3), slowed(2, 1.3)}) {
    Pricer pricer = pricerOf(withCompute(noise));
    double closest = 1e9;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      Program program = randomProgram(seed, 9 + int(seed) % 40);
      Bound bound = lowerBound(program, pricer);
      std::mt19937_64 random(seed);
      for (int trial = 0; trial < 8; ++trial) {
        Schedule schedule = scheduleProgram(program, randomRule(random), pricer, randomOptions(random));
        double played = playWithoutNoise(program, schedule, pricer).total.value;
        INFO("seed " << seed << ", " << bound.witness);
        CHECK(bound.time.value <= played * (1 + 1e-9));
        closest = std::min(closest, played / bound.time.value);
      }
    }
    CHECK(closest < 1.01);
  }
}

TEST_CASE("slowdown: a loop's trips begin with nothing in flight, and each loses its own", "[slowdown]") {
  Pricer pricer = pricerOf(withCompute(slowed(1, 2)));
  Task loop = compute("loop", 0, {0});
  loop.kind = Task::Nested;
  loop.block = 0;
  loop.trips = 20;
  Program program;
  program.ranks = 8;
  program.blocks.push_back({"body", {collective("r", 1 << 20, {}, -1), compute("x", 5000)}, {}});
  program.blocks.push_back({"main", {compute("head", 100), loop}, {}});
  double m = price(pricer, program.blocks[0].tasks[0]), expected = 100e-6 + 20 * (5e-3 + m / 2);
  CHECK(playWithoutNoise(program, scheduleProgram(program, {}, pricer, {}), pricer).total.value == Approx(expected));
  CHECK(lowerBound(program, pricer).time.value == Approx(expected));
}

TEST_CASE("slowdown: a plan does not overlap where more messages cost more than hiding them saves", "[slowdown]") {
  std::vector<Task> tasks;
  for (int i = 0; i < 6; ++i) {
    tasks.push_back(compute("x", 60, i ? std::vector<int>{2 * i - 2} : std::vector<int>{}));
    tasks.push_back(collective("r", 4096, {2 * i}));
  }
  Program program = programOf(tasks);
  PlanOptions options;
  Result<PlanResult> plain = plan(program, smallPricer(), options);
  Pricer slow = pricerOf(withCompute(slowed(1, 3)));
  Result<PlanResult> aware = plan(program, slow, options);
  REQUIRE((plain && aware));
  CHECK(aware->braid().collectives < plain->braid().collectives);
  double unaware = playWithoutNoise(program, plain->braid().schedule, slow).total.value;
  CHECK(aware->braid().total.value < unaware * 0.99);
  for (const PolicyResult &policy : aware->policies)
    CHECK(aware->braid().total.value <= policy.total.value * (1 + 1e-9));
}

//===- skew -----------------------------------------------------------------------------------------------------===//

TEST_CASE("skew: the slowest rank's factor is the largest of all, and depends on its place only", "[skew]") {
  for (ComputeNoise noise : {skewed(0.05, 0), skewed(0, 0.05), skewed(0.05, 0.03)}) {
    Pricer pricer = pricerOf(withCompute(noise)), again = pricerOf(withCompute(noise));
    for (uint64_t job : {3, 0, 1, 2})
      for (uint64_t step : {1, 0}) {
        double largest = 0;
        for (int rank = 0; rank < 8; ++rank)
          largest = std::max(largest, pricer.computeFactor(rank, 1, job, step));
        CHECK(pricer.slowestCompute(1, job, step) == largest);
        CHECK(again.slowestCompute(1, job, step) == largest);
        CHECK(pricer.slowestCompute(2, job, step) != largest);
      }
  }
  CHECK(smallPricer().slowestCompute(1, 2, 3) == 1);
}

TEST_CASE("skew: the largest of thousands of ranks is the largest", "[skew]") {
  Cluster cluster = withCompute(skewed(0.02, 0.01));
  cluster.hosts = 1024;
  Placement placement;
  for (int rank = 0; rank < 2048; ++rank)
    placement.deviceOf.push_back(rank);
  Pricer pricer(cluster, placement, Engine::Nccl, BucketForm::OneLaunch);
  for (uint64_t step = 0; step < 20; ++step) {
    double largest = 0;
    for (int rank = 0; rank < 2048; ++rank)
      largest = std::max(largest, pricer.computeFactor(rank, 1, 0, step));
    CHECK(pricer.slowestCompute(1, 0, step) == largest);
  }
}

TEST_CASE("skew: computation takes the slowest rank's time, in quantiles, objectives and their bounds", "[skew]") {
  Pricer pricer = pricerOf(withCompute(skewed(0.05, 0.02)));
  Program program = programOf({compute("x", 1000), collective("r", 1 << 20, {0}, -1)});
  Schedule schedule = scheduleProgram(program, {}, pricer, {});
  double m = price(pricer, program.blocks[0].tasks[1]);
  SampleOptions options;
  std::vector<double> expected;
  for (uint64_t job = 0; job < uint64_t(options.samples); ++job)
    expected.push_back(1e-3 * pricer.slowestCompute(options.seed, job, 0) + m);
  std::sort(expected.begin(), expected.end());
  Quantiles got = quantiles(program, schedule, pricer, options);
  CHECK(got.p50.value == Approx((expected[499] + expected[500]) / 2));
  CHECK((got.p50 < got.p95 && got.p95 < got.p99));
  options.skewed = false;
  CHECK(quantiles(program, schedule, pricer, options).p99 == playWithoutNoise(program, schedule, pricer).total);
  options.skewed = true;
  QuantileBound bound = quantileBound(program, pricer, lowerBound(program, pricer), {}, options);
  CHECK(bound.p50 <= got.p50);
  CHECK(bound.p50.value > 0.99 * got.p50.value);
  CHECK(bound.p99.value > 0.99 * got.p99.value);
  Seconds trained = objective(program, schedule, pricer, {}, options);
  CHECK(bound.objective <= trained);
  CHECK(bound.objective.value > 0.99 * trained.value);
  // No skew: every quantile is the step.
  Pricer none = pricerOf(withCompute(skewed(0, 0)));
  CHECK(quantiles(program, schedule, none, options).p99 == playWithoutNoise(program, schedule, none).total);
}

TEST_CASE("skew: no quantile of random schedules lies below its bound, beside noise and slowdown", "[skew][bounds]") {
  ComputeNoise noise{0.05, 0.03, {1.2, 1.3}};
  for (bool noisyFabric : {false, true}) {
    Pricer pricer = pricerOf(withCompute(noise, noisyFabric));
    SampleOptions options;
    options.samples = 50;
    options.jobs = 8;
    options.steps = 3;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      Program program = randomProgram(seed, 10 + int(seed) * 3);
      QuantileBound bound = quantileBound(program, pricer, lowerBound(program, pricer), {}, options);
      std::mt19937_64 random(seed);
      for (int trial = 0; trial < 3; ++trial) {
        Schedule schedule = scheduleProgram(program, randomRule(random), pricer, randomOptions(random));
        Quantiles got = quantiles(program, schedule, pricer, options);
        CHECK(bound.p50.value <= got.p50.value * (1 + 1e-9));
        CHECK(bound.p95.value <= got.p95.value * (1 + 1e-9));
        CHECK(bound.p99.value <= got.p99.value * (1 + 1e-9));
        CHECK((got.p50 <= got.p95 && got.p95 <= got.p99));
        CHECK(bound.objective.value <= objective(program, schedule, pricer, {}, options).value * (1 + 1e-9));
      }
    }
  }
}

TEST_CASE("skew: ranks' own clocks end with the slowest rank, whatever their groups", "[skew]") {
  Pricer pricer = pricerOf(withCompute({0.1, 0.05, {1.3, 1.6}}));
  auto byOwnClocks = [&](const Program &program, const Schedule &schedule, uint64_t job) {
    FlatProgram flat = flatten(program, schedule, pricer, true);
    return RankClocks(flat, program, schedule, pricer).step(1, job, 0);
  };
  auto byOneClock = [&](const Program &program, const Schedule &schedule, uint64_t job) {
    auto time = [](int, const FlatEvent &event, const Candidate &, uint64_t, double) { return event.value; };
    FlatProgram flat = flatten(program, schedule, pricer, true);
    NoWatcher nobody;
    return StepPlayer<decltype(time), NoWatcher>(flat, time, nobody).step(pricer.slowestCompute(1, job, 0)).total;
  };
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Program program = randomProgram(seed * 3 + 2, 40), together = program;
    for (Task &task : together.blocks[0].tasks)
      if (task.spec.groups)
        task.spec.groups = everyone();
    for (uint64_t job = 0; job < 5; ++job) {
      Schedule one = scheduleProgram(together, {}, pricer, {}), several = scheduleProgram(program, {}, pricer, {});
      CHECK(byOwnClocks(together, one, job) == Approx(byOneClock(together, one, job)));
      CHECK(byOwnClocks(program, several, job) == Approx(byOneClock(program, several, job)));
    }
  }
}

TEST_CASE("slowdown: a rank whose group stays inside its host is slowed by its own group", "[slowdown]") {
  auto groups = std::make_shared<RankGroups>(RankGroups{{{0, 1}, {2, 3, 4, 5, 6, 7}}, {}});
  auto pair = std::make_shared<RankGroups>(RankGroups{{{0, 1}}, {}});
  for (auto [intra, inter] : {std::pair(3.0, 1.0), std::pair(1.0, 3.0), std::pair(3.0, 3.0)}) {
    Pricer pricer = pricerOf(withCompute(slowed(intra, inter)));
    Task first = collective("r", 1 << 20, {}, -1, CollectiveKind::AllReduce, groups), second = first, own = first;
    own.spec.groups = pair;
    Program program = programOf({first, second, compute("x", 100000)});
    double m = price(pricer, own), all = price(pricer, first);
    REQUIRE(m < all / 2);
    Schedule schedule{{{alone(program.blocks[0], pricer),
                        {{Event::Start, 0}, {Event::Start, 1}, {Event::Run, 2}, {Event::Wait, 0}, {Event::Wait, 1}}}}};
    const Candidate &chosen = pricer.candidates(first.spec)[schedule.blocks[0].buckets[0].candidate];
    for (const Candidate &candidate : pricer.candidates(own.spec))
      if (candidate.algorithm == chosen.algorithm && candidate.protocol == chosen.protocol)
        m = candidate.time.value;
    CAPTURE(intra, inter);
    double expected = 0.1 + 2 * std::max(m * (1 - 1 / intra), all * (1 - 1 / inter));
    CHECK(stepTimes(program, schedule, pricer, 1, 0, 1, 1)[0].value == Approx(expected));
  }
}

TEST_CASE("skew: hosts and ranks relabelled together give the same step", "[skew]") {
  Cluster cluster = withCompute({0.1, 0.05, {1.3, 1.6}});
  Pricer pricer = pricerOf(cluster);
  Pricer relabelled(cluster, {{6, 7, 4, 5, 2, 3, 0, 1}}, Engine::Nccl, BucketForm::OneLaunch);
  Program program = randomProgram(5);
  Schedule schedule = scheduleProgram(program, {}, pricer, {});
  for (uint64_t job = 0; job < 5; ++job)
    CHECK(pricer.slowestCompute(1, job, 0) == relabelled.slowestCompute(1, job, 0));
  CHECK(quantiles(program, schedule, pricer, {}).p95 == quantiles(program, schedule, relabelled, {}).p95);
}
