//===- FlowNoiseTest.cpp - bandwidths of flows and operations: draws, and what they add up to -----------------------===//
#include "cost_models/pricing/FlowNoise.h"
#include "PricedClusters.h"
#include "cost_models/pricing/Played.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace braid::cost;
namespace alg = braid::algorithms;
namespace draws = braid::draws;

static DrawPlace at(uint64_t job, uint64_t operation = 0, uint64_t flow = 0) {
  DrawPlace place;
  place.job = job;
  place.operation = operation;
  place.where = flow;
  return place;
}

TEST_CASE("factors of operations and flows: mean one, of their own place, shared by correlation", "[fabric][flows]") {
  draws::Noise noise;
  noise.latencySigma = 1.5;
  noise.bandwidthSigma = noise.flowSigma = 0.5;
  const int n = 200000;
  double latency = 0, operation = 0, flow = 0;
  for (int job = 0; job < n; ++job) {
    latency += draws::latencyFactor(noise, at(job)) / n;
    operation += draws::operationTransferFactor(noise, at(job)) / n;
    flow += draws::flowTransferFactor(noise, at(job)) / n;
  }
  CHECK(latency == Approx(1).margin(0.03));
  CHECK(operation == Approx(1).margin(0.005));
  CHECK(flow == Approx(1).margin(0.005));
  // An operation's factor is one for all its flows, a flow's is its own; a message's is their product.
  CHECK(draws::operationTransferFactor(noise, at(1, 2, 3)) == draws::operationTransferFactor(noise, at(1, 2, 4)));
  CHECK(draws::flowTransferFactor(noise, at(1, 2, 3)) != draws::flowTransferFactor(noise, at(1, 2, 4)));
  CHECK(draws::transferFactor(noise, at(1, 2, 3)) ==
        draws::operationTransferFactor(noise, at(1, 2, 3)) * draws::flowTransferFactor(noise, at(1, 2, 3)));
  for (double correlation : {0.0, 0.5, 1.0}) {
    noise.correlation = correlation;
    int same = 0;
    for (int job = 0; job < 20000; ++job) {
      bool shared =
          draws::operationTransferFactor(noise, at(job, 6)) == draws::operationTransferFactor(noise, at(job, 7));
      same += shared;
      CHECK((draws::flowTransferFactor(noise, at(job, 6, 5)) == draws::flowTransferFactor(noise, at(job, 7, 5))) ==
            shared);
      CHECK((draws::latencyFactor(noise, at(job, 6)) == draws::latencyFactor(noise, at(job, 7))) == shared);
    }
    CHECK(same / 20000.0 == Approx(correlation).margin(0.015));
  }
}

TEST_CASE("slow flows: their share, their bandwidth, the mean over queue pairs, and how long they last",
          "[fabric][flows]") {
  draws::Noise noise;
  noise.slowFlows = 0.1;
  noise.slowFlowBandwidth = 0.25;
  auto factors = [&](int flows) {
    std::vector<double> all;
    for (int flow = 0; flow < flows; ++flow)
      all.push_back(draws::flowTransferFactor(noise, at(0, 0, flow)));
    return all;
  };
  std::vector<double> single = factors(20000);
  CHECK(std::count(single.begin(), single.end(), 4.0) / 20000.0 == Approx(0.1).margin(0.009));
  CHECK(std::count(single.begin(), single.end(), 1.0) + std::count(single.begin(), single.end(), 4.0) == 20000);
  noise.collisionFlowsPerNic = 4; // one of four slow: (3 + 4) / 4
  std::vector<double> split = factors(20000);
  CHECK(std::count(split.begin(), split.end(), 1.75) / 20000.0 == Approx(4 * 0.1 * 0.729).margin(0.014));
  DrawPlace place = at(3, 5, 9);
  std::set<double> seen;
  noise.flowSigma = 0.5;
  for (bool perJob : {false, true}) {
    noise.flowsPerJob = perJob;
    seen.clear();
    for (place.step = 0; place.step < 20; ++place.step)
      seen.insert(draws::flowTransferFactor(noise, place));
    CHECK(seen.size() == (perJob ? 1 : 20));
  }
}

