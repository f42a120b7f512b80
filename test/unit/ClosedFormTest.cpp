//===- ClosedFormTest.cpp - closed forms of times and of noise --------------------------------------------------===//
#include "PricedClusters.h"
#include "cost_models/pricing/ClosedForms.h"
#include "cost_models/pricing/Kinds.h"
#include "cost_models/pricing/Noise.h"
#include "cost_models/pricing/Played.h"
#include <catch2/catch.hpp>
#include <map>
#include <random>

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
    PlayedCollective played(algorithm, kind, *groupsOf(32), {}, *topology, placement);
    for (int64_t bytes : {8, 1 << 16, 1 << 26}) {
      CAPTURE(name, bytes);
      CHECK(form->time({bytes}, network.links, options.reduction)->value ==
            Approx(played.play({bytes}, network, options)->value));
    }
  }
}

TEST_CASE("closed forms and played prices see the same links up, whatever the oversubscription", "[closed]") {
  double before = 0;
  for (double ratio : {1.0, 1.25, 1.5, 2.0, 2.7, 3.0, 3.3, 4.0, 6.0, 8.0, 9.0}) {
    CAPTURE(ratio);
    Cluster cluster = twoLevels(8, 4, 2);
    cluster.oversubscription = ratio;
    Result<Topology> topology = Topology::build(cluster);
    REQUIRE(topology);
    Placement placement = packed(cluster);
    PlayedNetwork network(*topology, placement);
    PlayOptions options;
    options.reduction = cluster.device.reduction;
    for (auto [name, kind] :
         std::vector<std::pair<const char *, CollectiveKind>>{{"bruck", CollectiveKind::AllGather},
                                                              {"ring", CollectiveKind::AllReduce},
                                                              {"pairwise_exchange", CollectiveKind::AllToAll},
                                                              {"halving_doubling", CollectiveKind::AllReduce},
                                                              {"naive_exchange", CollectiveKind::AllToAll}}) {
      CAPTURE(name);
      auto form = ClosedForm::make(*alg::find(name), kind, 32, {}, *topology, 0);
      REQUIRE(form);
      PlayedCollective played(*alg::find(name), kind, *groupsOf(32), {}, *topology, placement);
      Seconds time = *played.play({1 << 26}, network, options);
      CHECK(form->time({1 << 26}, network.links, options.reduction)->value == Approx(time.value));
    }
    // What everyone sends to everyone takes longer with the ratio, without steps back.
    PlayedCollective all(*alg::find("pairwise_exchange"), CollectiveKind::AllToAll, *groupsOf(32), {}, *topology,
                         placement);
    double time = all.play({1 << 26}, network, options)->value;
    CHECK(time >= before * (1 - 1e-9));
    before = time;
  }
}

TEST_CASE("fewer ranks play than there are", "[closed]") {
  Cluster cluster = twoLevels(64, 8, 4);
  Result<Topology> topology = Topology::build(cluster);
  REQUIRE(topology);
  auto players = [&](const char *name) {
    const alg::Algorithm &algorithm = *alg::find(name);
    CollectiveKind kind =
        algorithm.serves(CollectiveKind::AllReduce, 512) ? CollectiveKind::AllReduce : CollectiveKind::Barrier;
    return ClosedForm::make(algorithm, kind, 512, {}, *topology, 0)->players();
  };
  CHECK(players("dissemination") == 32); // a leaf's
  CHECK(players("hierarchical") == 4);   // one member of each host of a leaf
}

TEST_CASE("pipelines, folded doublings and a cut last leaf: within 2 % of all ranks", "[closed]") {
  for (int ranks : {44, 45}) { // of two levels, four to a leaf
    Cluster cluster = twoLevels(48, 1, 4);
    Result<Topology> topology = Topology::build(cluster);
    REQUIRE(topology);
    Placement placement = packed(cluster, ranks);
    PlayedNetwork network(*topology, placement);
    PlayOptions play;
    play.reduction = cluster.device.reduction;
    for (auto [name, kind, segments] : std::vector<std::tuple<const char *, CollectiveKind, int>>{
             {"ring", CollectiveKind::AllReduce, 1},
             {"pipelined_chain", CollectiveKind::AllReduce, 8},
             {"pipelined_chain", CollectiveKind::AllReduce, 64},
             {"scatter_allgather", CollectiveKind::Broadcast, 1},
             {"double_binary_tree", CollectiveKind::AllReduce, 8},
             {"double_binary_tree", CollectiveKind::Broadcast, 64},
             {"pairwise_exchange", CollectiveKind::AllToAll, 1},
             {"recursive_doubling", CollectiveKind::AllReduce, 1},
             {"halving_doubling", CollectiveKind::ReduceScatter, 1},
             {"binary_blocks", CollectiveKind::AllReduce, 1}}) {
      alg::StepOptions options;
      options.segments = segments;
      const alg::Algorithm &algorithm = *alg::find(name);
      auto form = ClosedForm::make(algorithm, kind, ranks, options, *topology, 0);
      PlayedCollective played(algorithm, kind, *groupsOf(ranks), options, *topology, placement);
      for (int64_t bytes : {8, 1 << 16, 1 << 26}) {
        CAPTURE(name, ranks, segments, bytes);
        REQUIRE(form);
        CHECK(form->exact());
        CHECK(form->time({bytes}, network.links, play.reduction)->value ==
              Approx(played.play({bytes}, network, play)->value).epsilon(0.02));
      }
    }
  }
}

