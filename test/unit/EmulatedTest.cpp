//===- EmulatedTest.cpp - delays of the emulated transport: repeatable, and of the profile's distributions ------===//
#include "EmulatedRanks.h"
#include "PricedClusters.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>

using namespace braid;
using namespace braid::cost;
using namespace braid::runtime;

namespace {

/// Rank 0 sends `count` messages, each its own operation, one after another; how much longer than without noise each takes.
std::vector<double> excesses(const EmulatedProfile &profile, int count, uint64_t seed, bool fibers = true,
                             size_t bytes = 0) {
  std::vector<double> all;
  EmulationOptions options;
  options.seed = seed;
  double quiet = profile.latency(0, 1) + double(bytes) / profile.links[size_t(profile.path(0, 1)[0])].bandwidth;
  onRanks(profile, options, fibers, [&](int rank, EmulatedTransport &transport) {
    for (int i = 0; i < count; ++i) {
      transport.clock()->align();
      double begin = transport.clock()->now();
      transport.mark(1, 0, {0, uint64_t(i), 0});
      if (rank == 0) {
        transport.offer(1, 0, nullptr, bytes);
        continue;
      }
      Message message;
      while (!transport.peek(0, 0, message) && !transport.fault())
        transport.idle(0);
      transport.accept(0, 0);
      all.push_back(transport.clock()->now() - begin - quiet);
    }
    transport.clock()->align();
  });
  return all;
}

/// Kolmogorov's distance of a sample from a distribution function, times the root of its size: above 1.63 with probability 1 %.
template <class F> double kolmogorov(std::vector<double> sample, F distribution) {
  std::sort(sample.begin(), sample.end());
  double n = double(sample.size()), farthest = 0;
  for (size_t i = 0; i < sample.size(); ++i) {
    double f = distribution(sample[i]);
    farthest = std::max({farthest, double(i + 1) / n - f, f - double(i) / n});
  }
  return farthest * std::sqrt(n);
}

Cluster noisyCluster() {
  Cluster c = quietCluster(2, 1);
  c.hostLink.bandwidth = {50e9};
  c.inter.profile.bulkMean = 0.3;
  c.inter.profile.bulkSigma = 0.6;
  return c;
}
EmulatedProfile profileOf(const Cluster &c) { return runtime::profileOf(c, packed(c)); }

} // namespace

TEST_CASE("delays are equal in two runs of one seed, on threads too, and differ between seeds", "[emulated]") {
  Cluster c = noisyCluster();
  c.inter.profile = roceLike();
  c.inter.profile.collisionUplinks = c.hosts; // rails: a link up for each host
  EmulatedProfile profile = profileOf(c);
  std::vector<double> first = excesses(profile, 500, 1);
  CHECK(first == excesses(profile, 500, 1));
  CHECK(first == excesses(profile, 500, 1, /*fibers=*/false));
  CHECK(first != excesses(profile, 500, 2));
}

TEST_CASE("the excess of messages has the profile's distribution", "[emulated]") {
  Cluster c = noisyCluster();
  std::vector<double> sample = excesses(profileOf(c), 4000, 7);
  auto distribution = [&](double mean, double sigma) {
    return [=](double x) {
      double z = (std::log(std::max(x, 1e-30) / (mean * 1.3e-6)) + sigma * sigma / 2) / sigma;
      return std::erfc(-z / std::sqrt(2)) / 2;
    };
  };
  CHECK(kolmogorov(sample, distribution(0.3, 0.6)) < 1.63);
  CHECK(kolmogorov(sample, distribution(0.3, 0.5)) > 1.63); // the test tells neighbours apart
  CHECK(kolmogorov(sample, distribution(0.33, 0.6)) > 1.63);
}

TEST_CASE("spikes and pauses come with the profile's probability and length", "[emulated]") {
  Cluster c = noisyCluster();
  c.inter.profile.bulkMean = 0;
  c.inter.profile.spikeProbability = 0.2;
  c.inter.profile.spikeMinimum = microseconds(30);
  c.inter.profile.spikeIndex = 2;
  std::vector<double> spikes;
  for (double x : excesses(profileOf(c), 5000, 3))
    if (x > 1e-9)
      spikes.push_back(x);
  CHECK(double(spikes.size()) / 5000 == Approx(0.2).margin(0.017)); // three standard deviations
  auto pareto = [](double index) { return [=](double x) { return 1 - std::pow(30e-6 / std::max(x, 30e-6), index); }; };
  CHECK(kolmogorov(spikes, pareto(2)) < 1.63);
  CHECK(kolmogorov(spikes, pareto(1.5)) > 1.63);

  c.inter.profile.spikeProbability = 0;
  c.inter.profile.pauseProbability = 0.2;
  c.inter.profile.pauseShortest = microseconds(10);
  c.inter.profile.pauseLongest = microseconds(300);
  std::vector<double> pauses;
  for (double x : excesses(profileOf(c), 5000, 3))
    if (x > 1e-9)
      pauses.push_back(x);
  CHECK(double(pauses.size()) / 5000 == Approx(0.2).margin(0.017));
  CHECK(kolmogorov(pauses, [](double x) { return std::log(x / 10e-6) / std::log(30.0); }) < 1.63);
}

