//===- FabricTest.cpp - draws: by place, of the stated distributions --------------------------------------------===//
#include "braid/cost_models/Fabric.h"
#include "PricedClusters.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace braid::cost;

static DrawPlace at(uint64_t job, uint64_t operation = 0, uint64_t where = 0) {
  DrawPlace place;
  place.job = job;
  place.operation = operation;
  place.where = where;
  return place;
}

TEST_CASE("a draw depends on its place only, not on the order of questions", "[fabric]") {
  FabricProfile p = roceLike();
  p.correlation = 0.5;
  std::vector<double> forward, backward;
  for (uint64_t i = 0; i < 3000; ++i)
    forward.push_back(drawOperationSpike(p, 16, at(0, i)).value +
                      drawMessageExcess(p, microseconds(1), at(0, i)).value);
  for (uint64_t i = 3000; i-- > 0;)
    backward.push_back(drawOperationSpike(p, 16, at(0, i)).value +
                       drawMessageExcess(p, microseconds(1), at(0, i)).value);
  std::reverse(backward.begin(), backward.end());
  CHECK(forward == backward);
}

TEST_CASE("every field of the place matters", "[fabric]") {
  DrawPlace base, other;
  for (uint64_t DrawPlace::*field : {&DrawPlace::seed, &DrawPlace::job, &DrawPlace::step, &DrawPlace::operation,
                                     &DrawPlace::where, &DrawPlace::message, &DrawPlace::purpose}) {
    other = base;
    other.*field += 1;
    CHECK(uniform(base) != uniform(other));
  }
  // Fields do not cancel: (job 1, step 0) and (job 0, step 1) are different places.
  DrawPlace job = base, step = base;
  job.job = step.step = 1;
  CHECK(uniform(job) != uniform(step));
}

TEST_CASE("uniform and normal have the moments of their names", "[fabric]") {
  double sum = 0, squares = 0, mean = 0, variance = 0;
  const int n = 100000;
  for (int i = 0; i < n; ++i) {
    double u = uniform(at(i)), z = normal(at(i, 1));
    REQUIRE((u > 0 && u < 1));
    sum += u;
    squares += u * u;
    mean += z;
    variance += z * z;
  }
  CHECK(sum / n == Approx(0.5).margin(0.004));
  CHECK(squares / n == Approx(1.0 / 3).margin(0.004));
  CHECK(mean / n == Approx(0).margin(0.012));
  CHECK(variance / n == Approx(1).margin(0.02));
}

TEST_CASE("job latency factor and message excess have the stated means", "[fabric]") {
  FabricProfile p = roceLike();
  double factor = 0, excess = 0;
  const int n = 50000;
  for (int i = 0; i < n; ++i) {
    factor += drawJobLatencyFactor(p, 1, i);
    excess += drawMessageExcess(p, microseconds(2), at(i)).value;
  }
  CHECK(factor / n == Approx(1).margin(0.005));
  CHECK(excess / n == Approx(0.3 * 2e-6).epsilon(0.02));
}

TEST_CASE("a device computes by a factor of its job and step, of mean one, whatever the operation", "[fabric]") {
  braid::draws::Place place;
  place.where = 3;
  double first = braid::draws::computeFactor(0.2, 0.1, place);
  place.operation = place.message = 5;
  CHECK(braid::draws::computeFactor(0.2, 0.1, place) == first);
  CHECK(braid::draws::computeFactor(0, 0, place) == 1);
  double ofJob = braid::draws::computeFactor(0.2, 0, place), ofStep = braid::draws::computeFactor(0, 0.1, place);
  CHECK(first == ofJob * ofStep);
  place.step = 1;
  CHECK(braid::draws::computeFactor(0.2, 0, place) == ofJob);
  CHECK(braid::draws::computeFactor(0, 0.1, place) != ofStep);
  double sum = 0, squares = 0;
  const int n = 50000;
  for (int i = 0; i < n; ++i) {
    place.job = uint64_t(i) % 500;
    place.where = uint64_t(i) / 500;
    double logarithm = std::log(braid::draws::computeFactor(0.2, 0, place));
    sum += std::exp(logarithm);
    squares += (logarithm + 0.02) * (logarithm + 0.02);
  }
  CHECK(sum / n == Approx(1).margin(0.005));
  CHECK(std::sqrt(squares / n) == Approx(0.2).epsilon(0.02));
}

