//===- TopologyTest.cpp - builders and paths --------------------------------------------------------------------===//
#include "braid/cost_models/Topology.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

using namespace braid::cost;
using Catch::Matchers::Contains;

namespace {

Cluster cluster(const char *topology, int hosts, int devices, int nics, int hostsPerLeaf, double oversubscription = 1) {
  Cluster c;
  c.name = "test";
  c.hosts = hosts;
  c.devicesPerHost = devices;
  c.nicsPerHost = nics;
  c.topology = topology;
  c.hostsPerLeaf = hostsPerLeaf;
  c.oversubscription = oversubscription;
  c.intra = {"nvlink", {450e9}, microseconds(0.6), {}};
  c.inter = {"network", {50e9}, microseconds(1.3), {}};
  c.hostLink = {"pcie", {63e9}, {}, {}};
  c.spineLatency = microseconds(0.4);
  return c;
}

Topology build(const Cluster &c) {
  Result<Topology> result = Topology::build(c);
  REQUIRE(result);
  return *result;
}

/// The path starts and ends at the devices, its links meet, and no way is shorter.
void checkPaths(const Cluster &c) {
  Topology t = build(c);
  INFO(c.topology << " " << c.hosts << "x" << c.devicesPerHost << " nics " << c.nicsPerHost << " leaf "
                  << c.hostsPerLeaf);
  CHECK(t.connected());
  for (int from = 0; from < c.ranks(); ++from)
    for (int to = 0; to < c.ranks(); ++to) {
      Topology::Path path = t.path(from, to);
      int at = t.device(from);
      for (int link : path) {
        REQUIRE(t.links()[link].from == at);
        at = t.links()[link].to;
      }
      REQUIRE(at == t.device(to));
      REQUIRE(path.crossesHosts == (c.hostOf(from) != c.hostOf(to)));
      if (path.crossesHosts || from == to)
        REQUIRE(path.count == t.distance(from, to));
      else // NVLink, although two devices on one NIC are as near through it
        REQUIRE(path.count == 2);
    }
}

} // namespace

TEST_CASE("paths are walks in the graph, and shortest ones") {
  checkPaths(cluster("single_switch", 1, 8, 8, 1));
  checkPaths(cluster("single_switch", 1, 4, 0, 1)); // no NICs: one host
  checkPaths(cluster("single_switch", 4, 2, 2, 4));
  checkPaths(cluster("rail_optimized", 6, 4, 4, 6));
  checkPaths(cluster("rail_optimized", 5, 4, 4, 2)); // a pod that is not full
  checkPaths(cluster("fat_tree", 7, 2, 2, 3));
  checkPaths(cluster("fat_tree", 3, 2, 2, 0));    // 0: all hosts under one leaf
  checkPaths(cluster("fat_tree", 6, 4, 2, 2, 4)); // shared NICs, oversubscribed
  checkPaths(cluster("fat_tree", 4, 2, 4, 2));    // two NICs each
}

TEST_CASE("three tiers, planes, hosts that differ: paths are walks, and shortest ones") {
  Cluster tiers = cluster("three_tier", 24, 2, 2, 2);
  tiers.leavesPerPod = 3;
  tiers.coreOversubscription = 1.5;
  tiers.coreLatency = microseconds(0.5);
  for (Routing routing : {Routing::Static, Routing::Hash, Routing::SharedHash})
    for (int planes : {1, 2}) {
      tiers.routing = routing;
      tiers.planes = planes;
      checkPaths(tiers);
    }
  Cluster planes = cluster("fat_tree", 6, 2, 2, 2);
  planes.planes = 2;
  checkPaths(planes);
  for (const char *topology : {"single_switch", "rail_optimized", "fat_tree"}) {
    Cluster uneven = cluster(topology, 5, 4, 4, std::string(topology) == "single_switch" ? 5 : 2);
    uneven.groups = {{2, 4, 4, {}}, {2, 2, 2, {}}, {1, 3, 1, {}}};
    CHECK(uneven.ranks() == 15);
    CHECK(uneven.nics() == 13);
    checkPaths(uneven);
  }
}

TEST_CASE("devices are numbered host by host, also where hosts differ") {
  Cluster c = cluster("single_switch", 4, 8, 8, 4);
  c.groups = {{2, 8, 8, {}}, {1, 4, 2, {}}, {1, 8, 8, {}}};
  int device = 0;
  for (int host = 0; host < 4; ++host) {
    CHECK(c.firstDevice(host) == device);
    CHECK(c.devicesIn(host) == (host == 2 ? 4 : 8));
    for (int i = 0; i < c.devicesIn(host); ++i, ++device) {
      CHECK(c.hostOf(device) == host);
      CHECK(c.deviceInHost(device) == i);
    }
  }
  CHECK(c.ranks() == device);
}

