//===- ClusterTest.cpp - cluster files and placements -----------------------------------------------------------===//
#include "braid/cost_models/Cluster.h"
#include "braid/cost_models/EmitProfile.h"
#include "braid/cost_models/Topology.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace braid::cost;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

static const std::string clusters = std::string(BRAID_SOURCE_DIR) + "/cost_models/clusters/";

namespace {

/// A complete file; tests change one line of it.
const std::string complete = R"(name: small
hosts: 4
devices_per_host: 2
nics_per_host: 2
source: made up for a test
device:
  name: gpu
  peak: {bf16: "100 TFLOP/s", f32: "10 TFLOP/s"}
  matmul_efficiency: 0.5
  memory_bandwidth: "1 TB/s"
  memory_efficiency: 1
  memory: "16 GiB"
  launch: "5 us"
  reduction: "300 GB/s"
intra:
  name: nvlink
  bandwidth: "300 GB/s"
  latency: "0.6 us"
  profile: {fabric: quiet}
inter:
  name: ib
  bandwidth: "200 Gb/s"
  latency: "1.3 us"
  profile:
    fabric: infiniband
topology:
  builder: single_switch
nccl:
  bus_bandwidth_intra: "200 GB/s"
  bus_bandwidth_inter: "40 GB/s"
  architecture: ampere
  cpu: amd
  channels: 4
)";

class Folder {
public:
  Folder() { ::mkdir(path.c_str(), 0700); }
  ~Folder() { (void)!std::system(("rm -rf '" + path + "'").c_str()); }
  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(path + "/" + name) << text;
    return path + "/" + name;
  }
  std::string path = "/tmp/braid-cluster-test-" + std::to_string(::getpid());
};

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

Result<Cluster> readText(const std::string &text) {
  Folder folder;
  Result<Cluster> result = readCluster(folder.write("c.yaml", text));
  if (result)
    return result;
  Error error = result.error(); // without the folder, so that tests can compare
  size_t at = error.place.rfind('/');
  error.place = at == std::string::npos ? error.place : error.place.substr(at + 1);
  return error;
}

std::string errorOf(const std::string &text) {
  Result<Cluster> result = readText(text);
  REQUIRE_FALSE(result);
  return result.error().text();
}
std::string errorOf(const std::string &from, const std::string &to) { return errorOf(replaced(complete, from, to)); }

} // namespace

TEST_CASE("every file that ships is read, and its topology built") {
  for (const char *fabric : {"ib-ndr", "roce"})
    for (const char *shape : {"16x8", "4x2", "1x8"}) {
      std::string path = clusters + "h100-" + fabric + "-" + shape + ".yaml";
      Result<Cluster> cluster = readCluster(path);
      INFO(path << (cluster ? "" : ": " + cluster.error().text()));
      REQUIRE(cluster);
      CHECK(cluster->name == std::string("h100-") + fabric + "-" + shape);
      CHECK(std::to_string(cluster->hosts) + "x" + std::to_string(cluster->devicesPerHost) == shape);
      CHECK(cluster->path == path);
      CHECK(cluster->hash.size() == 16);
      CHECK(cluster->device.peak.at("bf16").value == 989e12);
      CHECK(cluster->inter.bandwidth.value == 50e9);
      CHECK(cluster->inter.profile.name == (std::string(fabric) == "roce" ? "roce" : "infiniband"));
      // A ring's bus bandwidth over hosts is bounded by the line rate of a host's NICs.
      CHECK(cluster->nccl.busBandwidthInter.value <= cluster->nicsPerHost * cluster->inter.bandwidth.value);
      CHECK_FALSE(cluster->assumptions.empty());
      for (const std::string &assumption : cluster->assumptions)
        CHECK_THAT(assumption, !Contains("no source given"));
      Result<Topology> topology = Topology::build(*cluster);
      REQUIRE(topology);
      CHECK(topology->connected());
    }
}

TEST_CASE("the fabrics differ in data: default quantile, collisions, pauses") {
  auto read = [](const char *name) { return *readCluster(clusters + name + ".yaml"); };
  Cluster ib = read("h100-ib-ndr-16x8"), roce = read("h100-roce-16x8"), rack = read("h100-roce-4x2");
  CHECK(ib.defaultQuantile == 0.5);
  CHECK(roce.defaultQuantile == 0.95);
  CHECK(read("h100-roce-1x8").defaultQuantile == 0.5); // no network in use
  CHECK(ib.inter.profile.collisionUplinks == 0);
  CHECK(roce.inter.profile.collisionUplinks == 32);
  CHECK(rack.inter.profile.collisionUplinks == 0); // one leaf
  CHECK(ib.inter.profile.pauseProbability == 0);
  CHECK(roce.inter.profile.pauseProbability > 0);
  CHECK(ib.inter.profile.bulkMean == 0.05);
  CHECK(rack.inter.profile.bulkMean == 0.15);
  CHECK(roce.inter.profile.bulkMean == 0.3);
  CHECK(ib.inter.bandwidth.value == roce.inter.bandwidth.value);
  CHECK(ib.hash != roce.hash);
}

