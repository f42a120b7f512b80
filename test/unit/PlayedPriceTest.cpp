//===- PlayedPriceTest.cpp - step programs played under the link rule -------------------------------------------===//
#include "PricedClusters.h"
#include "cost_models/pricing/ClosedForms.h"
#include "cost_models/pricing/Played.h"
#include "cost_models/pricing/Terms.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>

using namespace braid::cost;
namespace alg = braid::algorithms;

/// One rank per host, all under one switch: every pair of ranks is alike.
static Cluster uniformCluster(int ranks) {
  Cluster c = quietCluster(ranks, 1);
  c.topology = "single_switch";
  c.hostLink.bandwidth = {1e18};
  c.device.reduction = {200e9};
  return c;
}
static UniformMachine uniformMachine() { return {microseconds(1.3), {50e9}, {200e9}}; }

static double played(const char *algorithm, CollectiveKind kind, int64_t bytes, const Cluster &cluster,
                     alg::StepOptions options = {}, const DrawPlace *noise = nullptr) {
  Result<Seconds> time = playStepPrograms(*alg::find(algorithm), specOf(kind, bytes, groupsOf(cluster.ranks())),
                                          options, cluster, packed(cluster), noise);
  REQUIRE(time);
  return time->value;
}

TEST_CASE("one message: latency, and the slowest link's time", "[played]") {
  Cluster cluster = uniformCluster(2);
  auto pair = std::make_shared<RankGroups>();
  pair->pairs = {{0, 1}};
  CollectiveSpec spec = specOf(CollectiveKind::Permute, 50000, pair);
  auto time = playStepPrograms(*alg::find("direct"), spec, {}, cluster, packed(cluster));
  REQUIRE(time);
  CHECK(time->value == Approx(1.3e-6 + 1e-6));
  cluster.hostLink.bandwidth = {10e9}; // the slowest on the way, behind and before the NICs: cut-through, so once
  time = playStepPrograms(*alg::find("direct"), spec, {}, cluster, packed(cluster));
  CHECK(time->value == Approx(1.3e-6 + 5e-6));
}

TEST_CASE("two messages through one link take turns", "[played]") {
  Cluster cluster = quietCluster(2, 2);
  cluster.nicsPerHost = 1;
  cluster.hostLink.bandwidth = {1e18};
  auto pairs = std::make_shared<RankGroups>();
  pairs->pairs = {{0, 2}, {1, 3}};
  auto time = playStepPrograms(*alg::find("direct"), specOf(CollectiveKind::Permute, 50000, pairs), {}, cluster,
                               packed(cluster));
  REQUIRE(time);
  CHECK(time->value == Approx(1.3e-6 + 2e-6));
  cluster.contention = false; // the what-if: only those of one rank do
  time = playStepPrograms(*alg::find("direct"), specOf(CollectiveKind::Permute, 50000, pairs), {}, cluster,
                          packed(cluster));
  REQUIRE(time);
  CHECK(time->value == Approx(1.3e-6 + 1e-6));
  auto gathered = playStepPrograms(*alg::find("naive_exchange"), specOf(CollectiveKind::AllGather, 50000, groupsOf(4)),
                                   {}, cluster, packed(cluster));
  REQUIRE(gathered);
  CHECK(gathered->value == Approx(1.3e-6 + 2e-6).epsilon(0.1)); // to two ranks of the other host
  cluster.contention = true;
  pairs = std::make_shared<RankGroups>(); // opposite directions do not meet
  pairs->pairs = {{0, 2}, {3, 1}};
  time = playStepPrograms(*alg::find("direct"), specOf(CollectiveKind::Permute, 50000, pairs), {}, cluster,
                          packed(cluster));
  CHECK(time->value == Approx(1.3e-6 + 1e-6));
}

