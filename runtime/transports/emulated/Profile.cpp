//===- Profile.cpp - reading a fabric's profile -----------------------------------------------------------------===//
//
//   {"format": "braid-fabric 1", "cluster": "...", "ranks": 8, "devices": [...], "hosts": [...],
//    "launch_s": 5e-6, "reduction_bytes_per_s": 8.9e11,                   or a list, one number for each rank
//    "noise": {"intra": {"bulk_mean": ...}, "inter": {...}},              the names of the cluster file, times in seconds
//    "compute": {"skew": {"per_job": 0.02, "per_step": 0.01},             where given: sigma of ln(factor on a rank's computation)
//                "slowdown": {"intra": 1.2, "inter": 1.05}},              factor on it while operations inside or between hosts
//                                                                         are in flight
//    "links": [[bytes per second, latency in seconds, 0 intra or 1 inter, spine or -1], ...],
//    "paths": [[link, link, ...], ...]}                                   source * ranks + target; or a list of several
//                                                                         paths, which carry equal parts of a message
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/emulated/Profile.h"
#include "json/Json.h"
#include <cmath>
#include <cstdio>
#include <limits>

namespace braid::runtime {

double EmulatedProfile::latency(int source, int target) const {
  double sum = 0;
  for (int link : path(source, target))
    sum += links[link].latency;
  return sum;
}

double EmulatedProfile::shortestLatency() const {
  double shortest = std::numeric_limits<double>::infinity();
  for (int source = 0; source < ranks; ++source)
    for (int target = 0; target < ranks; ++target)
      if (source != target)
        shortest = std::min(shortest, latency(source, target));
  return std::isfinite(shortest) ? shortest : 0;
}

static draws::Noise noiseOf(const Json &json) {
  draws::Noise noise;
  noise.latencyRebaseSigma = json["latency_rebase_sigma"].number();
  noise.collisionUplinks = int(json["collision_uplinks"].number());
  noise.collisionFlowsPerNic = int(json["collision_flows_per_nic"].number(1));
  noise.latencySigma = json["latency_sigma"].number();
  noise.bandwidthSigma = json["bandwidth_sigma"].number();
  noise.flowSigma = json["flow_sigma"].number();
  noise.slowFlows = json["slow_flows"].number();
  noise.slowFlowBandwidth = json["slow_flow_bandwidth"].number(0.5);
  noise.flowsPerJob = json["flows_per_job"].number() != 0;
  noise.spikeProbability = json["spike_probability"].number();
  noise.spikeMinimum = json["spike_minimum"].number();
  noise.spikeIndex = json["spike_index"].number(2);
  noise.pauseProbability = json["pause_probability"].number();
  noise.pauseShortest = json["pause_shortest"].number();
  noise.pauseLongest = json["pause_longest"].number();
  noise.bulkMean = json["bulk_mean"].number();
  noise.bulkSigma = json["bulk_sigma"].number(0.5);
  noise.correlation = json["correlation"].number();
  return noise;
}

/// One number for all ranks, or one for each.
static std::vector<double> byRank(const Json &json, int ranks) {
  std::vector<double> all;
  for (const Json &one : json.items())
    all.push_back(one.number());
  return json.kind() == Json::Array ? all : std::vector<double>(size_t(ranks), json.number());
}

/// The links of one path; an error, or an empty string.
static std::string readPath(const Json &json, size_t links, std::vector<int> &path) {
  if (json.size() > EmulatedProfile::longestPath)
    return "paths: expected at most " + std::to_string(EmulatedProfile::longestPath) + " links each, got " +
           std::to_string(json.size());
  for (const Json &link : json.items()) {
    if (!(link.number(-1) >= 0 && link.number() < double(links)))
      return "paths: expected links below " + std::to_string(links);
    path.push_back(int(link.number()));
  }
  return "";
}

/// Sets what the section `compute` states; an error, or an empty string. What it leaves out stays as it is.
static std::string readCompute(const Json &json, EmulatedProfile &p) {
  struct Setting {
    const char *part, *key;
    double least, most; ///< as in cluster files
    double &value;
  };
  const Setting settings[] = {
      {"skew", "per_job", 0, 10, p.skewPerJob},
      {"skew", "per_step", 0, 10, p.skewPerStep},
      {"slowdown", "intra", 1, 100, p.slowdown[int(LinkClass::Intra)]},
      {"slowdown", "inter", 1, 100, p.slowdown[int(LinkClass::Inter)]},
  };
  const std::string wayOut = "; braid-sim emit-profile writes it from a cluster file";
  if (json.kind() != Json::Object)
    return "compute: expected an object with skew or slowdown" + wayOut;
  for (const auto &[part, section] : json.fields()) {
    if (part != "skew" && part != "slowdown")
      return "compute: expected skew or slowdown, got \"" + part + "\"" + wayOut;
    if (section.kind() != Json::Object)
      return "compute." + part + ": expected an object of numbers" + wayOut;
    std::string known;
    for (const auto &[key, number] : section.fields()) {
      const Setting *found = nullptr;
      known.clear();
      for (const Setting &setting : settings)
        if (part == setting.part) {
          known += (known.empty() ? "" : " or ") + std::string(setting.key);
          found = key == setting.key ? &setting : found;
        }
      if (!found)
        return "compute." + part + ": expected " + known + ", got \"" + key + "\"" + wayOut;
      bool isNumber = number.kind() == Json::Number;
      if (!isNumber || !(number.number() >= found->least && number.number() <= found->most)) {
        char text[96];
        std::snprintf(text, sizeof text, ": expected a number from %g to %g", found->least, found->most);
        std::string got(text);
        if (isNumber) {
          std::snprintf(text, sizeof text, ", got %g", number.number());
          got += text;
        }
        return "compute." + part + "." + key + got + wayOut;
      }
      found->value = number.number();
    }
  }
  return "";
}

static std::string fill(const Json &json, EmulatedProfile &p) {
  if (json["format"].text() != "braid-fabric 1")
    return "format: expected \"braid-fabric 1\", got \"" + json["format"].text() + "\"";
  p.cluster = json["cluster"].text();
  p.ranks = int(json["ranks"].number());
  if (p.ranks < 1)
    return "ranks: expected at least 1, got " + std::to_string(p.ranks);
  for (const Json &device : json["devices"].items())
    p.device.push_back(int(device.number()));
  for (const Json &host : json["hosts"].items())
    p.host.push_back(int(host.number()));
  p.launch = byRank(json["launch_s"], p.ranks);
  p.reduction = byRank(json["reduction_bytes_per_s"], p.ranks);
  p.noise[int(LinkClass::Intra)] = noiseOf(json["noise"]["intra"]);
  p.noise[int(LinkClass::Inter)] = noiseOf(json["noise"]["inter"]);
  for (const draws::Noise &noise : p.noise)
    if (!(noise.slowFlowBandwidth > 0 && noise.slowFlowBandwidth <= 1))
      return "slow_flow_bandwidth: expected above 0 and at most 1";
  if (const Json &compute = json["compute"]; !compute.isNull())
    if (std::string error = readCompute(compute, p); !error.empty())
      return error;
  for (const Json &link : json["links"].items()) {
    if (link.size() != 4)
      return "links: expected 4 numbers each, got " + std::to_string(link.size());
    EmulatedLink l;
    l.bandwidth = link[0].number();
    l.latency = link[1].number();
    l.of = link[2].number() == 0 ? LinkClass::Intra : LinkClass::Inter;
    l.spine = int(link[3].number());
    if (!(l.bandwidth > 0) || !(l.latency >= 0))
      return "links: expected a bandwidth above 0 and a latency that is not negative";
    p.links.push_back(l);
  }
  for (const Json &path : json["paths"].items()) {
    bool several = path.size() > 0 && path[0].kind() == Json::Array;
    p.ways.emplace_back(several ? path.size() : 1);
    for (size_t way = 0; way < p.ways.back().size(); ++way)
      if (std::string error = readPath(several ? path[int(way)] : path, p.links.size(), p.ways.back()[way]);
          !error.empty())
        return error;
  }
  size_t ranks = size_t(p.ranks);
  if (p.device.size() != ranks || p.host.size() != ranks || p.ways.size() != ranks * ranks ||
      p.launch.size() != ranks || p.reduction.size() != ranks)
    return "expected a device, a host, a launch, a reduction and a path to each rank for each of " +
           std::to_string(p.ranks) + " ranks";
  return "";
}

std::string EmulatedProfile::parse(const std::string &text, EmulatedProfile &profile) {
  Json json;
  std::string error = Json::parse(text, json);
  return error.empty() ? fill(json, profile) : error;
}

std::string EmulatedProfile::read(const std::string &path, EmulatedProfile &profile) {
  Json json;
  std::string error = Json::read(path, json);
  if (error.empty() && !(error = fill(json, profile)).empty())
    error = path + ": " + error;
  return error;
}

} // namespace braid::runtime