TEST_CASE("a file is read with its units") {
  Result<Cluster> result = readText(complete);
  INFO((result ? "" : result.error().text()));
  REQUIRE(result);
  const Cluster &c = *result;
  CHECK(c.ranks() == 8);
  CHECK(c.inter.bandwidth.value == Approx(25e9));
  CHECK(c.inter.latency.value == Approx(1.3e-6));
  CHECK(c.device.memory.value == int64_t(16) << 30);
  CHECK(c.hostsPerLeaf == 4);
  CHECK(c.hostLink.bandwidth.value == c.inter.bandwidth.value);
  CHECK(c.device.dotPeak("f32").value == 10e12);
  bool assumed = false;
  CHECK(c.device.dotPeak("i64", &assumed).value == 10e12);
  CHECK(assumed);
  // The file's source holds for all its constants; what is left is the profile's defaults.
  REQUIRE(c.assumptions.size() == 1);
  CHECK_THAT(c.assumptions[0], Contains("inter.profile: default profile of InfiniBand"));
}

TEST_CASE("noise of operations and flows is the cluster file's, and counts in the hash only where it is") {
  auto with = [](const std::string &keys) {
    return *readText(replaced(complete, "    fabric: infiniband\n", "    fabric: infiniband\n" + keys));
  };
  std::string plain = readText(complete)->hash;
  CHECK(with("    latency_sigma: 0\n    bandwidth_sigma: 0\n    slow_flows: 0\n").hash == plain);
  std::vector<std::string> hashes = {plain};
  for (std::string noise : {"latency_sigma: 1.5", "bandwidth_sigma: 0.5", "slow_flows: 0.1", "flow_sigma: 0.5"})
    for (std::string correlation : {"0", "0.5", "1"}) {
      Cluster c = with("    " + noise + "\n    correlation: " + correlation + "\n");
      CHECK(std::count(hashes.begin(), hashes.end(), c.hash) == 0);
      hashes.push_back(c.hash);
      CHECK(c.inter.profile.correlation == std::stod(correlation));
      CHECK_FALSE(c.inter.profile.deterministic());
    }
  Cluster c = with("    latency_sigma: 1.5\n    bandwidth_sigma: 0.4\n    flow_sigma: 0.3\n    slow_flows: 0.1\n"
                   "    slow_flow_bandwidth: 0.25\n    flows_drawn_per: job\n");
  const FabricProfile &p = c.inter.profile;
  CHECK(p.latencySigma == 1.5);
  CHECK(p.bandwidthSigma == 0.4);
  CHECK(p.flowSigma == 0.3);
  CHECK(p.slowFlows == 0.1);
  CHECK(p.slowFlowBandwidth == 0.25);
  CHECK(p.flowsPerJob);
  CHECK(with("    slow_flows: 0.1\n").inter.profile.slowFlowBandwidth == 0.5);
  CHECK_THAT(errorOf("    fabric: infiniband", "    fabric: infiniband\n    slow_flows: 2"),
             Contains("slow_flows: expected a number from 0 to 1"));
  CHECK_THAT(errorOf("    fabric: infiniband", "    fabric: infiniband\n    flows_drawn_per: step"),
             Contains("inter.profile.flows_drawn_per"));
}

TEST_CASE("f32 products run on the units that the file names") {
  std::string text =
      replaced(complete, "f32: \"10 TFLOP/s\"}", "f32: \"10 TFLOP/s\", tf32: \"50 TFLOP/s\"}\n  f32_dot: tf32");
  CHECK(readText(text)->device.dotPeak("f32").value == 50e12);
  CHECK_THAT(errorOf("  matmul_efficiency", "  f32_dot: tf32\n  matmul_efficiency"),
             Contains("that peak gives the rate of"));
}

TEST_CASE("hosts that differ, and what their devices have in common") {
  std::string text = replaced(complete, "hosts: 4\ndevices_per_host: 2\nnics_per_host: 2\n",
                              "host_groups:\n"
                              "  - {hosts: 2, devices_per_host: 2, nics_per_host: 2}\n"
                              "  - hosts: 1\n    devices_per_host: 4\n    nics_per_host: 1\n    device:\n"
                              "      {name: slow, source: test, peak: {f32: 5 TFLOP/s}, matmul_efficiency: 0.5, "
                              "memory_bandwidth: 1 GB/s, memory_efficiency: 1, memory: 8 GiB, launch: 9 us, "
                              "reduction: 1 GB/s}\n");
  Result<Cluster> c = readText(text);
  INFO((c ? "" : c.error().text()));
  REQUIRE(c);
  CHECK(c->hosts == 3);
  CHECK(c->ranks() == 8);
  CHECK(c->nics() == 5);
  CHECK(c->device.name == "gpu and slow");
  CHECK(c->device.peak.size() == 1);
  CHECK(c->device.dotPeak("f32").value == 5e12);
  CHECK(c->device.launch.value == Approx(9e-6));
  CHECK(c->kindOf(3).name != "slow");
  CHECK(c->kindOf(4).name == "slow");
  CHECK(c->hash != readText(complete)->hash);
  CHECK_THAT(readText(text + "hosts: 3\n").error().text(), Contains("hosts: expected host_groups alone"));
  CHECK_THAT(readText(replaced(text, "hosts: 1\n", "hosts: 0\n")).error().text(),
             Contains("host_groups[1].hosts: expected a whole number from 1"));
  CHECK_THAT(readText(replaced(complete, "hosts: 4\n", "host_groups: 4\n")).error().text(),
             Contains("host_groups: expected a list of mappings, got \"4\""));
}