TEST_CASE("collisions are balls into bins", "[fabric]") {
  // Slowest uplink, bandwidth of the mean time and 1st percentile in percent, for k line-rate streams over k uplinks,
  // each split over q queue pairs: simulated independently of this code.
  struct Row {
    int k, q;
    double mean, low;
  };
  for (Row row : {Row{8, 1, 38, 20}, Row{16, 1, 32, 20}, Row{16, 2, 41, 25}, Row{16, 4, 51, 36}, Row{16, 16, 68, 53},
                  Row{32, 1, 28, 17}, Row{64, 1, 25, 17}, Row{64, 8, 52, 40}}) {
    FabricProfile p;
    p.collisionUplinks = row.k;
    p.collisionFlowsPerNic = row.q;
    std::vector<double> shares;
    double time = 0;
    for (int job = 0; job < 4000; ++job) {
      shares.push_back(drawJobCollision(p, row.k, 1, job));
      time += 1 / shares.back();
    }
    std::sort(shares.begin(), shares.end());
    CAPTURE(row.k, row.q);
    CHECK(4000 / time * 100 == Approx(row.mean).margin(1.0));
    CHECK(std::abs(row.q / shares[40] - row.q * 100 / row.low) < 1.1); // balls: one more or less
  }
}

TEST_CASE("no collision without uplinks or with one flow, and more flows never help", "[fabric]") {
  FabricProfile p;
  CHECK(drawJobCollision(p, 128, 1, 0) == 1);
  p.collisionUplinks = 16;
  CHECK(drawJobCollision(p, 1, 1, 0) == 1);
  for (int job = 0; job < 50; ++job)
    for (int flows = 1; flows < 64; ++flows)
      CHECK(drawJobCollision(p, flows + 1, 1, job) <= drawJobCollision(p, flows, 1, job));
}

TEST_CASE("of many leaves the fullest uplink is drawn from its distribution, as if all balls were thrown", "[fabric]") {
  // 300 jobs of 64 leaves of 32 flows of 4 or 5 balls: the one is thrown ball by ball (8,192 in all), the other drawn.
  auto fullest = [](int uplinks, int split, int leaves, int jobs, bool together) {
    std::vector<double> most;
    FabricProfile p;
    p.collisionUplinks = uplinks;
    p.collisionFlowsPerNic = split;
    for (int job = 0; job < jobs; ++job) {
      double least = 1; // of single leaves: each a job of its own
      for (int leaf = 0; leaf < (together ? 1 : leaves); ++leaf)
        least = std::min(least, drawJobCollision(p, together ? 32 * leaves : 32, 32, {1e9, 1}, 1,
                                                 uint64_t(job) * 1000 + uint64_t(leaf)));
      most.push_back(split / least);
    }
    std::sort(most.begin(), most.end());
    return most;
  };
  for (int uplinks : {4, 16, 32})
    for (int leaves : {64, 900}) {
      std::vector<double> thrown = fullest(uplinks, 8, leaves, 300, false),
                          drawn = fullest(uplinks, 8, leaves, 300, true);
      CAPTURE(uplinks, leaves);
      for (size_t at : {30, 150, 270})
        CHECK(std::abs(thrown[at] - drawn[at]) <= std::max(1.0, 0.03 * thrown[at]));
    }
}