TEST_CASE("flows between hosts spread over the path set by their source ports where routing hashes") {
  Cluster c = cluster("three_tier", 32, 1, 1, 4);
  c.leavesPerPod = 4;
  Topology fixed = build(c);
  CHECK(fixed.pathSet(0, 1).size() == 1);      // under one leaf
  CHECK(fixed.pathSet(0, 4).size() == 4);      // 4 spines in the pod
  CHECK(fixed.pathSet(0, 16).size() == 4 * 4); // times 4 cores of a spine's group
  for (uint64_t flow : {0, 1, 2})
    CHECK(fixed.path(0, 16, flow) == fixed.path(0, 16)); // by destination
  c.routing = Routing::Hash;
  Topology hashed = build(c);
  auto set = hashed.pathSet(0, 16);
  std::set<size_t> taken;
  for (uint64_t flow = 0; flow < 200; ++flow) {
    auto found = std::find(set.begin(), set.end(), hashed.path(0, 16, flow));
    REQUIRE(found != set.end());
    taken.insert(size_t(found - set.begin()));
  }
  CHECK(taken.size() == set.size());
}

/// Of the links from spines to cores, those that flows of all pods to the next pod use; 256 flows over 64 links.
static int coreLinksUsed(Routing routing) {
  Cluster c = cluster("three_tier", 64, 4, 4, 4, 4); // 16 NICs on a leaf, 4 links up
  c.leavesPerPod = 4;
  c.routing = routing;
  Topology t = build(c);
  std::vector<Flow> flows;
  for (int device = 0; device < c.ranks(); ++device)
    flows.push_back({device, (device + 64) % c.ranks(), Bytes{1 << 20}});
  int used = 0;
  for (const LinkLoad &load : loads(t, flows))
    used += t.links()[load.link].level == Topology::Level::Core &&
            t.vertices()[t.links()[load.link].to].kind == Topology::VertexKind::Core;
  return used;
}

TEST_CASE("a polarised fabric uses 1 / k of its second stage, other seeds all of it") {
  CHECK(coreLinksUsed(Routing::Static) == 64);
  CHECK(coreLinksUsed(Routing::SharedHash) == 16); // k = 4
  CHECK(coreLinksUsed(Routing::Hash) >= 60);       // 4 flows a link in the mean: e^-4 of the links have none
}

TEST_CASE("loads of a step: bytes and time of each link, the longest first") {
  Topology t = build(cluster("fat_tree", 4, 4, 1, 4)); // four GPUs share a NIC
  std::vector<LinkLoad> all = loads(t, {{0, 4, Bytes{1000000}}, {1, 5, Bytes{500000}}, {0, 1, Bytes{450}}});
  CHECK(all[0].flows == 2);
  CHECK(all[0].bytes == 1500000);
  CHECK(all[0].time.value == Approx(1.5e6 / 50e9));
  CHECK(all.back().time.value == Approx(1e-9));
}

TEST_CASE("a ring in the order of locality leaves each host once") {
  Cluster c = cluster("fat_tree", 4, 4, 4, 2);
  Placement placement;
  for (int rank = 0; rank < 16; ++rank) // dealt round-robin
    placement.deviceOf.push_back(rank % 4 * 4 + rank / 4);
  auto crossings = [&](const std::vector<int> &order) {
    int count = 0;
    for (size_t i = 0; i < order.size(); ++i)
      count += placement.hostOf(order[i], c) != placement.hostOf(order[(i + 1) % order.size()], c);
    return count;
  };
  std::vector<int> plain(16);
  for (int i = 0; i < 16; ++i)
    plain[i] = i;
  CHECK(crossings(plain) == 16);
  CHECK(crossings(localityOrder(placement)) == 4);
}

TEST_CASE("drawings are bounded and complete") {
  Topology t = build(cluster("rail_optimized", 100, 8, 8, 10));
  std::string svg = drawSvg(t, 8);
  CHECK_THAT(svg, Contains("92 hosts not drawn"));
  CHECK_THAT(svg, Contains("host99"));
  CHECK(svg.find(">host50<") == std::string::npos);
  CHECK(svg.size() < 400000);
  CHECK_THAT(svg, Contains("leaf - spine, 50.0 GB/s each way")); // what colours mean
  CHECK_THAT(drawSvg(build(cluster("single_switch", 1, 8, 0, 1))), Contains("gpu7"));
  Cluster reducing = cluster("fat_tree", 4, 2, 2, 2);
  CHECK(drawSvg(build(reducing)).find("a switch that reduces") == std::string::npos);
  reducing.inNetwork.at = "fabric";
  reducing.inNetwork.groups = 1;
  CHECK_THAT(drawSvg(build(reducing)), Contains("a switch that reduces"));
}