TEST_CASE("three tiers, planes and routing are read") {
  std::string text =
      replaced(complete, "builder: single_switch",
               "builder: three_tier\n  hosts_per_leaf: 1\n  spine_latency: 0.3 us\n  leaves_per_pod: 2\n"
               "  core_latency: 0.4 us\n  core_oversubscription: 2\n  planes: 2\n  routing: shared_hash\n"
               "  hash_seed: 7");
  Result<Cluster> c = readText(text);
  INFO((c ? "" : c.error().text()));
  REQUIRE(c);
  CHECK(c->leavesPerPod == 2);
  CHECK(c->planes == 2);
  CHECK(c->routing == Routing::SharedHash);
  CHECK(c->hash != readText(replaced(text, "hash_seed: 7", "hash_seed: 8"))->hash);
  CHECK_THAT(readText(replaced(text, "fabric: infiniband", "fabric: roce\n    collision_uplinks: 8")).error().text(),
             Contains("topology.routing: expected inter.profile.collision_uplinks of 0"));
}

TEST_CASE("flows of RoCE are hashed over the links up that there are, unless the file says how many") {
  std::string tree = replaced(replaced(complete, "fabric: infiniband", "fabric: roce"), "builder: single_switch",
                              "builder: fat_tree\n  hosts_per_leaf: 1\n  spine_latency: 0.3 us");
  auto uplinks = [](const std::string &text) {
    Result<Cluster> c = readText(text);
    INFO((c ? "" : c.error().text()));
    REQUIRE(c);
    return c->inter.profile.collisionUplinks;
  };
  auto notes = [](const std::string &text) {
    std::string all;
    Cluster cluster = *readText(text);
    for (const std::string &note : cluster.assumptions)
      all += note + "\n";
    return all;
  };
  int nics = readText(tree)->nicsPerHost;
  REQUIRE(nics > 1);
  CHECK(uplinks(tree) == nics);
  CHECK(uplinks(replaced(tree, "spine_latency: 0.3 us",
                         "spine_latency: 0.3 us\n  oversubscription: " + std::to_string(nics))) == 1);
  CHECK(uplinks(replaced(tree, "fabric: roce", "fabric: infiniband")) == 0);
  CHECK(uplinks(replaced(tree, "fabric: roce", "fabric: roce\n    adaptive_routing: on")) == 0);
  CHECK(uplinks(replaced(tree, "builder: fat_tree", "builder: fat_tree\n  routing: hash")) == 0); // by the played paths
  CHECK(uplinks(replaced(complete, "fabric: infiniband", "fabric: roce")) == 0);                  // no links up
  std::string stated = replaced(tree, "fabric: roce", "fabric: roce\n    collision_uplinks: 64");
  CHECK(uplinks(stated) == 64);
  CHECK_THAT(notes(tree), !Contains("links up"));
  CHECK_THAT(notes(stated), Contains("inter.profile.collision_uplinks: 64 links up of a leaf"));
  CHECK_THAT(notes(replaced(complete, "fabric: infiniband", "fabric: roce\n    collision_uplinks: 64")),
             Contains("has no effect, as a single switch has no links up"));
  // The emulated fabric has the builder's links, and can't hash over others.
  Placement two{{0, 1}};
  CHECK_THAT(emitProfile(*readText(stated), two).error().text(),
             Contains("expected as many as the emulated fabric has links up, " + std::to_string(nics)));
  CHECK(emitProfile(*readText(tree), two));
}

TEST_CASE("contention is switched off by a key, which is another cluster, and said to be an assumption") {
  std::string text = replaced(complete, "builder: single_switch", "builder: single_switch\n  contention: off");
  Result<Cluster> off = readText(text);
  REQUIRE(off);
  CHECK_FALSE(off->contention);
  CHECK(readText(complete)->contention);
  CHECK(off->hash != readText(complete)->hash);
  CHECK(readText(replaced(text, "contention: off", "contention: on"))->hash == readText(complete)->hash);
  CHECK(std::any_of(off->assumptions.begin(), off->assumptions.end(),
                    [](const std::string &text) { return text.rfind("topology: contention is off", 0) == 0; }));
  CHECK_THAT(readText(replaced(text, "contention: off", "contention: maybe")).error().text(),
             Contains("topology.contention: expected"));
}