// Two players, one rule: also of what is at once, of which there is much where all ranks do the same.
TEST_CASE("messages that are at once take a link by their senders' places, whoever plays", "[closed]") {
  for (auto [perHost, hostsPerLeaf, ranks] : {std::tuple{1, 4, 45}, {8, 2, 100}, {8, 2, 44}}) {
    Cluster cluster = twoLevels((ranks + 8 * perHost - 1) / (8 * perHost) * 8, perHost, hostsPerLeaf);
    cluster.inter.latency = microseconds(1.3); // in floating point, 1.3 + 0.5 + 0.7 is not always 2.5
    cluster.spineLatency = microseconds(0.7);
    Result<Topology> topology = Topology::build(cluster);
    REQUIRE(topology);
    Placement placement = packed(cluster, ranks);
    PlayedNetwork network(*topology, placement);
    PlayOptions play;
    play.reduction = cluster.device.reduction;
    for (auto [name, kind, segments] : std::vector<std::tuple<const char *, CollectiveKind, int>>{
             {"pairwise_exchange", CollectiveKind::AllToAll, 1},
             {"double_binary_tree", CollectiveKind::Broadcast, 8},
             {"uneven_halving", CollectiveKind::AllReduce, 1}}) {
      alg::StepOptions options;
      options.segments = segments;
      const alg::Algorithm &algorithm = *alg::find(name);
      auto all = KindProgram::everyone(algorithm, kind, ranks, options, *topology, 0);
      PlayedCollective played(algorithm, kind, *groupsOf(ranks), options, *topology, placement);
      REQUIRE(all);
      for (int64_t bytes :
           {0, 8, 1 << 16, (1 << 16) + 1000, 1 << 26, 8}) { // the second of two alike comes in a known order
        CAPTURE(name, ranks, bytes);
        CHECK(all->play({bytes}, network.links, play.reduction)->value == played.play({bytes}, network, play)->value);
      }
    }
  }
}

// Where late messages leave the order on links as it was, they are played along the tape of a play without them.
TEST_CASE("late messages make as much late, whoever plays", "[closed][noise]") {
  constexpr int ranks = 24;
  Cluster cluster = twoLevels(ranks, 1, 4);
  Result<Topology> topology = Topology::build(cluster);
  REQUIRE(topology);
  Placement placement = packed(cluster, ranks);
  PlayedNetwork network(*topology, placement);
  for (auto [name, kind, segments] : std::vector<std::tuple<const char *, CollectiveKind, int>>{
           {"ring", CollectiveKind::AllReduce, 1},
           {"naive_exchange", CollectiveKind::AllToAll, 1},
           {"two_shot", CollectiveKind::AllReduce, 1},
           {"recursive_doubling", CollectiveKind::AllReduce, 1},
           {"double_binary_tree", CollectiveKind::AllReduce, 8}}) {
    alg::StepOptions options;
    options.segments = segments;
    const alg::Algorithm &algorithm = *alg::find(name);
    auto all = KindProgram::everyone(algorithm, kind, ranks, options, *topology, 0);
    REQUIRE(all);
    std::map<std::pair<int, uint64_t>, size_t> number; // of the first send of a rank on a channel
    size_t sends = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      alg::StepProgram program = algorithm.program(kind, ranks, rank, options);
      for (int channel = 0; channel < program.channels; ++channel) {
        number[{rank, channel}] = sends;
        for (const alg::Step &step : program.steps)
          sends += step.channel == channel && step.action == alg::Action::Send && !step.more;
      }
    }
    REQUIRE(int64_t(sends) == all->messages());
    PlayedCollective played(algorithm, kind, *groupsOf(ranks), options, *topology, placement);
    std::mt19937_64 random(1);
    std::exponential_distribution<double> noise(1 / 0.4e-6);
    for (int64_t bytes : {1 << 10, 1 << 10, 1 << 20}) {
      PlayOptions play;
      play.reduction = cluster.device.reduction;
      all->play({bytes}, network.links, play.reduction); // without noise: the tape
      std::vector<double> late(sends);
      for (double &message : late)
        message = noise(random);
      play.excess = [&](int source, int, uint64_t message) {
        return Seconds{late[number[{source, message >> 32}] + size_t(message & 0xffffffff)]};
      };
      CAPTURE(name, bytes);
      CHECK(all->play({bytes}, network.links, play.reduction, &late)->value ==
            played.play({bytes}, network, play)->value);
    }
  }
}

