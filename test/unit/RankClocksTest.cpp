//===- RankClocksTest.cpp - ranks wait for their own groups ----------------------------------------------------------===//
#include "RandomProgram.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace braid::cost;
using namespace braid::cost::testing;

/// Eight hosts of one device each; only messages are noisy.
static Cluster noisyMessages() {
  Cluster cluster = smallCluster();
  cluster.hosts = 8;
  cluster.devicesPerHost = cluster.nicsPerHost = 1;
  cluster.inter.profile.bulkMean = 0.2;
  cluster.inter.profile.bulkSigma = 0.8;
  return cluster;
}

static void onlySpikes(FabricProfile &profile, double probability, Seconds length) {
  profile.bulkMean = 0;
  profile.spikeProbability = probability;
  profile.spikeMinimum = length;
  profile.spikeIndex = 50; // all nearly as long
}

static Placement inOrder() { return {{0, 1, 2, 3, 4, 5, 6, 7}}; }

static std::vector<double> sorted(const std::vector<Seconds> &times) {
  std::vector<double> values;
  for (Seconds time : times)
    values.push_back(time.value);
  std::sort(values.begin(), values.end());
  return values;
}

static std::shared_ptr<const RankGroups> onePair() { return std::make_shared<RankGroups>(RankGroups{{{0, 1}}, {}}); }

/// `count` all_reduces, each of what the one before gave.
static Program chain(int count, std::shared_ptr<const RankGroups> groups, double trips = 1) {
  std::vector<Task> tasks;
  for (int i = 0; i < count; ++i)
    tasks.push_back(collective("r" + std::to_string(i), 16384, i ? std::vector<int>{i - 1} : std::vector<int>{}, -1,
                               CollectiveKind::AllReduce, groups));
  Program program = programOf(std::move(tasks));
  if (trips != 1) {
    Task loop = compute("loop", 0);
    loop.kind = Task::Nested;
    loop.block = 0;
    loop.trips = trips;
    program.blocks.push_back({"main", {loop}, {}});
  }
  return program;
}

static void compareLateness(const std::vector<double> &got, const std::vector<double> &expected, double quiet,
                            double tolerance) {
  for (double q : {0.1, 0.5, 0.9, 0.95}) {
    size_t at = size_t(q * double(got.size()));
    CAPTURE(q, quiet, expected[at], got[at]);
    CHECK((got[at] - quiet) / (expected[at] - quiet) == Approx(1).epsilon(tolerance));
  }
}

// Each rank waits for its partner's message, which leaves when the partner has its own: the messages of eight chains that share none.
TEST_CASE("a chain of exchanges is as late as the latest of the ranks' chains of messages", "[simulate]") {
  Cluster cluster = noisyMessages();
  Pricer pricer(cluster, inOrder(), Engine::Braid, BucketForm::OneLaunch);
  constexpr int jobs = 4000, count = 12;
  Program program = chain(count, pairsInHosts());
  Schedule schedule = scheduleProgram(program, {}, pricer, {});
  const Candidate &exchange =
      pricer.candidates(program.blocks[0].tasks[0].spec)[schedule.blocks[0].buckets[0].candidate];
  REQUIRE(exchange.serialMessages == Approx(1));
  double quiet = playWithoutNoise(program, schedule, pricer).total.value;
  std::vector<double> expected;
  for (uint64_t job = 0; job < jobs; ++job) {
    double latest = 0;
    for (uint64_t rank = 0; rank < 8; ++rank) {
      double late = 0;
      for (uint64_t i = 0; i < count; ++i)
        late += braid::draws::messageExcess(cluster.inter.profile.noise(), exchange.latency.value, {9, job, i, rank});
      latest = std::max(latest, late);
    }
    expected.push_back(quiet + latest);
  }
  std::sort(expected.begin(), expected.end());
  compareLateness(sorted(stepTimes(program, schedule, pricer, 1, 0, jobs, 1)), expected, quiet, 0.03);
}

// Of many messages, a group is drawn whole: the latest of groups that are alone, whose noise has a closed form (a few per cent of it).
TEST_CASE("a chain of collectives on large groups is as late as the latest group", "[simulate]") {
  Cluster cluster = noisyMessages();
  cluster.hosts = 32;
  Placement placement;
  RankGroups four, alone;
  for (int rank = 0; rank < 32; ++rank) {
    placement.deviceOf.push_back(rank);
    four.groups.resize(4);
    four.groups[size_t(rank / 8)].push_back(rank);
  }
  alone.groups = {four.groups[0]};
  Pricer pricer(cluster, placement, Engine::Braid, BucketForm::OneLaunch);
  constexpr int jobs = 4000;
  Program program = chain(12, std::make_shared<RankGroups>(four)), one = chain(12, std::make_shared<RankGroups>(alone));
  program.ranks = one.ranks = 32;
  Schedule schedule = scheduleProgram(program, {}, pricer, {});
  std::vector<Seconds> each = stepTimes(one, scheduleProgram(one, {}, pricer, {}), pricer, 2, 0, 4 * jobs, 1), latest;
  for (int job = 0; job < jobs; ++job)
    latest.push_back(*std::max_element(each.begin() + 4 * job, each.begin() + 4 * job + 4));
  compareLateness(sorted(stepTimes(program, schedule, pricer, 1, 0, jobs, 1)), sorted(latest),
                  playWithoutNoise(program, schedule, pricer).total.value, 0.08);
}