TEST_CASE("a spike is drawn per node and operation, not per message", "[emulated]") {
  Cluster c = noisyCluster();
  c.inter.profile.bulkMean = 0;
  c.inter.profile.spikeProbability = 0.5;
  c.inter.profile.spikeMinimum = microseconds(30);
  int late = 0;
  const int operations = 400, messages = 8;
  onRanks(profileOf(c), {}, true, [&](int rank, EmulatedTransport &transport) {
    for (int i = 0; i < operations * messages; ++i) {
      transport.clock()->align();
      double begin = transport.clock()->now();
      if (i % messages == 0)
        transport.mark(1, 0, {0, uint64_t(i / messages), 0});
      Message message;
      if (rank == 0)
        transport.offer(1, 0, nullptr, 0);
      else {
        while (!transport.peek(0, 0, message) && !transport.fault())
          transport.idle(0);
        transport.accept(0, 0);
        late += transport.clock()->now() - begin > 10e-6;
      }
    }
    transport.clock()->align();
  });
  CHECK(late > operations * 0.4);
  CHECK(late < operations * 0.6);
}

TEST_CASE("a job's latency factor holds for the job", "[emulated]") {
  Cluster c = noisyCluster();
  c.inter.profile.bulkMean = 0;
  c.inter.profile.latencyRebaseSigma = 0.2;
  std::vector<double> factors;
  onRanks(profileOf(c), {}, true, [&](int rank, EmulatedTransport &transport) {
    for (int job = 0; job < 1000; ++job) {
      transport.setJob(uint64_t(job));
      for (int i = 0; i < 2; ++i) {
        transport.clock()->align();
        double begin = transport.clock()->now();
        Message message;
        if (rank == 0)
          transport.offer(1, 0, nullptr, 0);
        else {
          while (!transport.peek(0, 0, message) && !transport.fault())
            transport.idle(0);
          transport.accept(0, 0);
          factors.push_back((transport.clock()->now() - begin) / 1.3e-6);
        }
      }
    }
    transport.clock()->align();
  });
  REQUIRE(factors.size() == 2000);
  int apart = 0;
  std::vector<double> ofJobs;
  for (size_t job = 0; job < 1000; ++job) {
    apart += std::abs(factors[2 * job] - factors[2 * job + 1]) > 1e-9;
    CHECK(factors[2 * job] == Approx(drawJobLatencyFactor(c.inter.profile, 1, job)));
    ofJobs.push_back(factors[2 * job]);
  }
  CHECK(apart == 0);
  CHECK(kolmogorov(ofJobs, [](double x) { return std::erfc(-(std::log(x) + 0.02) / 0.2 / std::sqrt(2)) / 2; }) < 1.63);
}

