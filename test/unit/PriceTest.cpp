//===- PriceTest.cpp - laws that every price obeys --------------------------------------------------------------===//
#include "PricedClusters.h"
#include "cost_models/pricing/StepSampler.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <thread>

using namespace braid::cost;

static const CollectiveKind kinds[] = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter,
                                       CollectiveKind::AllGather, CollectiveKind::AllToAll, CollectiveKind::Broadcast};

/// The same cluster with noise and spines.
static Cluster noisyCluster(int hosts, int devicesPerHost) {
  Cluster c = quietCluster(hosts, devicesPerHost);
  c.topology = "fat_tree";
  c.hostsPerLeaf = std::max(1, hosts / 4);
  c.spineLatency = microseconds(1);
  c.inter.profile = roceLike();
  return c;
}

TEST_CASE("every price is the sum of its parts", "[price]") {
  Cluster cluster = noisyCluster(4, 4);
  for (Engine engine : {Engine::Nccl, Engine::Braid}) {
    Pricer pricer(cluster, packed(cluster), engine, BucketForm::Copies);
    for (CollectiveKind kind : kinds)
      for (int64_t bytes : {0, 1000, 1 << 20}) {
        for (const Candidate &c : pricer.candidates(specOf(kind, bytes, groupsOf(16), 3))) {
          CAPTURE(name(engine), c.algorithm, c.protocol, bytes);
          CHECK(c.time.value == Approx((c.fixed + c.latency + c.wire).value));
          double terms = 0;
          for (const PriceTerm &term : c.why.parts) {
            terms += term.time.value;
            CHECK(term.time.value >= -1e-15);
            CHECK(!term.how.empty());
          }
          CHECK(terms == Approx(c.time.value));
          CHECK((c.fixed.value >= 0 && c.latency.value >= 0 && c.wire.value >= 0));
        }
      }
  }
}

TEST_CASE("a price grows with the bytes", "[price][law]") {
  for (int hosts : {1, 2, 16}) {
    Cluster cluster = quietCluster(hosts, 8);
    Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
    for (CollectiveKind kind : kinds) {
      std::map<std::string, double> before;
      double cheapest = 0;
      for (double bytes = 8; bytes < 4e9; bytes *= 1.07) {
        const std::vector<Candidate> &all = pricer.candidates(specOf(kind, int64_t(bytes), groupsOf(8 * hosts)));
        for (const Candidate &c : all) {
          double &last = before[c.algorithm + c.protocol];
          CAPTURE(hosts, c.algorithm, c.protocol, bytes);
          CHECK(c.time.value >= last);
          last = c.time.value;
        }
        CHECK(all[0].time.value >= cheapest);
        cheapest = all[0].time.value;
      }
    }
  }
  // Played programs too, at fewer sizes; those around which a buffer gets long enough for another number of segments.
  for (int hosts : {4, 12}) {
    Cluster cluster = noisyCluster(hosts, 2);
    Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
    for (CollectiveKind kind : kinds) {
      double cheapest = 0;
      for (int64_t bytes : {8, 1000, 16384, 32767, 32768, 100000, 262143, 262144, 1000000, 100000000}) {
        double time = pricer.candidates(specOf(kind, bytes, groupsOf(2 * hosts)))[0].time.value;
        CAPTURE(hosts, name(kind), bytes);
        CHECK(time >= cheapest);
        cheapest = time;
      }
    }
  }
}