TEST_CASE("latencies add up to the cluster's") {
  Topology t = build(cluster("fat_tree", 4, 2, 2, 2));
  CHECK(t.latency(0, 0).value == 0);
  CHECK(t.latency(0, 1).value == Approx(0.6e-6));
  CHECK(t.latency(0, 2).value == Approx(1.3e-6)); // host 1, same leaf
  CHECK(t.latency(0, 4).value == Approx(1.7e-6)); // host 2, over a spine
  Topology rails = build(cluster("rail_optimized", 4, 2, 2, 4));
  CHECK(rails.latency(0, 6).value == Approx(1.3e-6)); // same rail
  CHECK(rails.latency(0, 7).value == Approx(1.7e-6)); // other rail
}

TEST_CASE("the bottleneck between hosts is the NIC, inside it is NVLink") {
  Topology t = build(cluster("rail_optimized", 4, 2, 2, 4));
  auto slowest = [&](int from, int to) {
    double least = 1e30;
    for (int link : t.path(from, to))
      least = std::min(least, t.links()[link].bandwidth.value);
    return least;
  };
  CHECK(slowest(0, 1) == 450e9);
  CHECK(slowest(0, 2) == 50e9);
}

TEST_CASE("a shift over leaves shares no link in a full fat tree, and shares them in an oversubscribed one") {
  for (double oversubscription : {1.0, 4.0}) {
    Cluster c = cluster("fat_tree", 4, 4, 4, 2, oversubscription);
    Topology t = build(c);
    for (int shift : {8, 9, 13}) {
      std::map<int, int> uses;
      for (int device = 0; device < c.ranks(); ++device)
        for (int link : t.path(device, (device + shift) % c.ranks()))
          if (t.links()[link].level == Topology::Level::Spine)
            ++uses[link];
      int most = 0;
      for (auto [link, count] : uses)
        most = std::max(most, count);
      INFO("oversubscription " << oversubscription << " shift " << shift);
      if (oversubscription == 1 && shift == 8)
        CHECK(most == 1);
      if (oversubscription == 4) // 8 flows leave a leaf by 2 links
        CHECK(most >= (shift == 8 ? 4 : 2));
    }
  }
}

namespace {
/// What leaves a leaf upwards, over what comes to it from NICs.
double ratioOf(const Topology &t, Topology::Level level, Topology::Level below) {
  double up = 0, down = 0;
  for (size_t i = 0; i < t.links().size(); i += 2) { // both directions are alike
    up += t.links()[i].level == level ? t.links()[i].bandwidth.value : 0;
    down += t.links()[i].level == below ? t.links()[i].bandwidth.value : 0;
  }
  return down / up;
}

/// When the last of all flows to the next leaf is over, in the time that one takes alone.
double shiftTime(const Topology &t, int perLeaf, int ranks) {
  std::vector<Flow> flows;
  for (int device = 0; device < ranks; ++device)
    flows.push_back({device, (device + perLeaf) % ranks, Bytes{1000000}});
  return loads(t, flows).front().time.value / (1e6 / 50e9);
}
} // namespace

TEST_CASE("the stated oversubscription is kept exactly, and what a whole leaf sends takes longer by it") {
  for (int nics : {4, 6, 8, 12, 7})
    for (double ratio = 1; ratio <= 16; ratio += 0.125) {
      INFO(nics << " NICs on a leaf, " << ratio << ":1");
      Topology t = build(cluster("fat_tree", 4 * nics, 1, 1, nics, ratio));
      CHECK(ratioOf(t, Topology::Level::Spine, Topology::Level::Nic) == Approx(ratio));
      CHECK(shiftTime(t, nics, 4 * nics) == Approx(ratio));
    }
}

TEST_CASE("links up are whole links, and one message alone is not slowed by what others would need") {
  auto spines = [](double ratio) { return build(cluster("fat_tree", 8, 1, 1, 4, ratio)).pathSet(0, 4).size(); };
  CHECK(spines(1) == 4);
  CHECK(spines(1.5) == 2);
  CHECK(spines(2) == 2);
  CHECK(spines(3) == 1);
  CHECK(spines(4) == 1);
  CHECK(spines(8) == 1);
  for (double ratio : {1.0, 1.25, 2.0, 3.0, 4.0}) { // one flow alone is not slowed
    Topology t = build(cluster("fat_tree", 8, 1, 1, 4, ratio));
    CHECK(loads(t, {{0, 4, Bytes{1000000}}}).front().time.value == Approx(1e6 / 50e9));
  }
  // One to one: as many of the same as before.
  Topology even = build(cluster("fat_tree", 8, 1, 1, 4));
  for (const Topology::Link &link : even.links())
    if (link.level == Topology::Level::Spine)
      CHECK(link.bandwidth.value == 50e9);
}