TEST_CASE("collisions count what comes on top of an even share of the uplinks", "[fabric]") {
  FabricProfile p;
  for (int uplinks : {4, 8, 32})
    for (double lines : {4.0, 8.0, 21.3})
      for (int job = 0; job < 50; ++job) {
        CAPTURE(uplinks, lines, job);
        // By hand, from the fullest uplink: with one ball a flow and uplinks of a line each it is 1 / fraction.
        p.collisionUplinks = uplinks;
        double most =
            std::round(std::max(1.0, 26.0 / uplinks) / drawJobCollision(p, 26, 26, {double(uplinks), 1}, 1, job));
        double rate = std::min(1.0, lines / uplinks / most), even = std::min(1.0, lines / 26);
        CHECK(drawJobCollision(p, 26, 26, {lines, lines / uplinks}, 1, job) == Approx(std::min(1.0, rate / even)));
      }
}

TEST_CASE("a spike hits one operation with probability 1 - (1 - p)^nodes", "[fabric]") {
  FabricProfile p;
  p.spikeProbability = 1e-3;
  p.spikeMinimum = microseconds(30);
  for (int nodes : {1, 4, 64}) {
    int hits = 0, large = 0;
    const int n = 200000;
    for (int i = 0; i < n; ++i) {
      double spike = drawOperationSpike(p, nodes, at(i)).value;
      hits += spike > 0;
      large += spike > 60e-6;
      if (spike > 0)
        REQUIRE(spike >= 30e-6);
    }
    double expected = 1 - std::pow(1 - 1e-3, nodes);
    CAPTURE(nodes);
    CHECK(double(hits) / n == Approx(expected).margin(4 * std::sqrt(expected / n)));
    // Pareto, index 2: a quarter of one node's spikes is above twice the minimum.
    double above = 1 - std::pow(1 - 1e-3 / 4, nodes);
    CHECK(double(large) / n == Approx(above).margin(4 * std::sqrt(above / n)));
  }
}

TEST_CASE("pauses are log-uniform between their limits", "[fabric]") {
  FabricProfile p;
  p.pauseProbability = 0.5;
  p.pauseShortest = microseconds(10);
  p.pauseLongest = microseconds(1000);
  int hits = 0, below = 0;
  for (int i = 0; i < 20000; ++i) {
    double pause = drawOperationSpike(p, 1, at(i)).value;
    if (pause == 0)
      continue;
    ++hits;
    REQUIRE((pause >= 10e-6 && pause <= 1000e-6 * (1 + 1e-12)));
    below += pause < 100e-6;
  }
  CHECK(hits / 20000.0 == Approx(0.5).margin(0.015));
  CHECK(double(below) / hits == Approx(0.5).margin(0.02));
}

TEST_CASE("correlation is shared between consecutive operations and leaves each as it was", "[fabric]") {
  auto shared = [](double correlation) {
    FabricProfile p;
    p.spikeProbability = 0.2;
    p.spikeMinimum = microseconds(30);
    p.correlation = correlation;
    int equal = 0, hits = 0;
    for (int job = 0; job < 20000; ++job) {
      double a = drawOperationSpike(p, 1, at(job, 6)).value, b = drawOperationSpike(p, 1, at(job, 7)).value;
      hits += b > 0;
      equal += a > 0 && a == b;
    }
    CHECK(hits / 20000.0 == Approx(0.2).margin(0.012));
    return double(equal) / hits;
  };
  CHECK(shared(0) == Approx(0));
  CHECK(shared(0.6) == Approx(0.6).margin(0.03));
  CHECK(shared(1) == Approx(1));
}

TEST_CASE("zero variance is exact", "[fabric]") {
  FabricProfile p;
  CHECK(p.deterministic());
  CHECK(drawJobLatencyFactor(p, 1, 2) == 1);
  CHECK(drawOperationSpike(p, 100, at(3)).value == 0);
  CHECK(drawMessageExcess(p, microseconds(1), at(3)).value == 0);
}
