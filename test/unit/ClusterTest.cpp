//===- ClusterTest.cpp - cluster files and placements -----------------------------------------------------------===//
#include "ClusterTexts.h"
#include "braid/cost_models/EmitProfile.h"
#include "braid/cost_models/Price.h"
#include "braid/cost_models/Topology.h"
#include <algorithm>

using namespace braid::cost;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

static const std::string clusters = std::string(BRAID_SOURCE_DIR) + "/cost_models/clusters/";

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

TEST_CASE("skew and slowdown of computation are the cluster file's, and count in the hash only where they are") {
  auto with = [](const std::string &section) { return *readText(replaced(complete, "nccl:\n", section + "nccl:\n")); };
  Cluster plain = *readText(complete);
  CHECK_FALSE(plain.compute.skewed());
  CHECK_FALSE(plain.compute.slowed());
  CHECK(resolvedCompute(plain).empty());
  CHECK(with("compute:\n  skew: {per_job: 0}\n  slowdown: {intra: 1, inter: 1}\n").hash == plain.hash);
  std::vector<std::string> hashes = {plain.hash};
  for (std::string section : {"skew: {per_job: 0.02}", "skew: {per_step: 0.02}", "slowdown: {intra: 1.2}",
                              "slowdown: {inter: 1.2}", "slowdown: {intra: 1.2, inter: 1.2}"}) {
    Cluster c = with("compute:\n  " + section + "\n");
    CHECK(std::count(hashes.begin(), hashes.end(), c.hash) == 0);
    hashes.push_back(c.hash);
  }
  Cluster c = with("compute:\n  skew:\n    per_job: {value: 0.02, assumption: an example}\n    per_step: 0.01\n"
                   "  slowdown:\n    source: a paper\n    inter: 1.05\n");
  CHECK(c.compute.skewPerJob == 0.02);
  CHECK(c.compute.skewPerStep == 0.01);
  CHECK(c.compute.slowdown[int(Fabric::Intra)] == 1);
  CHECK(c.compute.slowdown[int(Fabric::Inter)] == 1.05);
  CHECK(std::count(c.assumptions.begin(), c.assumptions.end(), "compute.skew.per_job: an example") == 1);
  std::vector<ResolvedConstant> shown = resolvedCompute(c);
  REQUIRE(shown.size() == 4);
  CHECK(shown[0].key == "skew.per_job");
  CHECK(shown[0].value == "0.02");
  CHECK(shown[2].origin == "default");
  CHECK_THAT(shown[3].origin, Contains("c.yaml:"));
  Folder folder;
  std::string path = folder.write("c.yaml", complete);
  CHECK(readCluster(path, {{"compute.slowdown.inter", "1.4"}})->compute.slowdown[int(Fabric::Inter)] == 1.4);
  // A base's section is taken over key by key.
  folder.write("base.yaml", complete + "compute: {skew: {per_job: 0.02}, slowdown: {intra: 1.2}}\n");
  Cluster based = *readCluster(folder.write("on.yaml", "base: base.yaml\ncompute: {skew: {per_step: 0.01}}\n"));
  CHECK(based.compute.skewPerJob == 0.02);
  CHECK(based.compute.skewPerStep == 0.01);
  CHECK(based.compute.slowdown[int(Fabric::Intra)] == 1.2);
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
