//===- LawsTest.cpp - what holds for every price, on random clusters --------------------------------------------===//
//
// BRAID_LAWS_CASES=N     random clusters, sizes and ranks (200 if not set)
// BRAID_LAWS_FIRST=I     the first of them (0 if not set)
// BRAID_LAWS_FACTORS=1   of all noise only what operations and flows draw: factors on latencies and on transfers
// BRAID_LAWS_BREAK=LAW   prices that break one law on purpose, which the test must notice: bound, bytes, ranks, quantiles,
//                        mean, variance, labels, sizes
//===------------------------------------------------------------------------------------------------------------===//
#include "PricedClusters.h"
#include "cost_models/pricing/Played.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <random>

using namespace braid::cost;

namespace {

struct Case {
  Cluster cluster;
  Placement placement;
  CollectiveSpec spec;
  Engine engine = Engine::Braid;
};

std::string breakLaw() {
  const char *law = std::getenv("BRAID_LAWS_BREAK");
  return law ? law : "";
}

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int whole(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine); }
  double between(double least, double most) { // equally likely in each decade
    return least * std::pow(most / least, std::uniform_real_distribution<double>(0, 1)(engine));
  }
  template <typename T> const T &of(const std::vector<T> &all) { return all[whole(0, int(all.size()) - 1)]; }
  std::mt19937_64 engine;
};

FabricProfile randomProfile(Random &random) {
  FabricProfile p;
  p.name = "random";
  p.latencyRebaseSigma = random.between(0.01, 0.5);
  p.collisionUplinks = random.whole(0, 1) * random.whole(2, 32);
  p.collisionFlowsPerNic = random.whole(1, 8);
  if (random.whole(0, 3) == 0) {
    p.adaptiveRouting = true;
    p.collisionUplinks = 0;
  }
  auto sometimes = [&](double least, double most) { return random.whole(0, 2) == 0 ? random.between(least, most) : 0; };
  p.latencySigma = sometimes(0.01, 0.5);
  p.bandwidthSigma = sometimes(0.01, 0.5);
  p.flowSigma = sometimes(0.01, 1);
  p.slowFlows = sometimes(1e-4, 0.3);
  p.slowFlowBandwidth = random.between(0.1, 1);
  p.flowsPerJob = random.whole(0, 1) == 1;
  p.correlation = random.whole(0, 1) * random.between(0.01, 1);
  p.spikeProbability = random.between(1e-5, 1e-2);
  p.spikeMinimum = microseconds(random.between(5, 100));
  p.pauseProbability = random.between(1e-5, 1e-2);
  p.pauseShortest = microseconds(10);
  p.pauseLongest = microseconds(random.between(20, 500));
  p.bulkMean = random.between(0.01, 0.5);
  p.bulkSigma = random.between(0.2, 1.5);
  if (std::getenv("BRAID_LAWS_FACTORS")) {
    p.latencyRebaseSigma = p.spikeProbability = p.pauseProbability = p.bulkMean = 0;
    p.collisionUplinks = 0;
  }
  return p;
}