/// Quantiles of how much longer than on a quiet fabric a collective's transfers take, played.
static std::vector<double> playedFactors(const char *algorithm, CollectiveKind kind, int n, int segments,
                                         const FabricProfile &profile, FlowSpread &spread,
                                         std::vector<double> quantiles) {
  Cluster cluster = quietCluster(n, 1);
  cluster.topology = "single_switch";
  cluster.inter.latency = {1e-9};
  cluster.device.reduction = {1e18};
  cluster.inter.profile = profile;
  Result<Topology> topology = Topology::build(cluster);
  REQUIRE(topology);
  Placement placement = packed(cluster);
  alg::StepOptions settings;
  settings.segments = segments;
  PlayedCollective collective(*alg::find(algorithm), kind, *groupsOf(n), settings, *topology, placement);
  PlayedNetwork network(*topology, placement);
  spread = collective.spread(network, true);
  Bytes bytes{64 << 20};
  double quiet = collective.play(bytes, network, {})->value;
  std::vector<double> times;
  for (uint64_t job = 0; job < 400; ++job) {
    PlayOptions options;
    addNoise(options, at(job), *topology, placement);
    times.push_back(collective.play(bytes, network, options)->value / quiet);
  }
  std::sort(times.begin(), times.end());
  for (double &q : quantiles)
    q = times[size_t(q * double(times.size() - 1))];
  return quantiles;
}

TEST_CASE("a collective's transfers are as slow as the slowest rank's flows together", "[played][flows]") {
  struct Case {
    const char *algorithm;
    CollectiveKind kind;
    int segments;
    double flows;     ///< that a rank deals its bytes over
    double tolerance; ///< of quantiles
  };
  FabricProfile lognormal, slow;
  lognormal.flowSigma = 0.5;
  slow.slowFlows = 0.1;
  for (const Case &c :
       {Case{"ring", CollectiveKind::AllReduce, 1, 1, 0.06}, Case{"two_shot", CollectiveKind::AllReduce, 1, 15, 0.1},
        Case{"naive_exchange", CollectiveKind::AllToAll, 1, 15, 0.1},
        Case{"halving_doubling", CollectiveKind::AllReduce, 1, 2.65, 0.2},
        Case{"pairwise_exchange", CollectiveKind::AllToAll, 1, 15, 0.15},
        Case{"bruck", CollectiveKind::AllToAll, 1, 4, 0.15},
        Case{"pipelined_chain", CollectiveKind::Broadcast, 64, 1, 0.2}})
    for (const FabricProfile &profile : {lognormal, slow}) {
      FlowSpread spread;
      std::vector<double> qs = {0.5, 0.95};
      std::vector<double> played = playedFactors(c.algorithm, c.kind, 16, c.segments, profile, spread, qs);
      FlowFactor factor(profile.noise(), spread);
      CAPTURE(c.algorithm, profile.flowSigma, spread.ranks, spread.flows);
      CHECK(spread.flows == Approx(c.flows).epsilon(0.01));
      for (size_t i = 0; i < qs.size(); ++i) {
        CAPTURE(qs[i], played[i], factor.quantile(qs[i]));
        CHECK(factor.quantile(qs[i]) == Approx(played[i]).epsilon(c.tolerance));
      }
    }
}

