//===- Resolved.cpp - the constants of a link class as prices see them, and where each comes from -----------------===//
#include "topology/DefaultProfiles.h"
#include "topology/YamlSection.h"
#include <algorithm>

namespace braid::cost {

static std::string fileName(const std::string &place) { return place.substr(place.rfind('/') + 1); }

/// Where the constant stands, and whether braid-bench fit put it there; `otherwise`: where it stands nowhere.
static std::string originOf(const Cluster &cluster, const std::string &key, const std::string &otherwise) {
  auto found = std::find_if(cluster.written.begin(), cluster.written.end(),
                            [&](const WrittenConstant &constant) { return constant.key == key; });
  if (found == cluster.written.end())
    return otherwise;
  bool fitted = found->source.rfind("fit of ", 0) == 0 || found->source.rfind("fit: ", 0) == 0;
  return (fitted ? "fit, " : "") + fileName(found->place);
}

std::vector<ResolvedConstant> resolved(const Cluster &cluster, const std::string &name) {
  const LinkClass &link = name == "intra" ? cluster.intra : name == "inter" ? cluster.inter : cluster.hostLink;
  const FabricProfile &p = link.profile;
  std::vector<ResolvedConstant> all;
  auto of = [&](const std::string &section, const char *key, const std::string &value, const std::string &otherwise) {
    all.push_back({key, value, originOf(cluster, section + "." + key, otherwise)});
  };
  std::string none = name == "host_link" ? "default: there is no host_link" : "default";
  of(name, "bandwidth", toString(link.bandwidth), none);
  of(name, "latency", toString(link.latency), none);
  if (name == "host_link")
    return all;
  auto number = [&](const char *key, double value) {
    of(name + ".profile", key, numberText(value), "default of " + p.name);
  };
  auto time = [&](const char *key, Seconds value) {
    of(name + ".profile", key, toString(value), "default of " + p.name);
  };
  auto word = [&](const char *key, const char *value) { of(name + ".profile", key, value, "default of " + p.name); };
  number("latency_rebase_sigma", p.latencyRebaseSigma);
  number("collision_uplinks", p.collisionUplinks);
  number("queue_pairs", p.collisionFlowsPerNic);
  if (p.mostFlowsPerNic > 0) {
    number("most_queue_pairs", p.mostFlowsPerNic);
    time("queue_pair_cost", p.flowCost);
  }
  word("adaptive_routing", p.adaptiveRouting ? "on" : "off");
  number("latency_sigma", p.latencySigma);
  number("bandwidth_sigma", p.bandwidthSigma);
  number("flow_sigma", p.flowSigma);
  number("slow_flows", p.slowFlows);
  number("slow_flow_bandwidth", p.slowFlowBandwidth);
  word("flows_drawn_per", p.flowsPerJob ? "job" : "operation");
  number("spike_probability", p.spikeProbability);
  time("spike_minimum", p.spikeMinimum);
  number("spike_index", p.spikeIndex);
  number("pause_probability", p.pauseProbability);
  time("pause_shortest", p.pauseShortest);
  time("pause_longest", p.pauseLongest);
  number("bulk_mean", p.bulkMean);
  number("bulk_sigma", p.bulkSigma);
  number("correlation", p.correlation);
  number("default_quantile", p.defaultQuantile);
  return all;
}

std::vector<ResolvedConstant> resolvedCalibration(const Cluster &cluster, const std::string &model) {
  CalibratedModel known = model == "nccl" ? CalibratedModel::Nccl : CalibratedModel::Messages;
  const FittedConstants &values = known == CalibratedModel::Nccl ? cluster.ncclFit : cluster.messageFit;
  std::vector<ResolvedConstant> all;
  for (size_t i = 0; i < values.size(); ++i) {
    const char *key = constantsOf(known)[i].key;
    all.push_back({key, numberText(values[i]), originOf(cluster, "calibration." + model + "." + key, "default")});
  }
  return all;
}

std::vector<ResolvedConstant> resolvedCompute(const Cluster &cluster) {
  const std::string section = "compute.";
  std::vector<ResolvedConstant> all;
  if (std::none_of(cluster.written.begin(), cluster.written.end(),
                   [&](const WrittenConstant &constant) { return constant.key.rfind(section, 0) == 0; }))
    return all;
  const ComputeNoise &noise = cluster.compute;
  for (auto [key, value] :
       {std::pair("skew.per_job", noise.skewPerJob), std::pair("skew.per_step", noise.skewPerStep),
        std::pair("slowdown.intra", noise.slowdown[0]), std::pair("slowdown.inter", noise.slowdown[1])})
    all.push_back({key, numberText(value), originOf(cluster, section + key, "default")});
  return all;
}

} // namespace braid::cost
