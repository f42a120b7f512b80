//===- PlayedDelayTest.cpp - the noise of what has no closed form is that of its plays ------------------------------===//
#include "PricedClusters.h"
#include "cost_models/pricing/Delay.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace braid::cost;

/// Two ranks of each host: on one NIC each, but with half of their messages inside.
static Cluster pairs(double sigma) {
  Cluster cluster = quietCluster(4, 2);
  cluster.topology = "single_switch";
  cluster.inter.profile.bulkMean = 0.15;
  cluster.inter.profile.bulkSigma = sigma;
  return cluster;
}

TEST_CASE("draws of what has no closed form are distributed as its plays", "[price][noise]") {
  for (double sigma : {0.5, 1.0}) {
    Cluster cluster = pairs(sigma);
    Placement placement = packed(cluster);
    Pricer pricer(cluster, placement, Engine::Braid, BucketForm::OneLaunch);
    for (CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::AllToAll})
      for (int64_t bytes : {1024, 17920, 1 << 20}) { // on the sizes that are played, and between them
        CollectiveSpec spec = specOf(kind, bytes, groupsOf(cluster.ranks()));
        int compared = 0;
        for (const Candidate &c : pricer.candidates(spec)) {
          const auto *algorithm = braid::algorithms::find(c.algorithm);
          if (!algorithm || c.chunks > 1 || c.time > 3 * pricer.candidates(spec).front().time)
            continue;
          std::vector<double> played, drawn;
          for (uint64_t i = 0; i < 1000; ++i) {
            DrawPlace place;
            place.seed = 11;
            place.job = i;
            played.push_back(playStepPrograms(*algorithm, spec, {}, cluster, placement, &place)->value);
          }
          for (uint64_t i = 0; i < 20000; ++i)
            drawn.push_back(
                (pricer.draw(c, Fabric::Inter, 3, i, 0, 0) - cluster.device.launch).value); // no part of a play
          std::sort(played.begin(), played.end());
          std::sort(drawn.begin(), drawn.end());
          for (double q : {0.1, 0.5, 0.9, 0.95}) {
            double last = double(played.size()) - 1, off = std::sqrt(last * q * (1 - q));
            auto at = [&](double place) { return played[size_t(std::lround(std::min(place, last)))]; };
            double error = (at(q * last + off) - at(q * last - off)) / 2, got = drawn[size_t(q * 19999)];
            CAPTURE(sigma, int(kind), bytes, c.algorithm, q, at(q * last), got, error);
            // Both are estimates: three standard errors of their difference.
            CHECK(std::abs(got - at(q * last)) <= 0.01 * at(q * last) + 4.3 * error);
          }
          ++compared;
        }
        CHECK(compared >= 2);
      }
  }
}

TEST_CASE("a mean delay is the mean of the draws", "[price][noise]") {
  Cluster cluster = pairs(0.5);
  Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
  for (const Candidate &c : pricer.candidates(specOf(CollectiveKind::AllReduce, 4096, nullptr))) {
    Seconds sum;
    for (uint64_t i = 0; i < 20000; ++i)
      sum += pricer.draw(c, Fabric::Inter, 5, i, 0, 0) - c.time;
    CAPTURE(c.algorithm, c.chunks);
    CHECK(meanDelay(c, cluster.inter.profile) / (sum / 20000) == Approx(1).epsilon(0.09)); // three standard errors
  }
}