TEST_CASE("a price is never below what the links allow, whatever the file claims", "[price][law]") {
  for (int hosts : {2, 3, 16})
    for (int perHost : {1, 8}) {
      Cluster cluster = quietCluster(hosts, perHost);
      cluster.nccl.busBandwidthInter = {1e15}; // a wish
      Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
      Pricer played(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
      int n = hosts * perHost;
      double host = 50e9 * perHost; // bytes per second that leave a host
      for (double bytes : {1e6, 1e9}) {
        double reduce = 2.0 * (hosts - 1) / hosts * bytes / host;
        for (const Candidate &c : pricer.candidates(specOf(CollectiveKind::AllReduce, int64_t(bytes), groupsOf(n))))
          CHECK(c.time.value >= reduce);
        CHECK(played.candidates(specOf(CollectiveKind::AllReduce, int64_t(bytes), groupsOf(n)))[0].time.value >=
              reduce);
        double gather = double(hosts - 1) * perHost * bytes / host;
        CHECK(pricer.candidates(specOf(CollectiveKind::AllGather, int64_t(bytes), groupsOf(n)))[0].time.value >=
              gather);
      }
    }
}

TEST_CASE("no cliff between n and n + 1 ranks of one host", "[price][law]") {
  Cluster cluster = quietCluster(1, 16);
  for (Engine engine : {Engine::Nccl, Engine::Braid}) {
    Pricer pricer(cluster, packed(cluster), engine, BucketForm::OneLaunch);
    for (CollectiveKind kind : kinds)
      for (int64_t bytes : {256, 1 << 20, 1 << 28})
        for (int n = 2; n < 16; ++n) {
          double smaller = pricer.candidates(specOf(kind, bytes, groupsOf(n)))[0].time.value;
          double larger = pricer.candidates(specOf(kind, bytes, groupsOf(n + 1)))[0].time.value;
          CAPTURE(name(engine), int(kind), bytes, n);
          CHECK(larger >= smaller * 0.97);
          // One rank more brings at most its part more of what there was (two to three ranks: a tree gets deeper).
          CHECK(larger <= smaller * (1 + 2.2 / n));
        }
  }
}

TEST_CASE("zero variance gives the deterministic price at every quantile", "[price][law]") {
  Cluster cluster = quietCluster(16, 8);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 1 << 24, groupsOf(128));
  for (size_t i = 0; i < pricer.candidates(spec).size(); ++i) {
    double time = pricer.candidates(spec)[i].time.value;
    for (double q : {0.01, 0.5, 0.99}) {
      auto [value, error] = pricer.quantile(spec, i, q);
      CHECK(value.value == time);
      CHECK(error.value == 0);
    }
    CHECK(pricer.mean(spec, i).value == time);
  }
}

TEST_CASE("quantiles are ordered, noise never helps, the error shrinks with the samples", "[price][law]") {
  Cluster cluster = noisyCluster(16, 8);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  for (int64_t bytes : {256, 1 << 20, 1 << 28}) {
    CollectiveSpec spec = specOf(CollectiveKind::AllReduce, bytes, groupsOf(128));
    for (size_t i = 0; i < pricer.candidates(spec).size(); ++i) {
      double last = 0;
      for (double q : {0.05, 0.5, 0.95, 0.99}) {
        double value = pricer.quantile(spec, i, q).first.value;
        CHECK(value >= last);
        last = value;
      }
      CHECK(pricer.mean(spec, i) > pricer.candidates(spec)[i].time);
    }
    CHECK(pricer.quantile(spec, 0, 0.5, 20000).second < pricer.quantile(spec, 0, 0.5, 500).second);
  }
}

TEST_CASE("the stated standard error of a quantile is that of independent estimates", "[price]") {
  Cluster cluster = noisyCluster(16, 8);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 1 << 16, groupsOf(128));
  const Candidate &c = pricer.candidates(spec)[0];
  std::vector<double> medians;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::vector<double> draws;
    for (int i = 0; i < 500; ++i)
      draws.push_back(pricer.draw(c, Fabric::Inter, seed, i, 0, 0).value);
    std::nth_element(draws.begin(), draws.begin() + 250, draws.end());
    medians.push_back(draws[250]);
  }
  double mean = 0, variance = 0;
  for (double m : medians)
    mean += m / 200;
  for (double m : medians)
    variance += (m - mean) * (m - mean) / 199;
  CHECK(pricer.quantile(spec, 0, 0.5, 500).second.value == Approx(std::sqrt(variance)).epsilon(0.4));
}

TEST_CASE("a draw depends on its place only", "[price][law]") {
  Cluster cluster = noisyCluster(16, 8);
  cluster.inter.profile.correlation = 0.3;
  Pricer a(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch),
      b(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 1 << 22, groupsOf(128));
  const Candidate &c = a.candidates(spec)[0], &d = b.candidates(spec)[0];
  std::vector<double> forward, backward;
  for (int i = 0; i < 2000; ++i)
    forward.push_back(a.draw(c, Fabric::Inter, 1, i % 37, i / 37, i % 11).value);
  std::thread other([&] {
    for (int i = 2000; i-- > 0;)
      backward.push_back(b.draw(d, Fabric::Inter, 1, i % 37, i / 37, i % 11).value);
  });
  other.join();
  std::reverse(backward.begin(), backward.end());
  CHECK(forward == backward);
  CHECK(a.draw(c, Fabric::Inter, 2, 0, 0, 0).value != forward[0]);
}