TEST_CASE("played: more messages to more peers win as the tails of bandwidth grow", "[played][flows]") {
  Cluster cluster = quietCluster(16, 1);
  cluster.topology = "fat_tree";
  cluster.hostsPerLeaf = 4;
  cluster.oversubscription = 2;
  cluster.spineLatency = microseconds(1);
  for (double sigma : {0.0, 0.5}) {
    cluster.inter.profile.flowSigma = sigma;
    auto p95 = [&](const char *algorithm) {
      std::vector<double> times;
      for (uint64_t job = 0; job < 300; ++job) {
        DrawPlace place = at(job);
        times.push_back(playStepPrograms(*alg::find(algorithm),
                                         specOf(CollectiveKind::ReduceScatter, 1536 << 10, groupsOf(16)), {}, cluster,
                                         packed(cluster), &place)
                            ->value);
      }
      std::sort(times.begin(), times.end());
      return times[285];
    };
    double few = p95("pat"), many = p95("naive_exchange"); // 4 and 15 messages of each rank
    CAPTURE(sigma, few, many);
    CHECK((many < few) == (sigma > 0));
  }
}

TEST_CASE("the factor of flows: one flow is lognormal, many draws are near their mean, the table is the quantiles",
          "[flows]") {
  draws::Noise noise;
  noise.flowSigma = 0.5;
  FlowFactor one(noise, {1, 1, 1}), slowest(noise, {16, 1, 1}), spread(noise, {16, 15, 1});
  CHECK(one.quantile(0.5) == Approx(std::exp(-0.125)).epsilon(1e-4));
  CHECK(slowest.quantile(0.5) == Approx(std::exp(0.5 * 1.7235 - 0.125)).epsilon(1e-3)); // 0.5^(1/16) is at z = 1.7235
  CHECK(spread.quantile(0.99) < slowest.quantile(0.5));
  for (double z : {-2.0, -0.1, 0.0, 1.3, 2.326})
    CHECK(slowest.at(z) == Approx(slowest.quantile(std::erfc(-z / std::sqrt(2)) / 2)).epsilon(0.005));
  noise.flowSigma = 0;
  noise.slowFlows = 0.1;
  FlowFactor two(noise, {16, 1, 1});
  CHECK(two.quantile(0.18) == Approx(1)); // no slow one among 16: 0.9^16 = 0.185
  CHECK(two.quantile(0.19) == Approx(2).epsilon(1e-4));
  FlowFactor many(noise, {1, 1000, 1}); // binomial: 1 + 0.1 on average, deviation 0.0095
  CHECK(many.quantile(0.5) == Approx(1.1).epsilon(0.002));
  CHECK(many.quantile(0.99) == Approx(1.1 + 2.326 * 0.0095).epsilon(0.003));
}

TEST_CASE("prices draw bandwidths: the mean of operations, averaging over queue pairs, buckets that share them",
          "[price][flows]") {
  Cluster cluster = quietCluster(16, 1);
  cluster.inter.profile.bandwidthSigma = 0.5;
  auto quantile = [&](const char *algorithm, double q) {
    Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
    CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 64 << 20, nullptr);
    const std::vector<Candidate> &all = pricer.candidates(spec);
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i].algorithm == algorithm)
        return pricer.quantile(spec, i, q, 4000).first.value;
    return 0.0;
  };
  Cluster quiet = quietCluster(16, 1);
  Pricer still(quiet, packed(quiet), Engine::Braid, BucketForm::OneLaunch);
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 64 << 20, nullptr);
  const Candidate &ring = candidateOf(still, spec, "ring");
  double rest = (ring.time - ring.wire).value;
  CHECK((quantile("ring", 0.5) - rest) / ring.wire.value == Approx(std::exp(-0.125)).epsilon(0.03));
  CHECK((quantile("ring", 0.95) - rest) / ring.wire.value == Approx(std::exp(0.5 * 1.645 - 0.125)).epsilon(0.05));
  cluster.inter.profile = FabricProfile();
  cluster.inter.profile.flowSigma = 0.5;
  double single = quantile("ring", 0.95), direct = quantile("two_shot", 0.95);
  CHECK(single > 2.5 * ring.time.value);
  CHECK(direct < 0.6 * single);
  cluster.inter.profile.collisionFlowsPerNic = 8;
  CHECK(quantile("ring", 0.95) < 0.7 * single);
}