TEST_CASE("each mistake is one error that names the line, the key, what was expected and what was there") {
  CHECK(errorOf("hosts: 4", "hosts: four") == "c.yaml:2: hosts: expected a whole number, got \"four\"");
  CHECK(errorOf("hosts: 4", "hosts: 0") == "c.yaml:2: hosts: expected a whole number from 1 to 131072, got 0");
  CHECK(errorOf("hosts: 4", "hosts: 4.5") == "c.yaml:2: hosts: expected a whole number, got \"4.5\"");
  CHECK(errorOf("hosts: 4", "hosts: 010") == "c.yaml:2: hosts: expected a whole number without leading zeros, got "
                                             "\"010\", which is octal to some readers of YAML "
                                             "and decimal to others");
  CHECK(errorOf("matmul_efficiency: 0.5", "matmul_efficiency: 00.5") ==
        "c.yaml:9: device.matmul_efficiency: expected a number without leading zeros, got \"00.5\"");
  CHECK_THAT(
      errorOf("fabric: infiniband", "fabric: infiniband\n    spike_probability: 1e-400"),
      Contains("c.yaml:26: inter.profile.spike_probability: expected a number, got \"1e-400\", which is too small"));
  CHECK_THAT(errorOf("\"1.3 us\"", "1e-400 us"), Contains("c.yaml:23: inter.latency: "));
  CHECK(errorOf("hosts: 4", "hosts: [4]") == "c.yaml:2: hosts: expected one value, got a list");
  CHECK(errorOf("hosts: 4", "hosts:") == "c.yaml:2: hosts: expected one value, got nothing");
  // unknown keys, with what was probably meant
  CHECK_THAT(errorOf("  launch:", "  launhc:"),
             Contains("device.launch: expected this key, got none (there is \"launhc\")"));
  CHECK(errorOf("nccl:", "colour: 1\nnccl:").find("c.yaml:28: colour: expected a known key, got this one (known: ") ==
        0);
  CHECK(errorOf("    fabric: infiniband", "    fabric: infiniband\n    spike_probabilty: 0.1") ==
        "c.yaml:26: inter.profile.spike_probabilty: expected a known key, got this one; did you mean "
        "\"spike_probability\"?");
  // missing keys
  const std::string wayOut = "; set it in this file, or in one that this one is based on (base: FILE)";
  CHECK(errorOf("  latency: \"1.3 us\"\n", "") == "c.yaml:20: inter.latency: expected this key, got none" + wayOut);
  CHECK_THAT(errorOf("topology:\n  builder: single_switch\n", ""),
             EndsWith("topology: expected this mapping, got none" + wayOut));
  CHECK(errorOf(complete.substr(0, complete.find("nccl:"))) ==
        "c.yaml:1: nccl: expected this mapping, got none" + wayOut);
  // units
  CHECK(errorOf("\"1.3 us\"", "1.3") ==
        "c.yaml:23: inter.latency: expected a time with a unit, like \"1.3 us\", got \"1.3\", which has no unit");
  CHECK(errorOf("\"200 Gb/s\"", "\"-200 Gb/s\"") ==
        "c.yaml:22: inter.bandwidth: expected a bandwidth from 1.00 kB/s to 1000000 TB/s, got \"-200 Gb/s\"");
  CHECK(errorOf("\"200 Gb/s\"", "\"0 Gb/s\"") ==
        "c.yaml:22: inter.bandwidth: expected a bandwidth from 1.00 kB/s to 1000000 TB/s, got \"0 Gb/s\"");
  CHECK_THAT(errorOf("\"200 Gb/s\"", "\"200 us\""), Contains("with the unit \"us\" (known: B/s"));
  CHECK_THAT(errorOf("\"16 GiB\"", "\"0 GiB\""), Contains("device.memory: expected a size above zero"));
  CHECK_THAT(errorOf("bf16: \"100 TFLOP/s\"", "bf16: 100"),
             Contains("c.yaml:8: device.peak.bf16: expected a rate with a unit"));
  CHECK_THAT(errorOf("matmul_efficiency: 0.5", "matmul_efficiency: 1.5"),
             Contains("expected a number from 0.001 to 1, got 1.5"));
  CHECK_THAT(errorOf("matmul_efficiency: 0.5", "matmul_efficiency: nan"),
             Contains("expected a number from 0.001 to 1, got nan"));
  // words
  CHECK(errorOf("single_switch", "single_swich") ==
        "c.yaml:27: topology.builder: expected single_switch, rail_optimized, "
        "fat_tree or three_tier, got \"single_swich\"; did you mean \"single_switch\"?");
  CHECK_THAT(errorOf("fabric: infiniband", "fabric: infinband"), Contains("did you mean \"infiniband\"?"));
  CHECK_THAT(errorOf("bf16:", "bf61:"),
             Contains("device.peak.bf61: expected an element type in MLIR's spelling, got this "
                      "one; did you mean \"bf16\"?"));
  // shape
  CHECK(errorOf("hosts: 4", "hosts: 4\nhosts: 5") ==
        "c.yaml:3: hosts: expected once, got it twice (first in line 2); leave one out");
  CHECK_THAT(errorOf("  name: ib\n", "  name: ib\n  name: ib\n"), Contains("inter.name: expected once, got it twice"));
  CHECK_THAT(errorOf("device:\n", "device: 3\nx:\n"), Contains("device: expected a mapping of keys, got \"3\""));
  CHECK(
      errorOf("nics_per_host: 2", "nics_per_host: 0").find("c.yaml:4: nics_per_host: expected a whole number from 1") ==
      0);
  CHECK_THAT(errorOf("builder: single_switch", "builder: fat_tree"),
             Contains("topology.hosts_per_leaf: expected this key"));
  CHECK(errorOf("builder: single_switch", "builder: single_switch\n  hosts_per_leaf: 2") ==
        "c.yaml:28: topology.hosts_per_leaf: expected no such key with builder single_switch, got one (those of a base "
        "stay "
        "in force; take one without a topology)");
  CHECK_THAT(errorOf("builder: single_switch",
                     "builder: fat_tree\n  hosts_per_leaf: 2\n  spine_latency: 1 us\n  core_latency: 1 us"),
             Contains("topology.core_latency: expected no such key with builder fat_tree"));
  CHECK_THAT(errorOf("fabric: infiniband", "fabric: roce\n    pause_longest: \"1 us\""),
             Contains("pause_shortest: expected at most pause_longest (1.00 us), got 10.0 us"));
}