TEST_CASE("a sampler draws what the pricer draws, in any order of steps", "[price]") {
  std::vector<Cluster> clusters(4, noisyCluster(16, 8)); // collisions, pauses, spikes
  clusters[1].inter.profile.correlation = 0.3;
  clusters[1].inter.profile.latencySigma = 0.2;
  clusters[2].inter.profile.flowSigma = 0.2;
  clusters[3].inter.profile.pauseProbability = 0;
  for (const Cluster &cluster : clusters)
    for (Engine engine : {Engine::Nccl, Engine::Braid}) {
      Pricer one(cluster, packed(cluster), engine, BucketForm::OneLaunch),
          other(cluster, packed(cluster), engine, BucketForm::OneLaunch);
      CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 1 << 16, groupsOf(32));
      const std::vector<Candidate> &all = one.candidates(spec);
      std::map<std::tuple<uint64_t, uint64_t, uint64_t, size_t>, double> drawn;
      for (uint64_t job = 0; job < 20; ++job)
        for (uint64_t step = 0; step < 3; ++step)
          for (uint64_t operation = 0; operation < 5; ++operation)
            for (size_t c = 0; c < all.size(); ++c)
              drawn[{job, step, operation, c}] = one.draw(all[c], Fabric::Inter, 5, job, step, operation).value;
      StepSampler sampler(other, 5);
      for (const Candidate &c : other.candidates(spec))
        sampler.add(c, Fabric::Inter);
      for (uint64_t round = 0; round < 3; ++round)
        for (uint64_t job = 20; job-- > 0;)
          for (uint64_t step = 0; step < 3; step += 1 + round % 2) { // another one follows than did before
            sampler.begin(job, step);
            for (uint64_t operation = 5; operation-- > 0;)
              for (size_t c = 0; c < all.size(); ++c)
                REQUIRE(sampler.draw(c, operation).value == drawn[{job, step, operation, c}]);
          }
    }
}

TEST_CASE("numbers that are kept for a step are those that are drawn", "[price]") {
  Cluster cluster = noisyCluster(16, 8), pauses;
  cluster.inter.profile.correlation = cluster.inter.profile.pauseProbability = 0;
  cluster.inter.profile.spikeProbability = 0.02;
  pauses = cluster;
  pauses.inter.profile.correlation = 1e-300; // never taken over, but each spike is asked for anew
  Pricer kept(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch),
      drawn(pauses, packed(pauses), Engine::Nccl, BucketForm::OneLaunch);
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 1 << 22, groupsOf(128));
  const Candidate &c = kept.candidates(spec)[0], &d = drawn.candidates(spec)[0];
  std::vector<double> anew;
  for (uint64_t i = 0; i < 2000; ++i)
    anew.push_back(drawn.draw(d, Fabric::Inter, 1, i % 7, i % 3, i).value);
  for (int round = 0; round < 2; ++round)
    for (uint64_t i = 0; i < 2000; ++i)
      REQUIRE(kept.draw(c, Fabric::Inter, 1, i % 7, i % 3, i).value == anew[i]);
  CHECK(*std::max_element(anew.begin(), anew.end()) > anew[0] + cluster.inter.profile.spikeMinimum.value / 2);
  uint64_t far = 3'000'000; // no room for so many
  CHECK(kept.draw(c, Fabric::Inter, 1, 0, 0, far).value == drawn.draw(d, Fabric::Inter, 1, 0, 0, far).value);
  CHECK(kept.draw(c, Fabric::Inter, 1, 0, 0, 0).value == anew[0]);
}

