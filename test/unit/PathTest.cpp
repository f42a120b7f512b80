//===- PathTest.cpp - source ports of flows: spelled, hashed, assigned, priced ------------------------------------===//
#include "PricedClusters.h"
#include "braid/runtime/algorithms/Paths.h"
#include "cost_models/pricing/AssignPaths.h"
#include "cost_models/pricing/Played.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace braid;
using namespace braid::cost;
using Catch::Matchers::Contains;

namespace {

/// Leaves of 8 hosts, each with a NIC and an uplink of its own.
Cluster leaves(int count, uint64_t seed) {
  Cluster c = quietCluster(8 * count, 1);
  c.topology = "fat_tree";
  c.hostsPerLeaf = 8;
  c.spineLatency = microseconds(0.5);
  c.routing = Routing::Hash;
  c.hashSeed = seed;
  c.flowHash.firstPort = 50000;
  c.flowHash.lastPort = 51000;
  return c;
}

PathFlow flowOf(const Topology &topology, int from, int to, int connections = 1) {
  PathFlow flow;
  flow.sent = {{0, 1.0}};
  flow.choices = topology.choices(from, to, connections);
  return flow;
}

/// The smallest load of the busiest link, by trying everything.
double byTrying(const std::vector<PathFlow> &flows, const Topology &topology) {
  std::vector<std::vector<int>> choice(flows.size(), {0});
  double best = 1e9;
  for (;;) {
    best = std::min(best, mostLoaded(flows, choice, topology));
    size_t i = 0;
    while (i < flows.size() && ++choice[i][0] == int(flows[i].choices.size()))
      choice[i++][0] = 0;
    if (i == flows.size())
      return best;
  }
}

} // namespace

TEST_CASE("paths are one word, and read back", "[path]") {
  for (const char *text : {"x4", "0-1:50003", "to4791;0-1:50003.50007;1-0:50001.50012", "0-1:1/50003.0/50003;2-3:7"}) {
    algorithms::Paths paths;
    CHECK(algorithms::Paths::read(text, paths).empty());
    CHECK(paths.spelling() == text);
  }
  for (const char *text : {"", "x", "x0", "x65", "4", "to4791", "to0;0-1:5", "0-0:5", "0-1:0", "0-1:65536",
                           "0-1:5;0-1:6", "0-1:5.5", "0-1:5;", "0-1", "0-1:", "0:1-5", "-1-0:5", "0-1:5,6"}) {
    INFO(text);
    algorithms::Paths paths;
    CHECK_THAT(algorithms::Paths::read(text, paths), Contains("expected"));
  }
  algorithms::StepOptions options;
  std::string problem;
  REQUIRE(algorithms::parse("ring(order=hosts path=to47000;0-1:50003.50007)", options, problem));
  CHECK(options.byHosts);
  CHECK(options.path->between(0, 1)[1].port == 50007);
  CHECK(options.path->between(1, 0).empty());
  CHECK_FALSE(algorithms::parse("ring(path=0-1:x)", options, problem));
  CHECK_THAT(problem, Contains("path, expected flows like"));
}

TEST_CASE("CRC-32 deals flows as its definition says", "[path]") {
  FlowHash hash;
  hash.function = FlowHash::Crc32;
  hash.addresses = "10.0.{host}.{nic}";
  CHECK(hash.addressOf(3, 1) == 0x0a000301);
  CHECK(hash.addressOf(256, 0) == 0);
  // zlib.crc32(bytes.fromhex("00000007" "0a000301" "0a000501" "11" "c350" "12b7")) = 0x9422c16e
  CHECK(hash.link(7, 0x0a000301, 0x0a000501, 50000, 1 << 16) == 0xc16e);
  hash.reads[FlowHash::SourcePort] = false;
  CHECK(hash.link(7, 0x0a000301, 0x0a000501, 50000, 64) == hash.link(7, 0x0a000301, 0x0a000501, 50001, 64));
}

TEST_CASE("a table of ports says what it expects", "[path]") {
  Result<PortTable> good =
      PortTable::parse("# probed\nhost0.nic0 host1.nic0 50000 3 # veth3\n* host0.nic0 50001 1.2\n", "t");
  REQUIRE(good);
  CHECK(good->between("host0.nic0", "host1.nic0").at(50000)[0] == 3);
  CHECK(good->between("host7.nic0", "host0.nic0").at(50001)[1] == 2);
  CHECK(good->between("host7.nic0", "host1.nic0").empty());
  for (const char *text : {"", "host0 host1.nic0 50000 3", "host0.nic0 host1.nic0 80 3", "host0.nic0 host1.nic0 50000",
                           "host0.nic0 host1.nic0 50000 3.", "* * 50000 1\n* * 50000 2"}) {
    INFO(text);
    Result<PortTable> bad = PortTable::parse(text, "t");
    REQUIRE_FALSE(bad);
    CHECK_THAT(bad.error().text(), Contains("table of paths, expected"));
  }
}