TEST_CASE("an error is one line, whatever the file has in its values") {
  Folder folder;
  for (const char *value : {"|\n  text", "\"a\\nb\"", "\"a\\e[31mb\"", "\"a\\\nb\""}) {
    std::string text = complete;
    text.replace(text.find("devices_per_host: 2"), 19, std::string("devices_per_host: ") + value);
    Result<Cluster> cluster = readCluster(folder.write("odd.yaml", text));
    REQUIRE_FALSE(bool(cluster));
    for (char c : cluster.error().text())
      CHECK((unsigned char)c >= 0x20);
  }
  Result<Cluster> escape = readCluster(folder.write("escape.yaml", "name: \"a\\\n"));
  REQUIRE_FALSE(bool(escape));
  CHECK(escape.error().text().find('\n') == std::string::npos);
}

TEST_CASE("did you mean: an optional key with a slip") {
  CHECK_THAT(errorOf("    fabric: infiniband", "    fabric: infiniband\n    bulk_mean: 0.1\n    bulk_maen: 0.1"),
             Contains("inter.profile.bulk_maen: expected a known key, got this one; did you mean \"bulk_mean\"?"));
}

TEST_CASE("files that are no cluster files are errors, not exceptions") {
  CHECK(errorOf("") == "c.yaml: cluster file: expected a mapping of keys, got an empty file");
  CHECK(errorOf("# only a comment\n") == "c.yaml: cluster file: expected a mapping of keys, got an empty file");
  CHECK_THAT(errorOf("- a\n- b\n"), Contains("expected a mapping of keys, got a list"));
  CHECK_THAT(errorOf("just text"), Contains("expected a mapping of keys, got \"just text\""));
  CHECK_THAT(errorOf("a: [1, 2\nb: }"), Contains("expected YAML, got: "));
  CHECK_THAT(errorOf("a: b: c"), Contains("c.yaml:1: cluster file: expected YAML"));
  // more than one document
  std::string second = ": cluster file: expected one document, got another one; keep one cluster in a file";
  CHECK_THAT(errorOf(complete + "---\nname: again\n"), Contains("c.yaml:34" + second));
  CHECK_THAT(errorOf("device:", "---\ndevice:"), Contains("c.yaml:6" + second));
  CHECK_THAT(errorOf("---\n" + complete + "---\n"), Contains("c.yaml:35" + second));
  CHECK(readText("%YAML 1.2\n# one\n---\n" + complete));
  // tabs
  CHECK(errorOf("  launch", "\tlaunch") == "c.yaml:13: cluster file: expected spaces as indentation, got a tab");
  CHECK(errorOf("  builder", "  \tbuilder") == "c.yaml:27: cluster file: expected spaces as indentation, got a tab");
  CHECK(readText(replaced(complete, "topology:", "# comment\n \t\ntopology:")));
  CHECK_THAT(errorOf(std::string("\x00\x01\x02\xff", 4)), Contains("cluster file"));
  CHECK_THAT(errorOf(complete.substr(0, complete.size() / 2)), Contains("expected")); // truncated
  CHECK_THAT(errorOf(std::string(20000, '[')), Contains("expected YAML"));            // too deep
  CHECK_THAT(errorOf("name: &a\n  x: *a\n"), Contains("expected"));                   // holds itself
  CHECK_THAT(errorOf(std::string((1 << 20) + 10, '#')), Contains("less than 1 MiB"));
  CHECK(readCluster("/no/such/file.yaml").error().text() ==
        "/no/such/file.yaml: cluster file: expected a readable file, got: No such file or directory");
  CHECK(readCluster("/tmp").error().text() == "/tmp: cluster file: expected a file, got a directory");
  Folder folder;
  std::string path = folder.write("secret.yaml", complete);
  ::chmod(path.c_str(), 0);
  if (::geteuid() != 0) // root may read anything
    CHECK_THAT(readCluster(path).error().text(), Contains("Permission denied"));
}