TEST_CASE("ring: the closed form is what is played", "[played]") {
  for (int n : {2, 3, 8, 17, 64})
    for (CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather})
      for (int64_t bytes : {0, 1 << 10, 1 << 20, 1 << 26}) {
        CAPTURE(n, int(kind), bytes);
        CHECK(played("ring", kind, bytes, uniformCluster(n)) ==
              Approx(ringTime(kind, n, {bytes}, uniformMachine()).value));
      }
}

TEST_CASE("a ring all_reduce costs its reduce_scatter and its all_gather", "[played][law]") {
  for (int n : {2, 5, 16}) {
    int64_t bytes = 1 << 22;
    Cluster cluster = uniformCluster(n);
    // all_gather's operand is one block: 1/n of the buffer.
    int64_t even = bytes / n * n;
    CHECK(played("ring", CollectiveKind::AllReduce, even, cluster) ==
          Approx(played("ring", CollectiveKind::ReduceScatter, even, cluster) +
                 played("ring", CollectiveKind::AllGather, even / n, cluster)));
  }
}

TEST_CASE("double tree: the closed form is near what is played", "[played]") {
  for (int n : {2, 4, 8, 16, 33, 64})
    for (int segments : {1, 8, 64})
      for (int64_t bytes : {1 << 16, 1 << 22, 1 << 28}) {
        alg::StepOptions options;
        options.segments = segments;
        double model = doubleTreeTime(n, {bytes}, segments, uniformMachine()).value;
        double time = played("double_binary_tree", CollectiveKind::AllReduce, bytes, uniformCluster(n), options);
        CAPTURE(n, segments, bytes, model, time);
        CHECK(model == Approx(time).epsilon(0.35));
      }
}

TEST_CASE("one slow link slows a large ring by as much", "[played][law]") {
  Cluster cluster = uniformCluster(16);
  Result<Topology> topology = Topology::build(cluster);
  REQUIRE(topology);
  Placement placement = packed(cluster);
  PlayedCollective ring(*alg::find("ring"), CollectiveKind::AllReduce, *groupsOf(16), {}, *topology, placement);
  PlayedNetwork network(*topology, placement);
  double before = ring.play({int64_t(1) << 32}, network, {})->value;
  for (Topology::Link &link : network.links)
    if (link.level == Topology::Level::Nic) {
      link.bandwidth = link.bandwidth * (1 / 3.0);
      break;
    }
  CHECK(ring.play({int64_t(1) << 32}, network, {})->value == Approx(3 * before).epsilon(0.01));
}

TEST_CASE("noise of a played ring is that of the slowest chain, not the largest of all in each step", "[played]") {
  for (double sigma : {0.5, 1.0}) {
    Cluster cluster = uniformCluster(64);
    cluster.inter.profile.bulkMean = 0.3;
    cluster.inter.profile.bulkSigma = sigma;
    double base = played("ring", CollectiveKind::AllReduce, 0, cluster), excess = 0;
    for (uint64_t job = 0; job < 20; ++job) {
      DrawPlace place;
      place.job = job;
      excess += (played("ring", CollectiveKind::AllReduce, 0, cluster, {}, &place) - base) / 20;
    }
    CHECK(excess / (126 * 0.3 * 1.3e-6) == Approx(chainNoise(sigma, 64, 126)).epsilon(0.25)); // a heavy tail also
    // holds up the messages behind it: 1.13 and 1.56 played, 1.11 and 1.28 by the formula
    CHECK(maximumNoise(sigma, 64) > 2.5); // what a barrier in each step would cost: 2.9, 6.5
  }
}

TEST_CASE("noise of neighbours that hold each other up: last-passage percolation", "[played]") {
  // Rank r ends step s at max(its own step s - 1, its left neighbour's step s - 1) + noise.
  const int n = 64, steps = 2 * (n - 1), runs = 20;
  for (double sigma : {0.5, 1.0}) {
    double sum = 0;
    for (int run = 0; run < runs; ++run) {
      std::vector<double> end(n, 0), next(n);
      for (int s = 0; s < steps; ++s, end.swap(next))
        for (int r = 0; r < n; ++r) {
          DrawPlace place;
          place.job = run;
          place.step = s;
          place.where = r;
          next[r] = std::max(end[r], end[(r + n - 1) % n]) + std::exp(sigma * normal(place) - sigma * sigma / 2);
        }
      sum += *std::max_element(end.begin(), end.end()) / steps / runs;
    }
    CHECK(neighbourNoise(sigma) == Approx(sum).epsilon(0.03));
  }
}