TEST_CASE("flows that some assignment keeps apart are kept apart", "[path]") {
  std::mt19937 dice(1);
  for (int seed = 0; seed < 20; ++seed) {
    Cluster c = leaves(4, uint64_t(seed));
    Topology topology = *Topology::build(c);
    std::vector<int> to(32); // a permutation: each leaf sends and gets at most 8 flows, which fit its 8 uplinks (König)
    std::iota(to.begin(), to.end(), 0);
    std::shuffle(to.begin(), to.end(), dice);
    std::vector<PathFlow> flows;
    for (int from = 0; from < 32; ++from)
      if (from / 8 != to[size_t(from)] / 8)
        flows.push_back(flowOf(topology, from, to[size_t(from)]));
    PathAssignment found = assignPaths(flows, 1, topology);
    CHECK(found.most == Approx(1));
    CHECK(found.bound == Approx(1));
    CHECK(found.optimal);
    CHECK(mostLoaded(flows, found.choice, topology) == Approx(1));
    CHECK(assignPaths(flows, 1, topology).choice == found.choice);
    // Two connections each: 16 halves over 8 uplinks.
    CHECK(assignPaths(flows, 2, topology).most == Approx(2)); // of halves
  }
}

TEST_CASE("where few ports are known the assignment is the best there is, and the bound is one", "[path]") {
  std::mt19937 dice(7);
  int above = 0;
  for (int trial = 0; trial < 40; ++trial) {
    Cluster c = leaves(2, uint64_t(trial));
    Topology topology = *Topology::build(c);
    std::vector<PathFlow> flows;
    for (int i = 0; i < 8; ++i) {
      PathFlow flow = flowOf(topology, i, 8 + int(dice() % 8));
      flow.choices.resize(4);
      std::shuffle(flow.choices.begin(), flow.choices.end(), dice);
      flow.choices.resize(2); // of four ways two
      flow.sent[0].second = 1 + dice() % 3;
      flows.push_back(flow);
    }
    PathAssignment found = assignPaths(flows, 1, topology);
    INFO(trial);
    CHECK(found.most == Approx(byTrying(flows, topology)));
    CHECK(found.bound <= found.most + 1e-9);
    CHECK(found.optimal);
    above += found.most > found.bound + 1e-9;
  }
  CHECK(above > 0); // the search was needed
}

TEST_CASE("rounds are who sends at once", "[path]") {
  Cluster c = leaves(2, 1);
  Topology topology = *Topology::build(c);
  Placement placement = packed(c);
  PlayedNetwork network(topology, placement);
  auto rounds = [&](const char *algorithm) {
    return PlayedCollective(*algorithms::find(algorithm), CollectiveKind::AllReduce, *groupsOf(16), {}, topology,
                            placement)
        .rounds(network);
  };
  std::vector<FlowRound> ring = rounds("ring");
  REQUIRE(ring.size() == 1);
  CHECK(ring[0].size() == 16);
  CHECK(ring[0].at({3, 4}) == Approx(30.0 / 16));
  std::vector<FlowRound> doubling = rounds("recursive_doubling");
  REQUIRE(doubling.size() == 4);
  for (const FlowRound &round : doubling)
    CHECK(round.size() == 16);
}

TEST_CASE("a known hash is a price without collisions, an unknown one a number of connections", "[path]") {
  Cluster known = leaves(2, 5);
  Placement dealt;
  for (int rank = 0; rank < 16; ++rank)
    dealt.deviceOf.push_back(rank % 2 * 8 + rank / 2);
  CollectiveSpec large = specOf(CollectiveKind::AllGather, 16 << 20, groupsOf(16));
  auto ringOf = [&](const Cluster &c, const CollectiveSpec &spec) {
    return candidateOf(Pricer(c, dealt, Engine::Braid, BucketForm::OneLaunch), spec, "ring");
  };
  Candidate planned = ringOf(known, large);
  Cluster unknown = known, fixed = known;
  unknown.flowHash = {};
  fixed.routing = Routing::Static;
  fixed.flowHash = {};
  CHECK_THAT(planned.path, Contains("to4791;0-1:50"));
  CHECK(planned.time.value < 0.8 * ringOf(unknown, large).time.value);
  CHECK(planned.time.value == Approx(ringOf(fixed, large).time.value).epsilon(1e-9));

  Cluster drawn = fixed;
  drawn.inter.profile.collisionUplinks = 8;
  drawn.inter.profile.defaultQuantile = 0.95;
  drawn.inter.profile.mostFlowsPerNic = 16;
  drawn.inter.profile.flowCost = microseconds(0.5);
  Candidate split = ringOf(drawn, large), small = ringOf(drawn, specOf(CollectiveKind::AllGather, 64, groupsOf(16)));
  CHECK(split.connections > 1);
  CHECK(split.path == "x" + std::to_string(split.connections));
  CHECK(split.channels == split.connections);
  CHECK(small.connections == 0);
  drawn.inter.profile.flowCost = {1};
  CHECK(ringOf(drawn, large).connections == 0);
}
