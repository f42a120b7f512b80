//===- ClosedFormTest.cpp - closed forms of times and of noise --------------------------------------------------===//
#include "PricedClusters.h"
#include "cost_models/pricing/ClosedForms.h"
#include "cost_models/pricing/Noise.h"
#include "cost_models/pricing/Played.h"
#include <catch2/catch.hpp>

using namespace braid::cost;
namespace alg = braid::algorithms;

static Cluster twoLevels(int hosts, int perHost, int hostsPerLeaf) {
  Cluster c = quietCluster(hosts, perHost);
  c.topology = "fat_tree";
  c.hostsPerLeaf = hostsPerLeaf;
  c.spineLatency = microseconds(0.5);
  return c;
}

TEST_CASE("one rank of each kind takes as long as all ranks", "[closed]") {
  Cluster cluster = twoLevels(8, 4, 2);
  Result<Topology> topology = Topology::build(cluster);
  REQUIRE(topology);
  Placement placement = packed(cluster);
  PlayedNetwork network(*topology, placement);
  PlayOptions options;
  options.reduction = cluster.device.reduction;
  for (auto [name, kind] :
       std::vector<std::pair<const char *, CollectiveKind>>{{"ring", CollectiveKind::AllReduce},
                                                            {"hierarchical_ring", CollectiveKind::AllReduce},
                                                            {"halving_doubling", CollectiveKind::AllReduce},
                                                            {"bruck", CollectiveKind::AllGather},
                                                            {"pairwise_exchange", CollectiveKind::AllToAll},
                                                            {"binomial_tree", CollectiveKind::Broadcast},
                                                            {"pipelined_chain", CollectiveKind::Reduce}}) {
    const alg::Algorithm &algorithm = *alg::find(name);
    auto form = ClosedForm::make(algorithm, kind, 32, {}, *topology, 0);
    REQUIRE(form);
    CHECK(form->exact());
    PlayedCollective played(algorithm, kind, *groupsOf(32), {}, *topology, placement);
    for (int64_t bytes : {8, 1 << 16, 1 << 26}) {
      CAPTURE(name, bytes);
      CHECK(form->time({bytes}, network.links, options.reduction)->value ==
            Approx(played.play({bytes}, network, options)->value));
    }
  }
}

TEST_CASE("fewer ranks play than there are", "[closed]") {
  Cluster cluster = twoLevels(64, 8, 4);
  Result<Topology> topology = Topology::build(cluster);
  REQUIRE(topology);
  auto players = [&](const char *name) {
    return ClosedForm::make(*alg::find(name), CollectiveKind::AllReduce, 512, {}, *topology, 0)->players();
  };
  CHECK(players("ring") == 32);             // a leaf's
  CHECK(players("hierarchical_ring") == 4); // one member of each host of a leaf
}

TEST_CASE("no closed form where machines differ from place to place", "[closed]") {
  Cluster cluster = twoLevels(64, 1, 4);
  cluster.routing = Routing::Hash;
  Result<Topology> topology = Topology::build(cluster);
  REQUIRE(topology);
  CHECK_FALSE(ClosedForm::make(*alg::find("bruck"), CollectiveKind::AllGather, 64, {}, *topology, 0));
}

TEST_CASE("above 128 ranks a price says that it is a closed form", "[closed]") {
  for (int hosts : {128, 129}) {
    Cluster cluster = quietCluster(hosts, 1);
    Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
    for (const Candidate &c : pricer.candidates(specOf(CollectiveKind::AllGather, 1024, nullptr)))
      if (c.algorithm == "ring")
        CHECK((c.why.how.find("closed form") != std::string::npos) == (hosts > 128));
  }
}

TEST_CASE("delays: one message, the larger of two, a chain", "[closed][noise]") {
  MessageNoise exponential{MessageNoise::Exponential, 0};
  Delays one = Delays(12).later(exponential);
  CHECK(one.quantile(0.5) == Approx(std::log(2)).epsilon(0.02));
  CHECK(Delays(12).later(exponential).largestOf(2).quantile(0.5) ==
        Approx(-std::log(1 - std::sqrt(0.5))).epsilon(0.02));
  CHECK(one.later(exponential).quantile(0.5) == Approx(1.678).epsilon(0.02)); // median of the sum of two
  CHECK(slowestChain(exponential, 1, 2, 0.5) == Approx(1.678).epsilon(0.04)); // shifted lognormal
}
