//===- ClusterReader.cpp - cluster files ------------------------------------------------------------------------===//
//
// The only reader of YAML. README.md beside this folder describes the keys. Nothing is thrown out of here.
//
// settings: all numbers here are the ranges of keys; what a key has if it is left out is in DefaultProfiles.cpp.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Topology.h"
#include "topology/ClusterHash.h"
#include "topology/DefaultProfiles.h"
#include "topology/LinksUp.h"
#include "topology/ReadFlowHash.h"
#include "topology/StaleBandwidth.h"
#include "topology/YamlFiles.h"
#include "topology/YamlSection.h"
#include <algorithm>
#include <climits>
#include <cstdio>

namespace braid::cost {

/// MLIR's spelling of the types that a device has a rate for. tf32 is no type of its own: see f32_dot.
static const std::vector<std::string> elementTypes = {"f64", "f32", "tf32", "bf16", "f16", "f8E4M3FN", "f8E5M2", "i8"};

//===- sections -------------------------------------------------------------------------------------------------===//

static bool onOrOff(YamlSection &section, const char *key, bool otherwise) {
  return section.has(key) ? section.oneOf(key, {"on", "off"}, true) == "on" : otherwise;
}

/// What a NIC is told decides how many ways the flows of a connection are hashed: queue pairs that share a source port
/// take one way, and with adaptive routing no flow is bound to one.
static void readNicKnobs(YamlSection &section, FabricProfile &p) {
  int queuePairs = section.has("queue_pairs") ? section.whole("queue_pairs", 1, 1 << 10, true) : 1;
  p.collisionFlowsPerNic = onOrOff(section, "distinct_source_ports", true) ? queuePairs : 1;
  if (section.has("most_queue_pairs"))
    p.mostFlowsPerNic = section.whole("most_queue_pairs", queuePairs, 64, true);
  if (p.mostFlowsPerNic > 0)
    p.flowCost = section.time("queue_pair_cost");
  else if (section.has("queue_pair_cost"))
    section.fail("queue_pair_cost", "expected most_queue_pairs beside it, of which plans choose, got none");
  p.adaptiveRouting = onOrOff(section, "adaptive_routing", false);
  if (p.adaptiveRouting)
    p.collisionUplinks = 0;
}

static FabricProfile readProfile(YamlSection section) {
  std::string fabric = section.oneOf("fabric", fabricNames());
  FabricProfile p = *defaultProfile(fabric);
  bool all = true; // whether the file replaces every default
  auto given = [&](const char *key) {
    bool has = section.has(key);
    all &= has;
    return has;
  };
  if (given("latency_rebase_sigma"))
    p.latencyRebaseSigma = section.number("latency_rebase_sigma", 0, 10);
  if (section.has("collision_uplinks"))
    p.collisionUplinks = section.whole("collision_uplinks", 0, 1 << 20, true);
  readNicKnobs(section, p);
  auto optional = [&](const char *key, double FabricProfile::*number, double least, double most) {
    if (section.has(key))
      p.*number = section.number(key, least, most);
  };
  optional("latency_sigma", &FabricProfile::latencySigma, 0, 10);
  optional("bandwidth_sigma", &FabricProfile::bandwidthSigma, 0, 10);
  optional("flow_sigma", &FabricProfile::flowSigma, 0, 10);
  optional("slow_flows", &FabricProfile::slowFlows, 0, 1);
  optional("slow_flow_bandwidth", &FabricProfile::slowFlowBandwidth, 0.001, 1);
  if (section.has("flows_drawn_per"))
    p.flowsPerJob = section.oneOf("flows_drawn_per", {"operation", "job"}, true) == "job";
  if (given("spike_probability"))
    p.spikeProbability = section.number("spike_probability", 0, 1);
  if (given("spike_minimum"))
    p.spikeMinimum = section.time("spike_minimum");
  if (given("spike_index"))
    p.spikeIndex = section.number("spike_index", 1.01, 100); // the mean of a Pareto tail is infinite up to 1
  if (given("pause_probability"))
    p.pauseProbability = section.number("pause_probability", 0, 1);
  if (given("pause_shortest"))
    p.pauseShortest = section.time("pause_shortest");
  if (given("pause_longest"))
    p.pauseLongest = section.time("pause_longest");
  if (given("bulk_mean"))
    p.bulkMean = section.number("bulk_mean", 0, 1000);
  if (given("bulk_sigma"))
    p.bulkSigma = section.number("bulk_sigma", 0, 10);
  if (section.has("correlation"))
    p.correlation = section.number("correlation", 0, 1);
  if (given("default_quantile"))
    p.defaultQuantile = section.number("default_quantile", 0.001, 0.999);
  if (p.pauseShortest > p.pauseLongest)
    section.fail("pause_shortest",
                 "expected at most pause_longest (" + toString(p.pauseLongest) + "), got " + toString(p.pauseShortest));
  if (p.pauseProbability > 0 && !(p.pauseShortest.value > 0))
    section.fail("pause_shortest", "expected above zero where there are pauses, got zero");
  if (p.spikeProbability > 0 && !(p.spikeMinimum.value > 0))
    section.fail("spike_minimum", "expected above zero where there are spikes, got zero");
  if (!all && fabric != "quiet")
    section.assume(defaultProfileReason(fabric));
  section.finish();
  return p;
}

/// "0-1:2 0-3": devices 0 and 1 of each host are joined by two links, 0 and 3 by one.
static std::vector<MeshLink> readMesh(YamlSection &section, int devices) {
  std::vector<MeshLink> mesh;
  std::string list = section.text("links");
  for (size_t at = 0; at < list.size();) {
    size_t end = std::min(list.find_first_of(" ,", at), list.size());
    std::string word = list.substr(at, end - at);
    at = end + 1;
    if (word.empty())
      continue;
    MeshLink link{-1, -1, 1};
    int used = 0, size = int(word.size());
    bool plain = std::sscanf(word.c_str(), "%d-%d%n", &link.a, &link.b, &used) == 2 && used == size;
    bool counted = !plain && std::sscanf(word.c_str(), "%d-%d:%d%n", &link.a, &link.b, &link.count, &used) == 3;
    if (!(plain || (counted && used == size)) || link.a < 0 || link.b < 0 || link.a == link.b || link.a >= devices ||
        link.b >= devices || link.count < 1 || link.count > 64)
      section.fail("links", "expected pairs of different devices below " + std::to_string(devices) +
                                " with the number of links, like \"0-1:2 0-3\", got \"" + word + "\"");
    for (const MeshLink &other : mesh)
      if ((other.a == link.a && other.b == link.b) || (other.a == link.b && other.b == link.a))
        section.fail("links", "expected each pair once, got \"" + word + "\" again");
    mesh.push_back(link);
  }
  if (mesh.empty())
    section.fail("links", "expected at least one pair of devices, got none");
  return mesh;
}

static LinkClass readLink(YamlSection section, bool profile, std::vector<MeshLink> *mesh = nullptr, int devices = 0) {
  LinkClass link;
  link.name = section.text("name");
  link.bandwidth = section.bandwidth("bandwidth");
  link.latency = section.time("latency");
  if (profile)
    link.profile = readProfile(section.section("profile"));
  else
    link.profile.name = "quiet"; // its noise is part of the network's
  if (mesh && section.has("links"))
    *mesh = readMesh(section, devices);
  section.finish();
  return link;
}

static Device readDevice(YamlSection section) {
  Device d;
  d.name = section.text("name");
  YamlSection peak = section.section("peak");
  for (const std::string &type : elementTypes)
    if (peak.has(type.c_str()))
      d.peak[type] = peak.flops(type.c_str());
  for (const std::string &key : peak.keys()) // finish() would name only the types that are there
    if (!d.peak.count(key) && key != "source" && key != "assumption") {
      std::string near = nearest(key, elementTypes);
      peak.fail(key.c_str(),
                "expected an element type in MLIR's spelling, got this one" +
                    (near.empty() ? std::string(" (like bf16, f8E4M3FN)") : "; did you mean \"" + near + "\"?"));
    }
  if (d.peak.empty())
    section.fail("peak", "expected the rate of at least one element type, got none");
  if (section.has("f32_dot")) {
    d.f32Dot = section.oneOf("f32_dot", {"f32", "tf32"}, true);
    if (!d.peak.count(d.f32Dot))
      section.fail("f32_dot", "expected an element type that peak gives the rate of, got \"" + d.f32Dot + "\"");
  }
  d.matmulEfficiency = section.number("matmul_efficiency", 0.001, 1);
  d.memoryBandwidth = section.bandwidth("memory_bandwidth");
  d.memoryEfficiency = section.number("memory_efficiency", 0.001, 1);
  d.memory = section.size("memory");
  if (d.memory.value == 0)
    section.fail("memory", "expected a size above zero, got zero");
  d.launch = section.time("launch");
  d.reduction = section.bandwidth("reduction");
  section.finish();
  return d;
}

static void readTopology(YamlSection section, Cluster &c) {
  c.topology = section.oneOf("builder", {"single_switch", "rail_optimized", "fat_tree", "three_tier"});
  // Keys of a base stay in force, so that another builder may find some that it can't mean.
  auto expectNone = [&](std::initializer_list<const char *> keys) {
    for (const char *key : keys)
      if (section.has(key))
        section.fail(key, "expected no such key with builder " + c.topology +
                              ", got one (those of a base stay in force; take one without a topology)");
  };
  if (c.topology == "single_switch")
    expectNone({"hosts_per_leaf", "oversubscription", "spine_latency"});
  if (c.topology != "three_tier")
    expectNone({"leaves_per_pod", "core_latency", "core_oversubscription"});
  if (c.topology == "rail_optimized" && section.has("hosts_per_leaf") &&
      section.fileOf("hosts_per_leaf") !=
          section.fileOf("builder")) // without the key all hosts are on one leaf of each rail
    section.assume("hosts_per_leaf is that of " + section.fileOf("hosts_per_leaf") +
                   ", beside builder rail_optimized of " + section.fileOf("builder"));
  c.hostsPerLeaf = c.hosts;
  if (c.topology != "single_switch") {
    if (c.topology != "rail_optimized" || section.has("hosts_per_leaf"))
      c.hostsPerLeaf = section.whole("hosts_per_leaf", 1, INT_MAX);
    if (section.has("oversubscription"))
      c.oversubscription = section.number("oversubscription", 1, 1000);
    c.spineLatency = section.time("spine_latency");
  }
  if (c.topology == "three_tier") {
    c.leavesPerPod = section.whole("leaves_per_pod", 1, INT_MAX);
    if (section.has("core_oversubscription"))
      c.coreOversubscription = section.number("core_oversubscription", 1, 1000);
    c.coreLatency = section.time("core_latency");
  }
  if (section.has("planes"))
    c.planes = section.whole("planes", 1, 8);
  if (section.has("routing")) {
    std::string routing = section.oneOf("routing", {"static", "hash", "shared_hash"});
    c.routing = routing == "static" ? Routing::Static : routing == "hash" ? Routing::Hash : Routing::SharedHash;
    if (c.routing != Routing::Static && c.inter.profile.collisionUplinks > 0)
      section.fail("routing",
                   "expected inter.profile.collision_uplinks of 0 beside a routing that hashes flow by flow, "
                   "got " +
                       std::to_string(c.inter.profile.collisionUplinks) + "; collisions would count twice");
  }
  if (section.has("hash_seed"))
    c.hashSeed = uint64_t(section.whole("hash_seed", 0, INT_MAX));
  readFlowHash(section, c);
  c.contention = onOrOff(section, "contention", true);
  if (!c.contention)
    section.assume("contention is off: a what-if, no fabric gives all who share a link its whole bandwidth");
  section.finish();
}

/// What a device of each of these kinds reaches.
static Device leastOf(const std::vector<HostGroup> &groups) {
  Device all = groups[0].device;
  for (const HostGroup &group : groups) {
    const Device &d = group.device;
    if (all.name.find(d.name) == std::string::npos)
      all.name += " and " + d.name;
    for (auto rate = all.peak.begin(); rate != all.peak.end();) {
      auto other = d.peak.find(rate->first);
      if (other == d.peak.end()) {
        rate = all.peak.erase(rate);
        continue;
      }
      if (other->second.value * d.matmulEfficiency < rate->second.value * all.matmulEfficiency)
        rate->second = {other->second.value * d.matmulEfficiency / all.matmulEfficiency};
      ++rate;
    }
    if (d.f32Dot != all.f32Dot)
      all.f32Dot = "f32";
    if (d.memoryBandwidth.value * d.memoryEfficiency < all.memoryBandwidth.value * all.memoryEfficiency)
      all.memoryBandwidth = d.memoryBandwidth * (d.memoryEfficiency / all.memoryEfficiency);
    all.memory = std::min(all.memory, d.memory);
    all.launch = std::max(all.launch, d.launch);
    all.reduction = std::min(all.reduction, d.reduction);
  }
  return all;
}

/// Either hosts, devices_per_host and nics_per_host, or host_groups: a list of mappings of these three, each with a
/// device of its own if it is another kind.
static void readHosts(YamlSection &file, Cluster &c) {
  c.device = readDevice(file.section("device"));
  if (!file.has("host_groups")) {
    c.hosts = file.whole("hosts", 1, 1 << 17);
    c.devicesPerHost = file.whole("devices_per_host", 1, 1 << 10);
    c.nicsPerHost = file.whole("nics_per_host", c.hosts > 1 ? 1 : 0, 1 << 10);
    return;
  }
  std::vector<YamlSection> sections = file.sections(
      "host_groups", "where hosts are alike, take the key out and set hosts, devices_per_host and nics_per_host");
  for (const char *replaced : {"hosts", "devices_per_host", "nics_per_host"})
    file.replaced(replaced, "host_groups");
  for (YamlSection &section : sections) {
    HostGroup group;
    group.hosts = section.whole("hosts", 1, 1 << 17);
    group.devicesPerHost = section.whole("devices_per_host", 1, 1 << 10);
    group.nicsPerHost = section.whole("nics_per_host", 1, 1 << 10);
    group.device = section.has("device") ? readDevice(section.section("device")) : c.device;
    section.finish();
    c.hosts += group.hosts;
    c.devicesPerHost = std::max(c.devicesPerHost, group.devicesPerHost);
    c.nicsPerHost = std::max(c.nicsPerHost, group.nicsPerHost);
    c.groups.push_back(std::move(group));
  }
  if (c.hosts > 1 << 17)
    file.fail("host_groups",
              "expected at most " + std::to_string(1 << 17) + " hosts in all, got " + std::to_string(c.hosts));
  c.device = leastOf(c.groups);
  if (c.device.peak.empty())
    file.fail("host_groups", "expected devices with the rate of one element type in common, got none");
}

/// Types that a switch may sum.
static const std::vector<std::string> summed = {"f64", "f32",  "bf16", "f16",  "f8E4M3FN", "f8E5M2", "i8",
                                                "i16", "i32",  "i64",  "ui8",  "ui16",     "ui32",   "ui64",
                                                "si8", "si16", "si32", "si64", "i1"};

/// types: words with spaces between them.
static InNetwork readInNetwork(YamlSection section) {
  InNetwork n;
  n.at = section.oneOf("at", {"host", "fabric"}, true);
  std::string word;
  for (char c : section.text("types") + " ") {
    if (c != ' ' && c != ',') {
      word += c;
    } else if (!word.empty()) {
      if (std::find(summed.begin(), summed.end(), word) == summed.end()) {
        std::string near = nearest(word, summed);
        section.fail("types",
                     "expected element types in MLIR's spelling, got \"" + word + "\"" +
                         (near.empty() ? std::string(" (like f32, bf16, i32)") : "; did you mean \"" + near + "\"?"));
      }
      n.types.push_back(word);
      word.clear();
    }
  }
  if (section.has("smallest"))
    n.smallest = section.size("smallest");
  n.largest = section.size("largest");
  if (n.largest < n.smallest)
    section.fail("largest", "expected at least smallest, " + toString(n.smallest) + ", got " + toString(n.largest));
  n.groups = section.whole("groups", 1, 1 << 20, true);
  section.finish();
  return n;
}

static ComputeNoise readCompute(YamlSection section) {
  ComputeNoise noise;
  auto optional = [](YamlSection &part, const char *key, double &number, double least, double most) {
    if (part.has(key))
      number = part.number(key, least, most);
  };
  if (section.has("skew")) {
    YamlSection skew = section.section("skew");
    optional(skew, "per_job", noise.skewPerJob, 0, 10);
    optional(skew, "per_step", noise.skewPerStep, 0, 10);
    skew.finish();
  }
  if (section.has("slowdown")) {
    YamlSection slowdown = section.section("slowdown");
    optional(slowdown, "intra", noise.slowdown[0], 1, 100);
    optional(slowdown, "inter", noise.slowdown[1], 1, 100);
    slowdown.finish();
  }
  section.finish();
  return noise;
}

static NcclSettings readNccl(YamlSection section) {
  NcclSettings n;
  n.busBandwidthIntra = section.bandwidth("bus_bandwidth_intra");
  n.busBandwidthInter = section.bandwidth("bus_bandwidth_inter");
  n.architecture = section.oneOf("architecture", {"volta", "ampere", "hopper", "blackwell"});
  n.cpu = section.oneOf("cpu", {"intel", "amd", "other"}, true);
  n.channels = section.whole("channels", 1, 64, true); // NCCL's own limit
  section.finish();
  return n;
}

/// All constants of a calibrated model: a set that leaves some out would mix two fits.
static FittedConstants readFit(YamlSection section, CalibratedModel model) {
  FittedConstants fitted;
  for (const ConstantInfo &info : constantsOf(model)) {
    double least = info.start / ranges::fitted, value = section.number(info.key, 0, info.start * ranges::fitted);
    if (value < least && (value > 0 || info.divides))
      section.fail(info.key, std::string("expected ") + (info.divides ? "" : "0 (it counts for nothing) or ") +
                                 "a number from " + numberText(least) + " to " +
                                 numberText(info.start * ranges::fitted) + ", got " + numberText(value));
    fitted.push_back(value);
  }
  section.finish();
  return fitted;
}

static void readCalibration(YamlSection section, Cluster &c) {
  for (CalibratedModel model : {CalibratedModel::Nccl, CalibratedModel::Messages})
    if (section.has(name(model)))
      (model == CalibratedModel::Nccl ? c.ncclFit : c.messageFit) = readFit(section.section(name(model)), model);
  section.finish();
}

static Cluster readChecked(const std::string &path, const std::vector<ClusterOverride> &overrides) {
  Cluster c;
  c.path = path;
  std::vector<PlacedNode> layers = readLayers(path, overrides);
  Provenance provenance;
  YamlSection file("", layers, nullptr, provenance);
  if (file.has("base"))
    file.text("base");
  c.name = file.text("name");
  readHosts(file, c);
  int fewest = c.devicesPerHost;
  for (const HostGroup &group : c.groups)
    fewest = std::min(fewest, group.devicesPerHost);
  c.intra = readLink(file.section("intra"), true, &c.mesh, fewest);
  c.inter = readLink(file.section("inter"), true);
  if (file.has("host_link")) {
    c.hostLink = readLink(file.section("host_link"), false);
  } else {
    c.hostLink.name = "host link";
    c.hostLink.bandwidth = c.inter.bandwidth;
    c.hostLink.profile.name = "quiet";
  }
  readTopology(file.section("topology"), c);
  if (std::string note = settleCollisions(c); !note.empty())
    provenance.assumptions.push_back(std::move(note));
  if (file.has("compute"))
    c.compute = readCompute(file.section("compute"));
  if (file.has("in_network"))
    c.inNetwork = readInNetwork(file.section("in_network"));
  c.nccl = readNccl(file.section("nccl"));
  if (file.has("calibration"))
    readCalibration(file.section("calibration"), c);
  file.finish();
  c.assumptions = std::move(provenance.assumptions);
  c.written = std::move(provenance.written);
  c.staleNccl = staleBandwidth(layers, c);
  c.unreachableNccl = unreachableBandwidth(layers, c);
  // The noise that matters for the choice of a quantile is the network's, if there is one.
  c.defaultQuantile = c.hosts > 1 ? c.inter.profile.defaultQuantile : c.intra.profile.defaultQuantile;
  if (c.flowHash.table) // has to fit what was built
    if (Result<Topology> topology = Topology::build(c); !topology)
      throw ReadError{topology.error()};
  c.hash = hashOf(c);
  return c;
}

/// The error on one line: what the file says may have line ends and other control characters in it.
static Error onOneLine(Error error) {
  std::string out;
  for (char c : error.message)
    if (c == '\n')
      out += "\\n";
    else if ((unsigned char)c < 0x20 || c == 0x7f)
      out += '?';
    else
      out += c;
  error.message = std::move(out);
  return error;
}

Result<Cluster> readCluster(const std::string &path, const std::vector<ClusterOverride> &overrides) {
  try {
    return readChecked(path, overrides);
  } catch (const ReadError &error) {
    return onOneLine(error.error);
  } catch (const YAML::Exception &exception) {
    std::string place = exception.mark.is_null() ? path : path + ":" + std::to_string(exception.mark.line + 1);
    return onOneLine({"cluster file: expected YAML, got: " + exception.msg, place});
  } catch (const std::exception &exception) {
    return Error{std::string("cluster file: expected to read it, got: ") + exception.what(), path};
  }
}

FlopsPerSecond Device::dotPeak(const std::string &elementType, bool *assumed) const {
  if (assumed)
    *assumed = false;
  auto found = peak.find(elementType == "f32" ? f32Dot : elementType);
  if (found == peak.end() && elementType == "f32")
    found = peak.find("f32");
  if (found != peak.end())
    return found->second;
  if (assumed)
    *assumed = true;
  found = peak.find("f32");
  if (found != peak.end())
    return found->second;
  FlopsPerSecond least{};
  for (const auto &[type, rate] : peak)
    if (least.value == 0 || rate.value < least.value)
      least = rate;
  return least;
}

} // namespace braid::cost
