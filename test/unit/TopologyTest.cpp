//===- TopologyTest.cpp - builders and paths --------------------------------------------------------------------===//
#include "braid/cost_models/Topology.h"
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
      REQUIRE(path.crossesHosts == (from / c.devicesPerHost != to / c.devicesPerHost));
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
  std::string dot = t.dot();
  size_t edges = 0;
  for (size_t at = dot.find(" -- "); at != std::string::npos; at = dot.find(" -- ", at + 1))
    ++edges;
  CHECK(edges == t.links().size() / 2);
  CHECK_THAT(dot, Contains("\"host0.nic1\" -- \"leaf0\" [label=\"50.0 GB/s\"]"));
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
}