TEST_CASE("every prefix of a file is read or refused without a crash") {
  for (size_t length = 0; length < complete.size(); length += 7)
    (void)readText(complete.substr(0, length));
}

TEST_CASE("a base is overridden key by key") {
  Folder folder;
  folder.write("base.yaml", complete);
  std::string path = folder.write("c.yaml", "base: base.yaml\nname: other\nhosts: 2\ninter: {latency: \"3 us\"}\n");
  Result<Cluster> cluster = readCluster(path);
  INFO((cluster ? "" : cluster.error().text()));
  REQUIRE(cluster);
  CHECK(cluster->name == "other");
  CHECK(cluster->hosts == 2);
  CHECK(cluster->inter.latency.value == Approx(3e-6));
  CHECK(cluster->inter.bandwidth.value == Approx(25e9));
  // The base's source is not one for a value that another file gives.
  CHECK(std::count(cluster->assumptions.begin(), cluster->assumptions.end(), "inter.latency: no source given") == 1);

  // An error names the file that it is in.
  folder.write("base.yaml", replaced(complete, "\"200 Gb/s\"", "200"));
  CHECK_THAT(readCluster(path).error().place, EndsWith("base.yaml:22"));
  folder.write("base.yaml", complete);
  folder.write("c.yaml", "base: base.yaml\nname: other\ninter: {latncy: \"3 us\"}\n");
  CHECK_THAT(readCluster(path).error().text(),
             Contains("c.yaml:3: inter.latncy") && Contains("did you mean \"latency\"?"));
  // A key that no file sets is missed in the caller's own, and may stand in those below it.
  folder.write("base.yaml", replaced(complete, "  latency: \"1.3 us\"\n", ""));
  folder.write("c.yaml", "base: base.yaml\nname: other\n");
  std::string missing =
      "inter.latency: expected this key, got none; set it in this file, or in one that it is based on (";
  CHECK_THAT(readCluster(path).error().text(), Contains("c.yaml: " + missing) && EndsWith("base.yaml:20)"));
  folder.write("c.yaml", "base: base.yaml\nname: other\ninter:\n  links: 1\n");
  CHECK_THAT(readCluster(path).error().text(), Contains("c.yaml:3: " + missing));
  folder.write("base.yaml", complete);
  folder.write("c.yaml", "base: none.yaml\nname: x\n");
  CHECK_THAT(readCluster(path).error().text(), Contains("none.yaml") && Contains("(base of") && Contains("c.yaml:1)"));
  folder.write("c.yaml", "base: c.yaml\nname: x\n");
  CHECK_THAT(readCluster(path).error().text(), Contains("a circle?"));
}

TEST_CASE("NCCL's bandwidth between hosts goes with the NICs: what a change of them leaves behind is named, with both "
          "places") {
  Folder folder;
  std::string base = std::string(BRAID_SOURCE_DIR) + "/cost_models/clusters/base/h100-roce.yaml";
  auto stale = [&](const std::string &keys) {
    std::string file = folder.write("mine.yaml", "base: " + base + "\nname: mine\nhosts: 3\ndevices_per_host: 4\n" +
                                                     keys + "topology: {builder: single_switch}\n");
    Result<Cluster> read = readCluster(file);
    REQUIRE(read);
    return read->staleNccl;
  };
  CHECK(stale("nics_per_host: 8\n").empty()); // what the base's bandwidth is for
  std::string fewer = stale("nics_per_host: 4\n");
  CHECK_THAT(fewer, Contains("h100.yaml:") && Contains("384 GB/s") && Contains("nics_per_host of ") &&
                        Contains("mine.yaml:5 ") && Contains("200 GB/s"));
  CHECK(stale("nics_per_host: 4\nnccl: {bus_bandwidth_inter: \"192 GB/s\"}\n").empty());
  CHECK_THAT(stale("nics_per_host: 16\n"), Contains("800 GB/s"));
  // A replaced value is another one, however near.
  CHECK_THAT(stale("nics_per_host: 8\ninter: {bandwidth: \"390 Gb/s\"}\n"), Contains("inter.bandwidth of "));
}

