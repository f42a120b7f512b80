//===- QuantileTest.cpp - quantiles by closed form are those of the draws -------------------------------------------===//
#include "PricedClusters.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace braid::cost;

static Cluster oneSwitch(int hosts) {
  Cluster cluster = quietCluster(hosts, 1);
  cluster.topology = "single_switch";
  return cluster;
}

/// Of many draws, with its standard error.
static std::pair<double, double> sampled(const Pricer &pricer, const Candidate &c, double q) {
  std::vector<double> times;
  for (uint64_t job = 0; job < 20000; ++job)
    times.push_back(pricer.draw(c, Fabric::Inter, 17, job, 0, 0).value);
  std::sort(times.begin(), times.end());
  double last = double(times.size()) - 1, off = std::sqrt(last * q * (1 - q));
  auto at = [&](double x) { return times[size_t(std::lround(std::clamp(x, 0.0, last)))]; };
  return {at(q * last), (at(q * last + off) - at(q * last - off)) / 2};
}

TEST_CASE("quantiles by closed form are those of the draws", "[price][quantiles]") {
  struct Case {
    const char *what;
    void (*set)(FabricProfile &);
  };
  for (const Case &c : {Case{"messages", [](FabricProfile &p) { p.bulkMean = 0.2; }},
                        Case{"jobs", [](FabricProfile &p) { p.latencyRebaseSigma = 0.2; }},
                        Case{"operations", [](FabricProfile &p) { p.latencySigma = 0.5; }},
                        Case{"messages and jobs",
                             [](FabricProfile &p) {
                               p.bulkMean = 0.3;
                               p.latencyRebaseSigma = 0.15;
                             }},
                        Case{"all of one leaf", [](FabricProfile &p) {
                               p = roceLike();
                               p.collisionUplinks = 0;
                               p.spikeProbability = 3e-3;
                             }}}) {
    Cluster cluster = oneSwitch(16);
    c.set(cluster.inter.profile);
    Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
    CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 1 << 12, nullptr);
    const std::vector<Candidate> &all = pricer.candidates(spec);
    for (const char *algorithm : {"ring", "binomial_tree", "recursive_doubling", "two_shot"})
      for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].algorithm != algorithm || all[i].chunks > 1)
          continue;
        CHECK_THAT(all[i].why.how, Catch::Matchers::Contains("quantiles by closed form"));
        for (double q : {0.1, 0.5, 0.95, 0.99}) {
          auto [value, error] = pricer.quantile(spec, i, q);
          auto [drawn, deviation] = sampled(pricer, all[i], q);
          CAPTURE(c.what, algorithm, q, value.value, drawn, deviation);
          CHECK(error.value == 0);
          CHECK(std::abs(value.value - drawn) <= 4 * deviation + 0.002 * drawn);
        }
      }
  }
}

TEST_CASE("what has no closed form is sampled, and says so", "[price][quantiles]") {
  auto how = [](Cluster cluster, const char *algorithm, bool closed) {
    Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
    CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 1 << 12, nullptr);
    const std::vector<Candidate> &all = pricer.candidates(spec);
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i].algorithm == algorithm) {
        CAPTURE(algorithm, all[i].why.how);
        CHECK((all[i].why.how.find("quantiles by closed form") != std::string::npos) == closed);
        CHECK((all[i].why.how.find("quantiles sampled") != std::string::npos) == !closed);
        CHECK((pricer.quantile(spec, i, 0.95).second.value == 0) == closed);
      }
  };
  Cluster cluster = oneSwitch(16);
  cluster.inter.profile.bulkMean = 0.2;
  how(cluster, "ring", true);
  how(cluster, "parameter_server", true);
  Cluster wide = cluster;
  wide.inter.profile.bulkSigma = 1.5; // not compared with plays
  how(wide, "ring", false);
  Cluster flows = cluster;
  flows.inter.profile.flowSigma = 0.5;
  how(flows, "ring", false);
  Cluster leaves = cluster;
  leaves.topology = "fat_tree";
  leaves.hostsPerLeaf = 4;
  leaves.spineLatency = microseconds(1);
  how(leaves, "ring", false);
  Cluster large = cluster; // messages of one step meet those of the next
  large.inter.bandwidth = {1e9};
  how(large, "ring", true);
  how(large, "recursive_doubling", false);
  Cluster odd = oneSwitch(12);
  odd.inter.profile.bulkMean = 0.2;
  how(odd, "ring", true);
  how(odd, "recursive_doubling", false);
  Cluster none = oneSwitch(16);
  Pricer pricer(none, packed(none), Engine::Braid, BucketForm::OneLaunch);
  for (const Candidate &c : pricer.candidates(specOf(CollectiveKind::AllReduce, 1 << 12, nullptr)))
    CHECK(c.why.how.find("quantiles") == std::string::npos);
}