TEST_CASE("relabelling hosts and ranks together changes nothing", "[price][law]") {
  Cluster cluster = quietCluster(4, 4);
  // Rank r was on device r; now it is called 15 - r and lives on the device that was 15 - r's mirror: hosts reversed.
  Placement mirrored = packed(cluster);
  std::reverse(mirrored.deviceOf.begin(), mirrored.deviceOf.end());
  auto rows = std::make_shared<RankGroups>();
  for (int g = 0; g < 4; ++g)
    rows->groups.push_back({15 - g, 15 - (g + 4), 15 - (g + 8), 15 - (g + 12)});
  for (Engine engine : {Engine::Nccl, Engine::Braid}) {
    Pricer straight(cluster, packed(cluster), engine, BucketForm::OneLaunch),
        back(cluster, mirrored, engine, BucketForm::OneLaunch);
    for (CollectiveKind kind : kinds)
      for (int64_t bytes : {1024, 1 << 24}) {
        const auto &a = straight.candidates(specOf(kind, bytes, groupsOf(16, 4, true)));
        const auto &b = back.candidates(specOf(kind, bytes, rows));
        REQUIRE(a.size() == b.size());
        for (size_t i = 0; i < a.size(); ++i) {
          INFO(a[i].algorithm << " " << braid::algorithms::name(kind) << " of " << bytes << " bytes");
          CHECK(a[i].time.value == Approx(b[i].time.value));
        }
      }
  }
}

TEST_CASE("a bucket is priced as its consumer runs it", "[price]") {
  Cluster cluster = quietCluster(16, 8);
  auto price = [&](BucketForm form, int tensors, const char *algorithm,
                   CollectiveKind kind = CollectiveKind::AllReduce) {
    Pricer pricer(cluster, packed(cluster), Engine::Nccl, form);
    return candidateOf(pricer, specOf(kind, 1 << 20, groupsOf(128), tensors), algorithm, "LL").time.value;
  };
  double one = price(BucketForm::OneLaunch, 1, "ring");
  CHECK(price(BucketForm::OneLaunch, 20, "ring") == one);
  CHECK(price(BucketForm::Copies, 1, "ring") == one);
  CHECK(price(BucketForm::Copies, 20, "ring") == Approx(one + 2 * 2 * (1 << 20) / 3.35e12 + 2 * 5e-6));
  double latency = (6.6 + 224 + 30 * 2.7) * 1e-6;
  CHECK(price(BucketForm::GroupCall, 20, "ring") == Approx(one + 19 * latency));
  // An all_gather unpacks what came out, 128 times what went in.
  CHECK(price(BucketForm::Copies, 2, "ring", CollectiveKind::AllGather) -
            price(BucketForm::Copies, 1, "ring", CollectiveKind::AllGather) ==
        Approx(2.0 * 129 * (1 << 20) / 3.35e12 + 2 * 5e-6));
  double tree = price(BucketForm::OneLaunch, 1, "tree"), treeLatency = (6.8 + 2 * (7 * 0.6 + 4 * 5)) * 1e-6;
  CHECK(price(BucketForm::GroupCall, 20, "tree") == Approx(tree + 2 * treeLatency)); // three batches
}