TEST_CASE("lanes take turns: a root feeds both trees at once", "[closed]") {
  Cluster cluster = quietCluster(33, 1);
  cluster.topology = "single_switch";
  Result<Topology> topology = Topology::build(cluster);
  REQUIRE(topology);
  alg::StepOptions options;
  options.segments = 64;
  const alg::Algorithm &algorithm = *alg::find("double_binary_tree");
  PlayedCollective played(algorithm, CollectiveKind::Broadcast, *groupsOf(33), options, *topology, packed(cluster));
  double bytes = 1 << 30, once = bytes / cluster.inter.bandwidth.value;
  double took = played.play({1 << 30}, PlayedNetwork(*topology, packed(cluster)), {})->value;
  CHECK(took > once);
  CHECK(took < 1.1 * once); // were one tree fed first: 1.5 times as long
}

TEST_CASE("a double tree is estimated, and says so", "[closed]") {
  Cluster cluster = quietCluster(200, 1);
  cluster.topology = "single_switch";
  Result<Topology> topology = Topology::build(cluster);
  REQUIRE(topology);
  alg::StepOptions options;
  options.segments = 64;
  const alg::Algorithm &algorithm = *alg::find("double_binary_tree");
  auto form = ClosedForm::make(algorithm, CollectiveKind::AllReduce, 200, options, *topology, 0);
  REQUIRE(form);
  CHECK_FALSE(form->exact());
  CHECK(form->players() < 20);
  PlayedCollective played(algorithm, CollectiveKind::AllReduce, *groupsOf(200), options, *topology, packed(cluster));
  PlayedNetwork network(*topology, packed(cluster));
  PlayOptions play;
  play.reduction = cluster.device.reduction;
  for (int64_t bytes : {8, 1 << 20, 1 << 28})
    CHECK(form->time({bytes}, network.links, play.reduction)->value ==
          Approx(played.play({bytes}, network, play)->value).epsilon(0.1));
  Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
  const Candidate &priced = candidateOf(pricer, specOf(CollectiveKind::AllReduce, 1 << 28, nullptr), algorithm.name);
  CHECK(priced.why.how.find("estimate") != std::string::npos);
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

TEST_CASE("very many ranks on machines that are not the same everywhere are estimated", "[closed]") {
  auto machine = [](auto change) {
    Cluster c = twoLevels(144, 8, 4);
    change(c);
    return c;
  };
  const std::pair<const char *, Cluster> machines[] = {
      {"fewer links up", machine([](Cluster &c) { c.oversubscription = 2; })},
      {"shared NICs", machine([](Cluster &c) { c.nicsPerHost = 4; })},
      {"planes", machine([](Cluster &c) { c.planes = 2; })},
      {"three tiers", machine([](Cluster &c) {
         c.topology = "three_tier";
         c.leavesPerPod = 4;
         c.coreLatency = microseconds(0.5);
       })},
      {"rails", machine([](Cluster &c) {
         c.topology = "rail_optimized";
         c.hostsPerLeaf = 16;
         c.oversubscription = 2;
       })}};
  for (const auto &[fabric, cluster] : machines) {
    Result<Topology> topology = Topology::build(cluster);
    REQUIRE(topology);
    int ranks = cluster.ranks();
    REQUIRE(ranks > mostRanksOfPlays);
    Placement placement = packed(cluster);
    PlayedNetwork network(*topology, placement);
    PlayOptions options;
    options.reduction = cluster.device.reduction;
    for (auto [name, kind] :
         std::vector<std::pair<const char *, CollectiveKind>>{{"binary_blocks", CollectiveKind::AllReduce},
                                                              {"halving_doubling", CollectiveKind::AllReduce},
                                                              {"recursive_doubling", CollectiveKind::AllGather}}) {
      const alg::Algorithm &algorithm = *alg::find(name);
      auto form = ClosedForm::make(algorithm, kind, ranks, {}, *topology, 0);
      CAPTURE(fabric, name);
      REQUIRE(form);
      CHECK_FALSE(form->exact());
      PlayedCollective played(algorithm, kind, *groupsOf(ranks), {}, *topology, placement);
      for (int64_t bytes : {8, 1 << 18}) {
        double ratio = form->time({bytes}, network.links, options.reduction)->value /
                       played.play({bytes}, network, options)->value;
        CAPTURE(bytes, form->how());
        CHECK(ratio > 0.7);
        CHECK(ratio < 1.6);
      }
    }
  }
}