Case randomCase(Random &random) {
  Case made;
  Cluster &c = made.cluster;
  int hosts = random.whole(1, 8), devices = random.whole(1, 4);
  if (hosts * devices == 1)
    devices = 2;
  c = quietCluster(hosts, devices);
  c.topology = random.of<std::string>({"single_switch", "rail_optimized", "fat_tree", "three_tier"});
  c.hostsPerLeaf = c.topology == "single_switch" ? hosts : random.whole(1, hosts);
  c.leavesPerPod = random.whole(1, 3);
  c.oversubscription = random.whole(0, 1) ? random.whole(1, 3) : random.between(1, 4);
  c.coreOversubscription = random.whole(1, 2);
  c.spineLatency = microseconds(random.between(0.1, 2));
  c.coreLatency = microseconds(random.between(0.1, 2));
  c.intra.bandwidth = {random.between(20e9, 900e9)};
  c.intra.latency = microseconds(random.between(0.2, 3));
  c.inter.bandwidth = {random.between(1e9, 100e9)};
  c.inter.latency = microseconds(random.between(0.8, 30));
  c.hostLink.bandwidth = {random.between(8e9, 128e9)};
  c.device.reduction = {random.between(50e9, 2e12)};
  c.nccl.busBandwidthInter = {0.9 * c.inter.bandwidth.value * c.nicsPerHost};
  c.nccl.busBandwidthIntra = {0.8 * c.intra.bandwidth.value};
  c.intra.profile = randomProfile(random);
  c.intra.profile.collisionUplinks = 0;
  c.inter.profile = randomProfile(random);
  if (c.topology != "single_switch" && random.whole(0, 2) == 0) { // the hash says which flows meet
    c.routing = random.of<Routing>({Routing::Hash, Routing::SharedHash});
    c.hashSeed = uint64_t(random.whole(0, 1000));
    c.inter.profile.collisionUplinks = 0;
  }
  if (random.whole(0, 3) == 0) {
    c.planes = 2;
    c.inter.profile.collisionUplinks = 0;
  }
  if (devices > 1 && c.ranks() <= 12 &&
      random.whole(0, 2) == 0) // no switch inside the hosts; packing more takes its time
    for (int a = 0; a < devices; ++a)
      for (int b = a + 1; b < devices; ++b)
        if (int count = random.whole(0, 2))
          c.mesh.push_back({a, b, count});
  made.placement = packed(c);
  if (random.whole(0, 2) == 0) // ranks that do not lie host by host
    std::shuffle(made.placement.deviceOf.begin(), made.placement.deviceOf.end(), random.engine);
  made.engine = random.of<Engine>({Engine::Braid, Engine::Nccl});
  CollectiveKind kind =
      random.of<CollectiveKind>({CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather,
                                 CollectiveKind::AllToAll, CollectiveKind::Broadcast});
  // Blocks of whole bytes: a rounded block would be a law of its own.
  int64_t unit = int64_t(c.ranks()) * 64;
  made.spec = specOf(kind, std::max<int64_t>(1, int64_t(random.between(8, 1e9)) / unit) * unit, groupsOf(c.ranks()));
  return made;
}

Pricer pricerOf(const Case &c) { return Pricer(c.cluster, c.placement, c.engine, BucketForm::OneLaunch); }

Seconds best(const Case &c) { return pricerOf(c).candidates(c.spec)[0].time; }

/// Mean of draws, each of a job of its own, and its standard error.
std::pair<double, double> meanOf(const Pricer &pricer, const CollectiveSpec &spec) {
  constexpr int draws = 400;
  const Candidate &cheapest = pricer.candidates(spec)[0];
  Fabric fabric = pricer.fabric(spec);
  double sum = 0, squares = 0;
  for (int job = 0; job < draws; ++job) {
    double time = pricer.draw(cheapest, fabric, 7, uint64_t(job), 0, 0).value;
    sum += time;
    squares += time * time;
  }
  double mean = sum / draws;
  return {mean, std::sqrt(std::max(0.0, squares / draws - mean * mean) / (draws - 1))};
}

/// What the busiest host must send: of an all_reduce every host's sum but one goes out, and the result comes back to all
/// but one; of the others, what its ranks have and no other host does. At least one message between hosts.
Seconds lowerBound(const Case &c) {
  double hosts = c.cluster.hosts, bytes = double(c.spec.bytes.value), devices = c.cluster.devicesPerHost;
  if (hosts == 1)
    return c.cluster.intra.latency;
  double out = 0;
  switch (c.spec.kind) {
  case CollectiveKind::AllReduce:
    out = 2 * (hosts - 1) / hosts * bytes;
    break;
  case CollectiveKind::ReduceScatter:
    out = (hosts - 1) / hosts * bytes;
    break;
  case CollectiveKind::AllGather:
    out = (hosts - 1) * devices * bytes / hosts; // in the mean: all hosts must get all that others have
    break;
  case CollectiveKind::AllToAll:
    out = devices * bytes * (hosts - 1) / hosts;
    break;
  default: // the root's host sends it once
    out = bytes;
  }
  return c.cluster.inter.latency + Seconds{out / (c.cluster.inter.bandwidth.value * c.cluster.nicsPerHost)};
}