TEST_CASE("a wrong shape is one error with the line and the way out") {
  std::string hosts = "hosts: 4\ndevices_per_host: 2\nnics_per_host: 2\n";
  std::string alike = "; where hosts are alike, take the key out and set hosts, devices_per_host and nics_per_host";
  CHECK(errorOf(hosts, "host_groups: []\n") ==
        "c.yaml:2: host_groups: expected a list of mappings, got an empty list" + alike);
  CHECK(errorOf(hosts, "host_groups:\n") == "c.yaml:2: host_groups: expected a list of mappings, got nothing" + alike);
  CHECK_THAT(errorOf(hosts, "host_groups: [3]\n"),
             Contains("c.yaml:2: host_groups[0]: expected a mapping of keys, got \"3\""));
  CHECK(errorOf("device:\n", "device:\n  - a: b\nx:\n") == "c.yaml:6: device: expected a mapping of keys, got a list; "
                                                           "write \"key: value\", with neither dashes nor brackets");
  CHECK(errorOf("topology:\n  builder: single_switch", "topology:") ==
        "c.yaml:26: topology: expected a mapping of keys, got nothing; write its keys below it, indented by spaces");
  // base
  CHECK(errorOf("name: small", "base: [a, b]\nname: small") ==
        "c.yaml:1: base: expected the path of one file, got a list; a file has one base, which may have one itself");
  CHECK(errorOf("name: small", "name: small\nbase: {a: b}") ==
        "c.yaml:2: base: expected the path of a file, got a mapping");
  for (const char *nothing : {"base:", "base: ''", "base: '  '", "base: ~"})
    CHECK(errorOf("name: small", std::string(nothing) + "\nname: small") ==
          "c.yaml:1: base: expected the path of a file, got nothing; leave the key out where there is none");
  CHECK_THAT(errorOf("name: small", "base: a.yaml\nname: small\nbase: b.yaml"),
             Contains("c.yaml:3: base: expected once"));
  // An alias stands for what it names; mappings are not merged.
  std::string alias = replaced(complete, "latency: \"0.6 us\"", "latency: &l \"0.6 us\"");
  CHECK(readText(replaced(alias, "\"1.3 us\"", "*l"))->inter.latency.value == Approx(0.6e-6));
  CHECK_THAT(errorOf("\"1.3 us\"", "*l"),
             Contains("c.yaml:23: cluster file: expected YAML, got: the referenced anchor"));
  std::string merged = replaced(replaced(complete, "intra:\n", "intra: &i\n"), "inter:\n", "inter:\n  <<: *i\n");
  CHECK_THAT(errorOf(merged),
             Contains("c.yaml:21: inter.<<: expected no merge of mappings, got one; write the keys out") &&
                 Contains("base: FILE"));
}

TEST_CASE("a constant that no machine has is an error with the line and the range") {
  std::string bandwidth = "c.yaml:22: inter.bandwidth: expected a bandwidth from 1.00 kB/s to 1000000 TB/s, got \"";
  for (std::string wrong : {"1e-3 b/s", "7 kb/s", "1e30 b/s", "0 Gb/s", "-1 Gb/s", "-0 Gb/s", "nan Gb/s", "inf Gb/s",
                            "-inf Gb/s", "1e400 Gb/s", ".nan", ".inf", "-.inf"})
    CHECK(errorOf("\"200 Gb/s\"", "\"" + wrong + "\"") == bandwidth + wrong + "\"");
  for (std::string wrong : {"1e9 s", "11 s", "-1 us", "nan us", ".inf", "1e400 us"})
    CHECK(errorOf("\"1.3 us\"", "\"" + wrong + "\"") ==
          "c.yaml:23: inter.latency: expected a time from 0 s to 10.0 s, got \"" + wrong + "\"");
  for (std::string wrong : {"1 FLOP/s", "1e22 FLOP/s", "nan TFLOP/s", "-5 TFLOP/s"})
    CHECK(errorOf("\"100 TFLOP/s\"", "\"" + wrong + "\"") ==
          "c.yaml:8: device.peak.bf16: expected a rate from 1.00 kFLOP/s to 1000000 PFLOP/s, got \"" + wrong + "\"");
  for (std::string wrong : {".nan", "inf", "-1"})
    CHECK(errorOf("matmul_efficiency: 0.5", "matmul_efficiency: " + wrong) ==
          "c.yaml:9: device.matmul_efficiency: expected a number from 0.001 to 1, got " + wrong);
  // What machines have, the slowest and the fastest of them.
  for (const char *right : {"9600 b/s", "1 kB/s", "21 TB/s", "1000000 TB/s"})
    CHECK(readText(replaced(complete, "\"200 Gb/s\"", std::string("\"") + right + "\"")));
  for (const char *right : {"0 us", "0.1 ns", "300 ms", "10 s"})
    CHECK(readText(replaced(complete, "\"1.3 us\"", std::string("\"") + right + "\"")));
}