TEST_CASE("flows collide on uplinks as balls fall into bins", "[emulated]") {
  // Two leaves of 8 hosts; every host of the first sends to its twin of the second, over 8 uplinks.
  Cluster c = quietCluster(16, 1);
  c.topology = "fat_tree";
  c.hostsPerLeaf = 8;
  c.spineLatency = microseconds(0.5);
  c.hostLink.bandwidth = {1e15};
  c.inter.profile.collisionUplinks = 8;
  EmulatedProfile profile = profileOf(c);
  const int jobs = 600;
  const size_t bytes = 50'000'000; // 1 ms at line rate
  std::vector<double> slowest(jobs);
  onRanks(profile, {}, true, [&](int rank, EmulatedTransport &transport) {
    for (int job = 0; job < jobs; ++job) {
      transport.setJob(uint64_t(job));
      transport.clock()->align();
      double begin = transport.clock()->now();
      Message message;
      if (rank < 8) {
        transport.offer(rank + 8, 0, nullptr, bytes);
        continue;
      }
      while (!transport.peek(rank - 8, 0, message) && !transport.fault())
        transport.idle(0);
      transport.accept(rank - 8, 0);
      slowest[size_t(job)] = std::max(slowest[size_t(job)], transport.clock()->now() - begin);
    }
    transport.clock()->align();
  });
  // The model's draws hash other keys: the same distribution, other jobs. Slowest flow: 1/2, 1/3, ... of the line rate.
  std::vector<int> seen(9), model(9);
  for (int job = 0; job < jobs; ++job) {
    ++seen[size_t(std::min(8.0, std::round(slowest[size_t(job)] / 1e-3)))];
    ++model[size_t(std::min(8.0, std::round(1 / drawJobCollision(c.inter.profile, 8, 8, {8, 1}, 1, uint64_t(job)))))];
  }
  double farthest = 0, below = 0;
  for (int most = 1; most <= 8; ++most) {
    below += seen[size_t(most)] - model[size_t(most)];
    farthest = std::max(farthest, std::abs(below) / jobs);
  }
  CHECK(farthest * std::sqrt(jobs / 2.0) < 1.63);
  CHECK(seen[1] < jobs / 10); // without hashing (static routes of InfiniBand) no two meet
  c.inter.profile.collisionUplinks = 0;
  double together = 0;
  onRanks(profileOf(c), {}, true, [&](int rank, EmulatedTransport &transport) {
    Message message;
    if (rank < 8)
      transport.offer(rank + 8, 0, nullptr, bytes);
    else
      while (!transport.peek(rank - 8, 0, message) && !transport.fault())
        transport.idle(0);
    transport.clock()->align();
    together = transport.clock()->now();
  });
  CHECK(together == Approx(1.0018e-3).epsilon(1e-6));
}

TEST_CASE("wall clock: delays take their time, stretched", "[emulated][wall]") {
  Cluster c = quietCluster(2, 1);
  EmulatedProfile profile = profileOf(c);
  EmulationOptions options;
  options.time = EmulatedTime::Wall;
  std::vector<double> emulated, real;
  std::chrono::steady_clock::time_point offered[10]; // read once the message has come
  std::string description;
  onRanks(profile, options, false, [&](int rank, EmulatedTransport &transport) {
    if (rank == 0)
      description = transport.description();
    for (int i = 0; i < 10; ++i) {
      transport.clock()->align();
      double begin = transport.clock()->now();
      Message message;
      if (rank == 0) {
        offered[i] = std::chrono::steady_clock::now();
        transport.offer(1, 0, nullptr, 0);
        continue;
      }
      while (!transport.peek(0, 0, message) && !transport.fault())
        transport.idle(0);
      transport.accept(0, 0);
      emulated.push_back(transport.clock()->now() - begin);
      real.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - offered[i]).count());
    }
    transport.clock()->align();
  });
  CHECK(description == "emulated cluster quiet: wall clock, time stretched 7692-fold: 1 us is 7.69 ms");
  REQUIRE(real.size() == 10);
  std::sort(real.begin(), real.end());
  std::sort(emulated.begin(), emulated.end());
  CHECK(real.front() >= 0.00999); // 10 ms, and the rounding of two clocks
  CHECK(real[5] < 0.015);         // other work on the machine may delay some
  CHECK(emulated[5] == Approx(1.3e-6).epsilon(0.5));
}

TEST_CASE("profiles that cannot be are errors that say what was expected", "[emulated]") {
  EmulatedProfile profile;
  auto error = [&](const std::string &text) {
    EmulatedProfile read;
    return EmulatedProfile::parse(text, read);
  };
  CHECK(error("") == "expected a value, got the end of the text at line 1");
  CHECK(error("{\"format\": \"x\"}") == "format: expected \"braid-fabric 1\", got \"x\"");
  CHECK(error("{\"format\": \"braid-fabric 1\",\n\"ranks\": 2 \"x\"") == "expected ',' or '}', got '\"' at line 2");
  CHECK(error("{\"format\": \"braid-fabric 1\"}") == "ranks: expected at least 1, got 0");
  Cluster c = quietCluster(2, 1);
  std::string good = *emitProfile(c, packed(c));
  CHECK(error(good) == "");
  std::string bad = good;
  bad.replace(bad.find("\"paths\": [[], [") + 15, 1, "99");
  CHECK(error(bad).rfind("paths: expected links below", 0) == 0);
  CHECK(error(good.substr(0, good.size() / 2)) != "");
  CHECK(EmulatedProfile::read("/nowhere/at.json", profile) == "/nowhere/at.json: No such file or directory");
}