TEST_CASE("groups that do not differ in anything drawn play as with one clock", "[simulate]") {
  Cluster cluster = noisyMessages();
  cluster.inter.profile.bulkMean = 0;
  cluster.inter.profile.latencyRebaseSigma = 0.3; // common to all
  Pricer pricer(cluster, inOrder(), Engine::Braid, BucketForm::OneLaunch);
  for (double trips : {1.0, 2.5, 8.0, 8.25, 21.0, 100.75}) {
    Program program = chain(3, pairsInHosts(), trips);
    Schedule schedule = scheduleProgram(program, {}, pricer, {});
    Program larger = program;
    larger.ranks = 1 << 20; // one clock for all
    for (uint64_t job = 0; job < 20; ++job) {
      CAPTURE(trips, job);
      CHECK(stepTimes(program, schedule, pricer, 1, job, 1, 1)[0].value ==
            Approx(stepTimes(larger, schedule, pricer, 1, job, 1, 1)[0].value).epsilon(1e-12));
    }
  }
}

TEST_CASE("a host's spike delays the groups on it, and the others only where they meet", "[simulate]") {
  Cluster cluster = noisyMessages();
  onlySpikes(cluster.inter.profile, 0.02, microseconds(100));
  Pricer pricer(cluster, inOrder(), Engine::Braid, BucketForm::OneLaunch);
  auto meanSpikes = [&](const Program &program) {
    Schedule schedule = scheduleProgram(program, {}, pricer, {});
    double quiet = playWithoutNoise(program, schedule, pricer).total.value, sum = 0;
    std::vector<Seconds> times = stepTimes(program, schedule, pricer, 1, 0, 4000, 1);
    for (Seconds time : times)
      sum += (time.value - quiet) / microseconds(102).value / double(times.size());
    return sum;
  };
  double ofOne = 1 - std::pow(0.98, 2), ofAll = 1 - std::pow(0.98, 8);
  Program meeting = chain(1, pairsInHosts());
  meeting.blocks[0].tasks.push_back(collective("all", 16384, {0}, -1));
  CHECK(meanSpikes(chain(1, onePair())) == Approx(ofOne).epsilon(0.15));
  CHECK(meanSpikes(chain(1, pairsInHosts())) == Approx(ofAll).epsilon(0.1));
  CHECK(meanSpikes(meeting) == Approx(2 * ofAll).epsilon(0.1));
  // Ten on pairs: two spikes of a step mostly hit different pairs, which do not add up.
  double most = 0; // expected largest of four binomial numbers of 10 trials
  for (int k = 1; k <= 10; ++k) {
    double below = 0, choose = 1;
    for (int i = 0; i < k; ++i) {
      below += choose * std::pow(ofOne, i) * std::pow(1 - ofOne, 10 - i);
      choose = choose * (10 - i) / (i + 1);
    }
    most += 1 - std::pow(below, 4);
  }
  CHECK(meanSpikes(chain(10, pairsInHosts())) == Approx(most).epsilon(0.1));
}

// Two groups of four, and pairs that are met by another rank each time: a rank may be done early, a step is never shorter than planned.
TEST_CASE("noise makes no step shorter than it is without noise", "[simulate]") {
  Cluster cluster = noisyMessages();
  Pricer pricer(cluster, inOrder(), Engine::Braid, BucketForm::OneLaunch);
  auto groups = [](std::vector<std::vector<int>> of) { return std::make_shared<RankGroups>(RankGroups{of, {}}); };
  auto large = groups({{0, 1, 2, 3}, {4, 5, 6, 7}}), first = groups({{0, 1, 2, 3}, {4}, {5}, {6}, {7}}),
       second = groups({{0}, {1}, {2}, {3}, {4, 5, 6, 7}});
  for (CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::Broadcast, CollectiveKind::Reduce}) {
    Program uneven = chain(8, first), even = chain(8, large);
    for (size_t i = 0; i < 8; ++i) {
      uneven.blocks[0].tasks[i].spec.kind = even.blocks[0].tasks[i].spec.kind = kind;
      if (i % 2)
        uneven.blocks[0].tasks[i].spec.groups = second;
    }
    for (const Program &program : {uneven, even}) {
      Schedule schedule = scheduleProgram(program, {}, pricer, {});
      double quiet = playWithoutNoise(program, schedule, pricer).total.value;
      CAPTURE(int(kind), quiet);
      CHECK(sorted(stepTimes(program, schedule, pricer, 1, 0, 100, 1)).front() >= quiet * (1 - 1e-9));
    }
  }
}

TEST_CASE("who comes late to a loop is waited for once, however many trips there are", "[simulate]") {
  Cluster cluster = noisyMessages();
  onlySpikes(cluster.inter.profile, 0.01, microseconds(1000));
  cluster.hosts = 4;
  cluster.devicesPerHost = cluster.nicsPerHost = 2;
  Pricer pricer(cluster, inOrder(), Engine::Braid, BucketForm::OneLaunch);
  auto across = std::make_shared<RankGroups>(RankGroups{{{0, 2}, {1, 4}, {3, 6}, {5, 7}}, {}});
  for (double trips : {8.0, 20.5, 1000.0}) {
    Program program = chain(1, pairsInHosts(), trips); // of quiet links
    program.blocks[1].tasks[0].operands = {0};
    program.blocks[1].tasks.insert(program.blocks[1].tasks.begin(),
                                   collective("late", 16384, {}, -1, CollectiveKind::AllReduce, across));
    Schedule schedule = scheduleProgram(program, {}, pricer, {});
    double quiet = playWithoutNoise(program, schedule, pricer).total.value;
    std::vector<double> times = sorted(stepTimes(program, schedule, pricer, 1, 0, 400, 1));
    CAPTURE(trips, quiet);
    CHECK(times.front() == Approx(quiet));
    CHECK(times.back() > quiet + 0.9e-3);
    CHECK(times.back() < quiet + 1.3e-3);
  }
}