TEST_CASE("collisions slow transfers, not latency; trees spread over more paths than rings", "[price]") {
  Cluster cluster = noisyCluster(16, 8);
  cluster.inter.profile = {};
  cluster.inter.profile.collisionUplinks = 32; // 4 hosts x 8 NICs under a leaf
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  CollectiveSpec small = specOf(CollectiveKind::AllReduce, 8, groupsOf(128));
  CollectiveSpec large = specOf(CollectiveKind::AllReduce, 1 << 30, groupsOf(128));
  const Candidate &ring = candidateOf(pricer, large, "ring", "Simple"),
                  &tree = candidateOf(pricer, large, "tree", "Simple");
  CHECK(ring.flowsPerLeaf == 8); // the last host of a leaf sends to the first of the next
  CHECK(ring.flows == 32);
  CHECK(tree.streamsPerNic == 4 * ring.streamsPerNic);
  auto slowdown = [&](const Candidate &c) {
    double sum = 0;
    for (int job = 0; job < 400; ++job)
      sum += pricer.draw(c, Fabric::Inter, 1, job, 0, 0) / c.time;
    return sum / 400;
  };
  CHECK(slowdown(candidateOf(pricer, small, "tree", "LL")) == Approx(1).epsilon(1e-3));
  CHECK(slowdown(ring) > 1.3);
  CHECK(slowdown(tree) > 1.03);
  CHECK(slowdown(tree) < slowdown(ring));
  // Inside one leaf nothing is hashed.
  CollectiveSpec inside = specOf(CollectiveKind::AllReduce, 1 << 30, groupsOf(128, 4));
  CHECK(pricer.candidates(inside)[0].flows == 0);
  // An oversubscribed leaf is slow without any noise.
  cluster.oversubscription = 8;
  Pricer crowded(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  CHECK(candidateOf(crowded, large, "ring", "Simple").wire.value == Approx(2 * ring.wire.value));
  // By the ratio, whatever it is: without steps.
  for (double ratio : {1.0, 3.5, 4.5, 5.0, 6.3, 7.9}) {
    CAPTURE(ratio);
    cluster.oversubscription = ratio;
    Pricer some(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
    CHECK(candidateOf(some, large, "ring", "Simple").wire.value == Approx(std::max(1.0, ratio / 4) * ring.wire.value));
  }
  cluster.oversubscription = 8;
  // Its draws are of what comes on top: flows in many parts are dealt nearly evenly.
  cluster.inter.profile.collisionUplinks = 4;
  cluster.inter.profile.collisionFlowsPerNic = 128;
  Pricer evenly(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  double share = 0;
  for (int job = 0; job < 100; ++job)
    share += evenly.draw(candidateOf(evenly, large, "ring", "Simple"), Fabric::Inter, 1, job, 0, 0) /
             candidateOf(evenly, large, "ring", "Simple").time / 100;
  CHECK(share > 1);
  CHECK(share < 1.2);
}

TEST_CASE("collisions on an oversubscribed leaf: never cheaper than with a smaller ratio, whatever is hashed over",
          "[price]") {
  Cluster cluster = quietCluster(16, 8);
  cluster.topology = "fat_tree";
  cluster.hostsPerLeaf = 4;
  cluster.spineLatency = microseconds(0.5);
  CollectiveSpec spec = specOf(CollectiveKind::AllToAll, 1 << 28, groupsOf(128));
  for (Engine engine : {Engine::Braid, Engine::Nccl})
    for (int uplinks : {8, 32, 64}) // they carry together what the ratio leaves
      for (double q : {0.5, 0.95}) {
        double before = 0;
        for (double ratio : {1.0, 1.5, 2.0, 4.0, 8.0, 32.0}) {
          CAPTURE(name(engine), uplinks, q, ratio);
          cluster.oversubscription = ratio;
          cluster.inter.profile.collisionUplinks = uplinks;
          Pricer pricer(cluster, packed(cluster), engine, BucketForm::OneLaunch);
          double time = pricer.quantile(spec, 0, q).first.value;
          CHECK(time > before * 0.999);
          if (ratio > 1 && ratio < 8 &&
              uplinks <= 32) // 26 flows of line rate leave a leaf of 32 NICs; hashed, they never share evenly
            CHECK(time > 1.02 * pricer.candidates(spec)[0].time.value);
          before = time;
        }
      }
}

TEST_CASE("what links up have to carry is not rounded up to whole flows", "[price]") {
  // Each of the 12 NICs on a rail's leaf sends 96 of its 184 messages to the other leaf: 12 x 96 / 184 = 6.26 flows.
  Cluster cluster = quietCluster(24, 8);
  cluster.hostsPerLeaf = 12;
  cluster.spineLatency = microseconds(0.5);
  CollectiveSpec spec = specOf(CollectiveKind::AllToAll, 1 << 30, groupsOf(192));
  auto wire = [&](double ratio) {
    cluster.oversubscription = ratio;
    return Pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch).candidates(spec)[0].wire.value;
  };
  double alone = wire(1);
  CHECK(wire(1.8) == Approx(alone)); // uplinks carry 6.67
  CHECK(wire(4) == Approx(alone * 12 * 96 / 184.0 / 3));
}

TEST_CASE("closed forms count the chain of messages over the hosts that there are", "[price]") {
  Cluster cluster = quietCluster(24, 8); // 192 ranks: not played
  Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
  auto chain = [&](CollectiveKind kind, const char *algorithm) {
    for (const Candidate &c : pricer.candidates(specOf(kind, 1 << 20, groupsOf(192))))
      if (c.algorithm == algorithm)
        for (const auto &part : c.why.parts)
          if (size_t at = part.how.find("longest chain of "); at != std::string::npos)
            return std::atoi(part.how.c_str() + at + 17);
    return -1;
  };
  CHECK(chain(CollectiveKind::AllGather, "hierarchical") == 24); // 23 between hosts, 1 inside
  CHECK(chain(CollectiveKind::AllReduce, "hierarchical_ring") == 2 * 7 + 2 * 23);
}

TEST_CASE("contention off: crowded uplinks and collisions are gone, and it is said", "[price]") {
  Cluster cluster = noisyCluster(8, 2);
  cluster.inter.profile = {};
  cluster.inter.profile.collisionUplinks = 4;
  cluster.oversubscription = 4;
  CollectiveSpec large = specOf(CollectiveKind::AllReduce, 1 << 26, groupsOf(16));
  for (Engine engine : {Engine::Nccl, Engine::Braid}) {
    cluster.contention = true;
    Pricer with(cluster, packed(cluster), engine, BucketForm::OneLaunch);
    cluster.contention = false;
    Pricer without(cluster, packed(cluster), engine, BucketForm::OneLaunch);
    double saved = 0;
    for (const Candidate &c : without.candidates(large)) {
      if (c.algorithm == "reduce_scatter+all_gather")
        continue; // with each protocol that is the best for it
      const Candidate &other = candidateOf(with, large, c.algorithm.c_str(), c.protocol.c_str());
      CHECK(c.time.value <= other.time.value * (1 + 1e-9));
      saved = std::max(saved, 1 - c.time / other.time);
      CHECK(c.flows == 0);
      for (uint64_t job = 0; job < 5; ++job)
        CHECK(without.draw(c, Fabric::Inter, 1, job, 0, 0).value == Approx(c.time.value));
    }
    CHECK(saved > 0.3);
    auto says = [](const Pricer &pricer) {
      for (const std::string &sentence : pricer.notModelled())
        if (sentence.find("topology.contention") != std::string::npos)
          return true;
      return false;
    };
    CHECK(says(without));
    CHECK_FALSE(says(with));
  }
}

TEST_CASE("bulk noise: a ring's many messages average, a tree's few do not", "[price]") {
  Cluster cluster = quietCluster(64, 4);
  cluster.inter.profile.bulkMean = 0.3;
  cluster.inter.profile.bulkSigma = 0.5;
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 256, groupsOf(256));
  auto spread = [&](const Candidate &c) { // of the latency's excess: mean, and relative deviation
    double sum = 0, squares = 0;
    for (int i = 0; i < 4000; ++i) {
      double x = (pricer.draw(c, Fabric::Inter, 1, i, 0, 0) - c.time) / c.latency;
      sum += x / 4000;
      squares += x * x / 4000;
    }
    return std::pair<double, double>(sum, std::sqrt(squares - sum * sum) / sum);
  };
  auto [ringMean, ringSpread] = spread(candidateOf(pricer, spec, "ring", "LL"));
  auto [treeMean, treeSpread] = spread(candidateOf(pricer, spec, "tree", "LL"));
  CHECK(ringMean == Approx(1.54 * 0.3).epsilon(0.01)); // kappa of simulated rings at sigma 0.5, times theta
  CHECK(treeMean == Approx(1.54 * 0.3).epsilon(0.02));
  CHECK(ringSpread < 0.05);
  CHECK(treeSpread == Approx(0.11).margin(0.03)); // simulated trees: 99th percentile 26 % above the mean
}

TEST_CASE("equal questions share an answer, draws are cheap", "[price]") {
  Cluster cluster = noisyCluster(16, 8);
  Pricer pricer(cluster, packed(cluster), Engine::Nccl, BucketForm::OneLaunch);
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 1 << 20, groupsOf(128));
  const std::vector<Candidate> *first = &pricer.candidates(spec);
  CHECK(first == &pricer.candidates(spec));
  auto begin = std::chrono::steady_clock::now();
  double sum = 0;
  for (int i = 0; i < 200000; ++i)
    sum += pricer.draw((*first)[0], Fabric::Inter, 1, i / 100, 0, i % 100).value;
  double each = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 200000;
  CAPTURE(sum);
  CHECK(each < 5e-6); // about 0.3 us; the limit leaves room for a busy machine
}