TEST_CASE("a source that says nothing is an error with the line") {
  std::string expected = ": expected a sentence that says where the figures are from (source) or why they are taken "
                         "(assumption), got ";
  for (std::string blank : {"\"\"", "\"   \"", "\"-\"", "\"?\"", "\"...\"", "\"n/a\"", "\"N/A\"",
                            "\"TO"
                            "DO\"",
                            "\"to"
                            "do: look it up\"",
                            "\"TBD\"",
                            "\"FIX"
                            "ME\"",
                            "\"none\"", "\"unknown\"", "\"source\"", "\"12\"", "\"x\""}) {
    CHECK(errorOf("source: made up for a test", "source: " + blank) == "c.yaml:5: source" + expected + blank);
    CHECK(errorOf("launch: \"5 us\"", "launch: {value: \"5 us\", assumption: " + blank + "}") ==
          "c.yaml:13: device.launch.assumption" + expected + blank);
  }
  CHECK_THAT(errorOf("  launch", "  source: [a]\n  launch"),
             Contains("c.yaml:13: device.source" + expected + "a list"));
  CHECK(errorOf("source: made up for a test", "source:") == "c.yaml:5: source" + expected + "nothing");
  for (const char *good : {"NDR port", "n/a is what the vendor says", "a guess", "资料"})
    CHECK(readText(replaced(complete, "made up for a test", good)));
}

TEST_CASE("the files that a cluster file reads") {
  Folder folder;
  std::string base = folder.write("base.yaml", complete), middle = folder.write("middle.yaml", "base: base.yaml\n");
  std::string path = folder.write("c.yaml", "base: middle.yaml\ntopology: {path_table: ports.txt}\n");
  CHECK(clusterFiles(path) == std::vector<std::string>{path, folder.path + "/ports.txt", middle, base});
  CHECK(clusterFiles(base) == std::vector<std::string>{base});
  CHECK(clusterFiles("/no/such/file.yaml") == std::vector<std::string>{"/no/such/file.yaml"});
}

TEST_CASE("constants say where they come from") {
  std::string text = replaced(complete, "source: made up for a test\n", "");
  Result<Cluster> bare = readText(text);
  CHECK(std::count(bare->assumptions.begin(), bare->assumptions.end(), "device.launch: no source given") == 1);
  text = replaced(complete, "launch: \"5 us\"", "launch: {value: \"5 us\", assumption: a guess}");
  Result<Cluster> guessed = readText(text);
  CHECK(std::count(guessed->assumptions.begin(), guessed->assumptions.end(), "device.launch: a guess") == 1);
  CHECK_THAT(errorOf("launch: \"5 us\"", "launch: {assumption: a guess}"),
             Contains("expected a value, got only its source"));
  CHECK_THAT(errorOf("launch: \"5 us\"", "launch: {value: \"5 us\", assumption: a guess, source: a sheet}"),
             Contains("got both"));
  CHECK_THAT(errorOf("launch: \"5 us\"", "launch: {value: \"5 us\", note: a}"), Contains("got \"note\""));
}

TEST_CASE("the hash is of the meaning") {
  std::string hash = readText(complete)->hash;
  CHECK(readText("# a comment\n" + complete)->hash == hash);
  CHECK(readText(replaced(complete, "\"200 Gb/s\"", "\"25 GB/s\""))->hash == hash);
  CHECK(readText(replaced(complete, "name: small", "name: other"))->hash == hash);
  CHECK(readText(replaced(complete, "made up", "measured"))->hash == hash);
  for (auto [from, to] : std::initializer_list<std::pair<const char *, const char *>>{
           {"hosts: 4", "hosts: 3"},
           {"\"200 Gb/s\"", "\"201 Gb/s\""},
           {"cpu: amd", "cpu: intel"},
           {"fabric: quiet", "fabric: nvlink"},
           {"fabric: infiniband", "fabric: infiniband\n    spike_index: 3"},
           {"f32: \"10", "f32: \"11"},
           {"launch: \"5 us\"", "launch: \"6 us\""}}) {
    INFO(to);
    CHECK(readText(replaced(complete, from, to))->hash != hash);
  }
}

TEST_CASE("placements") {
  Cluster c = *readText(complete); // 4 hosts x 2
  CHECK(readPlacement("packed", 8, c)->deviceOf == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(readPlacement("", 8, c)->deviceOf.size() == 8);
  Placement placed = *readPlacement("3:1,0:0,1:1", 3, c);
  CHECK(placed.deviceOf == std::vector<int>{7, 0, 3});
  CHECK(placed.hostOf(0, c) == 3);
  auto error = [&](const char *text, int ranks) { return readPlacement(text, ranks, c).error().text(); };
  CHECK(error("packed", 9) == "placement: expected at most 8 ranks, the devices of cluster small, got a program of 9");
  CHECK_THAT(error("packed", 4), Contains("expected 8 ranks") && Contains("for fewer say which: placement="));
  CHECK(error("0:0,0:0", 2) == "placement: expected a device for each rank, got 0:0 for ranks 0 and 1");
  CHECK_THAT(error("0:0,4:0", 2), Contains("expected a host below 4 and a gpu below 2 for rank 1, got 4:0"));
  CHECK_THAT(error("0:2", 1), Contains("got 0:2"));
  CHECK_THAT(error("0:0,1:0", 3), Contains("expected 3 entries, one for each rank, got 2"));
  for (const char *text :
       {"0", "0:", ":0", "0:0,", ",0:0", "0:0;1:0", "a:b", "-1:0", "0:99999999999", "0:0 ,1:0", "pcked"})
    CHECK_THAT(error(text, 1), Contains("placement: expected"));
}