/// Text of a case, for a failure.
std::string describe(const Case &c) {
  return std::string(name(c.engine)) + " " + braid::algorithms::name(c.spec.kind) + " " + toString(c.spec.bytes) +
         " on " + std::to_string(c.cluster.hosts) + " x " + std::to_string(c.cluster.devicesPerHost) + " " +
         c.cluster.topology + " (" + std::to_string(c.cluster.hostsPerLeaf) + " hosts on a leaf), " +
         std::to_string(c.cluster.planes) + " planes, routing " + std::to_string(int(c.cluster.routing)) + ", " +
         std::to_string(c.cluster.mesh.size()) + " pairs of devices joined, " +
         (std::is_sorted(c.placement.deviceOf.begin(), c.placement.deviceOf.end()) ? "in order" : "shuffled");
}

} // namespace

TEST_CASE("laws of prices on random clusters", "[laws]") {
  const char *asked = std::getenv("BRAID_LAWS_CASES");
  const char *begin = std::getenv("BRAID_LAWS_FIRST");
  int cases = asked ? std::atoi(asked) : 200, first = begin ? std::atoi(begin) : 0;
  std::string broken = breakLaw();
  for (int number = first; number < first + cases; ++number) {
    Random random{uint64_t(number)};
    Case c = randomCase(random);
    INFO("case " << number << ": " << describe(c));
    Pricer pricer = pricerOf(c);
    Candidate cheapest = pricer.candidates(c.spec)[0];
    Seconds price = cheapest.time;

    // Never below what must cross the links. (NCCL's own bus bandwidths are what the file claims, not links.)
    if (c.engine == Engine::Braid)
      REQUIRE(price.value * (broken == "bound" ? 0.2 : 1) >= lowerBound(c).value * (1 - 1e-9));

    // Monotone in bytes.
    Case more = c;
    more.spec.bytes.value *= random.whole(2, 8);
    Seconds dearer = best(more);
    REQUIRE((broken == "bytes" ? dearer * 0.1 : dearer).value >= price.value * (1 - 1e-9));

    // No cliff from n to n + 1 ranks: one host of one rank more under the same switch, at most two steps more and the rank's
    // own share. The best of all algorithms doubles at most (a naive exchange of two ranks becomes one of three).
    // (Where flows are hashed to planes, one rank more may put two of them on one.)
    if (c.cluster.topology == "single_switch" && c.cluster.hosts > 1 && c.cluster.devicesPerHost == 1 &&
        c.cluster.planes == 1 && c.engine == Engine::Braid && c.spec.kind != CollectiveKind::AllGather) {
      Case one = c;
      ++one.cluster.hosts;
      one.cluster.hostsPerLeaf = one.cluster.hosts;
      one.placement = packed(one.cluster);
      one.spec = specOf(c.spec.kind, c.spec.bytes.value, groupsOf(one.cluster.ranks()));
      double next = best(one).value * (broken == "ranks" ? 2.5 : 1), launch = c.cluster.device.launch.value;
      REQUIRE(next - launch <= 2.05 * (price.value - launch) + 1e-12);
    }

    // Noise never helps in the mean: factors have mean one, the slowest of several flows a larger one, and all else is added.
    auto [mean, deviation] = meanOf(pricer, c.spec);
    REQUIRE(mean * (broken == "mean" ? 0.5 : 1) + 5 * deviation >= price.value * (1 - 1e-9));

    // Quantiles are ordered; without variance each is the price.
    auto quantiles = pricer.quantiles(c.spec, 0, {0.5, 0.95, 0.99}, 100);
    if (broken == "quantiles")
      std::swap(quantiles[0], quantiles[2]);
    REQUIRE(quantiles[0].first <= quantiles[1].first);
    REQUIRE(quantiles[1].first <= quantiles[2].first);
    Case quiet = c;
    quiet.cluster.intra.profile = quiet.cluster.inter.profile = FabricProfile();
    quiet.cluster.inter.profile.collisionFlowsPerNic =
        c.cluster.inter.profile.collisionFlowsPerNic; // these deal messages
    quiet.cluster.inter.profile.adaptiveRouting = c.cluster.inter.profile.adaptiveRouting;
    Pricer still = pricerOf(quiet);
    Seconds alone = still.candidates(c.spec)[0].time;
    REQUIRE(alone.value == Approx(price.value));
    for (auto [q, error] : still.quantiles(c.spec, 0, {0.01, 0.5, 0.999}, 20))
      REQUIRE(q.value == Approx(alone.value * (broken == "variance" ? 1.01 : 1)));

    // Hosts and ranks relabelled together: rank i of host a is where rank i of host b was. Under one switch, so that hosts are
    // alike. (A hash deals flows to planes by their ends.)
    Case other = c;
    other.cluster.planes = 1;
    other.cluster.routing = Routing::Static;
    other.cluster.hostsPerLeaf = c.cluster.hosts;
    other.cluster.topology = "single_switch";
    Seconds before = best(other);
    std::vector<int> hosts(c.cluster.hosts);
    for (size_t i = 0; i < hosts.size(); ++i)
      hosts[i] = int(i);
    std::shuffle(hosts.begin(), hosts.end(), random.engine);
    for (int &device : other.placement.deviceOf)
      device = hosts[device / c.cluster.devicesPerHost] * c.cluster.devicesPerHost + device % c.cluster.devicesPerHost;
    REQUIRE(best(other).value * (broken == "labels" ? 1.01 : 1) == Approx(before.value).epsilon(1e-9));
  }
  WARN(cases << " random clusters, sizes and ranks");
}