TEST_CASE("playing is a function of its input", "[played]") {
  Cluster cluster = quietCluster(4, 4);
  cluster.inter.profile.bulkMean = 0.3;
  DrawPlace place;
  alg::StepOptions options;
  options.segments = 8;
  double first = played("double_binary_tree", CollectiveKind::AllReduce, 1 << 20, cluster, options, &place);
  CHECK(first == played("double_binary_tree", CollectiveKind::AllReduce, 1 << 20, cluster, options, &place));
  place.seed = 2;
  CHECK(first != played("double_binary_tree", CollectiveKind::AllReduce, 1 << 20, cluster, options, &place));
}

TEST_CASE("groups run at once and contend", "[played]") {
  Cluster cluster = quietCluster(4, 8);
  cluster.nicsPerHost = 2; // four GPUs share a NIC
  double few = played("ring", CollectiveKind::AllReduce, 1 << 24, cluster);
  CHECK(few > 0);
  auto time = [&](int groups) {
    auto played =
        playStepPrograms(*alg::find("ring"), specOf(CollectiveKind::AllReduce, 1 << 26, groupsOf(32, groups, true)), {},
                         cluster, packed(cluster));
    REQUIRE(played);
    return played->value;
  };
  auto alone = std::make_shared<RankGroups>();
  alone->groups = {{0, 8, 16, 24}};
  auto one = playStepPrograms(*alg::find("ring"), specOf(CollectiveKind::AllReduce, 1 << 26, alone), {}, cluster,
                              packed(cluster));
  REQUIRE(one);
  CHECK(time(8) / one->value == Approx(4).epsilon(0.1));
}

TEST_CASE("a program that waits for nobody's message is an error, not a hang", "[played]") {
  Cluster cluster = uniformCluster(2);
  Result<Topology> topology = Topology::build(cluster);
  std::vector<int> group = {0, 1};
  PlayedRank rank{&group, {}};
  rank.program.collective = alg::Collective::Broadcast;
  rank.program.ranks = 2;
  rank.program.chunks = 1;
  rank.program.steps = {{alg::Action::Receive, 1, 0, 1, 0}};
  Placement placement = packed(cluster);
  Result<Seconds> time = playPrograms({rank, PlayedRank{&group, {}}}, PlayedNetwork(*topology, placement), {});
  REQUIRE(!time);
  CHECK(time.error().message.find("expected a message from rank 1") != std::string::npos);
}

TEST_CASE("a ring of 128 ranks is played in milliseconds", "[played]") {
  Cluster cluster = quietCluster(16, 8);
  auto begin = std::chrono::steady_clock::now();
  played("ring", CollectiveKind::AllReduce, 1 << 24, cluster);
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 0.5); // about 30 ms
}

/// One host of two fast devices, one of two that add at a tenth of their rate and are launched later.
static Cluster mixedCluster() {
  Cluster c = quietCluster(2, 2);
  Device slow = c.device;
  slow.reduction = {1e11};
  slow.launch = microseconds(8);
  for (const Device &device : {c.device, slow}) {
    HostGroup group;
    group.hosts = 1;
    group.devicesPerHost = group.nicsPerHost = 2;
    group.device = device;
    c.groups.push_back(group);
  }
  c.device = slow; // what each of them reaches
  return c;
}