TEST_CASE("oversubscribed cores, planes and hosts that differ keep their ratios, too") {
  Cluster tiers = cluster("three_tier", 36, 2, 2, 2, 1.5);
  tiers.leavesPerPod = 6;
  for (double ratio : {1.0, 1.25, 2.0, 2.5, 3.0, 7.0})
    for (int planes : {1, 2}) {
      tiers.coreOversubscription = ratio;
      tiers.planes = planes;
      Topology t = build(tiers);
      CHECK(ratioOf(t, Topology::Level::Spine, Topology::Level::Nic) == Approx(1.5));
      CHECK(ratioOf(t, Topology::Level::Core, Topology::Level::Spine) == Approx(ratio));
    }
  // The leaf with most NICs has the stated ratio; the others have the same links up.
  Cluster uneven = cluster("fat_tree", 6, 4, 4, 2, 3);
  uneven.groups = {{3, 4, 4, {}}, {3, 2, 2, {}}};
  Topology t = build(uneven);
  double up = 0;
  for (const Topology::Link &link : t.links())
    up += t.vertices()[link.from].kind == Topology::VertexKind::Leaf &&
                  t.vertices()[link.to].kind == Topology::VertexKind::Spine
              ? link.bandwidth.value
              : 0;
  CHECK(up == Approx(3 * 8 * 50e9 / 3)); // 3 leaves, the first with 8 NICs
}

TEST_CASE("links are pairs, and each class has its own") {
  Cluster c = cluster("rail_optimized", 4, 2, 2, 2);
  Topology t = build(c);
  std::map<Topology::Level, int> count;
  for (size_t i = 0; i < t.links().size(); i += 2) {
    CHECK(t.links()[i].from == t.links()[i + 1].to);
    CHECK(t.links()[i].to == t.links()[i + 1].from);
    ++count[t.links()[i].level];
  }
  CHECK(count[Topology::Level::Intra] == 8);
  CHECK(count[Topology::Level::HostLink] == 8);
  CHECK(count[Topology::Level::Nic] == 8);
  CHECK(count[Topology::Level::Spine] == 4 * 2); // 2 pods x 2 rails, 2 links up each
  for (const Topology::Link &link : t.links())
    CHECK(link.linkClass->name == (link.level == Topology::Level::Intra      ? "nvlink"
                                   : link.level == Topology::Level::HostLink ? "pcie"
                                                                             : "network"));
}

TEST_CASE("vertices have names, and the drawing has every cable once") {
  Topology t = build(cluster("fat_tree", 2, 2, 2, 1));
  std::set<std::string> names;
  for (const Topology::Vertex &vertex : t.vertices())
    CHECK(names.insert(vertex.name()).second);
  CHECK(names.count("host1.gpu0") == 1);
  std::string dot = drawDot(t);
  size_t edges = 0;
  for (size_t at = dot.find(" -- "); at != std::string::npos; at = dot.find(" -- ", at + 1))
    ++edges;
  CHECK(edges == t.links().size() / 2);
  CHECK_THAT(dot, Contains("\"host0.nic1\" -- \"leaf0\" [label=\"50.0 GB/s\", color=\"#2b6cb0\"]"));
}

TEST_CASE("1024 devices: paths are fast") {
  Cluster c = cluster("fat_tree", 128, 8, 8, 4);
  Topology t = build(c);
  int64_t links = 0;
  for (int from = 0; from < c.ranks(); ++from)
    for (int to = 0; to < c.ranks(); ++to)
      links += t.path(from, to).count;
  CHECK(links > 5 * 1024 * 1000);
}

TEST_CASE("numbers that fit no builder are refused") {
  CHECK_THAT(Topology::build(cluster("torus", 2, 2, 2, 2)).error().text(), Contains("got \"torus\""));
  CHECK_FALSE(Topology::build(cluster("fat_tree", 0, 2, 2, 2)));
  CHECK_FALSE(Topology::build(cluster("fat_tree", 2, 2, 0, 2)));
  CHECK_FALSE(Topology::build(cluster("fat_tree", 2, 2, 2, 2, 0.5)));
  CHECK_FALSE(Topology::build(cluster("single_switch", 4, 2, 2, 2)));
  CHECK_FALSE(Topology::build(cluster("three_tier", 4, 2, 2, 2))); // no leaves in a pod
}