TEST_CASE("prices grow with the bytes from size to size", "[laws]") {
  // The programs are played first come, first served. Where two messages come to a link at nearly the same time, more bytes may turn
  // them around, and the one that others wait for goes first: such a program really takes less with more bytes.
  constexpr double turnedAround = 0.02;
  const char *asked = std::getenv("BRAID_LAWS_CASES");
  const char *begin = std::getenv("BRAID_LAWS_FIRST");
  int cases = asked ? std::atoi(asked) : 100, first = begin ? std::atoi(begin) : 0, turned = 0;
  bool broken = breakLaw() == "sizes";
  for (int number = first; number < first + cases; ++number) {
    Random random{uint64_t(number)};
    Case c = randomCase(random);
    int ranks = random.whole(2, c.cluster.ranks()); // often odd, and the last host cut
    c.placement.deviceOf.resize(ranks);
    Pricer pricer = pricerOf(c);
    double bytes = random.between(64, 1e8);
    Seconds before{};
    for (int size = 0; size < 24; ++size, bytes *= random.between(1.01, 1.5)) {
      c.spec = specOf(c.spec.kind, std::max<int64_t>(1, int64_t(bytes) / (ranks * 64)) * ranks * 64, groupsOf(ranks));
      Candidate cheapest = pricer.candidates(c.spec)[0];
      INFO("case " << number << ": " << ranks << " ranks, " << cheapest.algorithm << ", " << describe(c));
      double least = before.value * (1 - (c.engine == Engine::Braid ? turnedAround : 1e-9));
      REQUIRE(cheapest.time.value * (broken && size == 20 ? 0.5 : 1) >= least);
      turned += cheapest.time.value < before.value * (1 - 1e-9);
      before = cheapest.time;
    }
  }
  CHECK(turned <= 1 + cases / 100); // sizes, of 24 for each cluster
  WARN(24 * cases << " sizes on " << cases << " random clusters, " << turned << " cheaper than the one before");
}