TEST_CASE("a group of one kind is priced by that kind, a mixed one by its slowest member", "[played]") {
  Cluster mixed = mixedCluster();
  auto price = [](const Cluster &cluster, std::vector<int> group) {
    auto groups = std::make_shared<RankGroups>();
    groups->groups = {std::move(group)};
    Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
    return candidateOf(pricer, specOf(CollectiveKind::AllReduce, 1 << 24, groups), "ring").time.value;
  };
  Cluster fast = mixed, slow = mixed;
  fast.groups.clear();
  fast.device = mixed.groups[0].device;
  slow.groups.clear();
  CHECK(price(mixed, {0, 1}) == Approx(price(fast, {0, 1})));
  CHECK(price(mixed, {2, 3}) == Approx(price(slow, {2, 3})));
  CHECK(price(mixed, {0, 1}) < price(mixed, {2, 3}));
  CHECK(price(mixed, {0, 1, 2, 3}) > price(fast, {0, 1, 2, 3}));
  CHECK(price(mixed, {0, 1, 2, 3}) <= price(slow, {0, 1, 2, 3}) * (1 + 1e-9));
}

TEST_CASE("a slow member counts only in the steps in which it works", "[played]") {
  // Reduce to rank 0 of the fast host: its partner adds nothing in a tree of two.
  Cluster mixed = mixedCluster(), fast = mixed;
  fast.groups.clear();
  fast.device = mixed.groups[0].device;
  auto groups = std::make_shared<RankGroups>();
  groups->groups = {{0, 2}};
  auto time = [&](const Cluster &cluster) {
    return playStepPrograms(*alg::find("binomial_tree"), specOf(CollectiveKind::Reduce, 1 << 24, groups), {}, cluster,
                            packed(cluster))
        ->value;
  };
  CHECK(time(mixed) == Approx(time(fast)));
}

TEST_CASE("queue pairs with source ports of their own are flows of their own, parts of a message", "[played]") {
  Cluster cluster = quietCluster(2, 1);
  cluster.topology = "single_switch";
  cluster.hostLink.bandwidth = {1e18};
  cluster.planes = 2; // a NIC's port on each has half its bandwidth
  auto pair = std::make_shared<RankGroups>();
  pair->pairs = {{0, 1}};
  auto time = [&](int queuePairs, bool adaptive) {
    cluster.inter.profile.collisionFlowsPerNic = queuePairs;
    cluster.inter.profile.adaptiveRouting = adaptive;
    return playStepPrograms(*alg::find("direct"), specOf(CollectiveKind::Permute, 50000, pair), {}, cluster,
                            packed(cluster))
        ->value;
  };
  CHECK(time(1, false) == Approx(1.3e-6 + 2e-6)); // one plane
  CHECK(time(2, false) == Approx(1.3e-6 + 1e-6)); // half on each
  CHECK(time(4, false) == Approx(1.3e-6 + 1e-6));
  CHECK(time(1, true) == Approx(1.3e-6 + 1e-6));
}

TEST_CASE("more flows even out what a hash puts on one uplink", "[played]") {
  Cluster cluster = quietCluster(16, 1);
  cluster.topology = "fat_tree";
  cluster.hostsPerLeaf = 8;
  cluster.routing = Routing::Hash;
  auto pairs = std::make_shared<RankGroups>();
  for (int rank = 0; rank < 8; ++rank)
    pairs->pairs.push_back({rank, rank + 8});
  auto time = [&](int queuePairs, bool adaptive) {
    cluster.inter.profile.collisionFlowsPerNic = queuePairs;
    cluster.inter.profile.adaptiveRouting = adaptive;
    return playStepPrograms(*alg::find("direct"), specOf(CollectiveKind::Permute, 1 << 24, pairs), {}, cluster,
                            packed(cluster))
        ->value;
  };
  double alone = 1.3e-6 + (1 << 24) / 50e9;
  CHECK(time(1, false) > 1.9 * alone);
  CHECK(time(64, false) < 1.5 * alone);
  CHECK(time(1, true) == Approx(alone).epsilon(0.01));
}
