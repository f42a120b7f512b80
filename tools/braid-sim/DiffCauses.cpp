//===- DiffCauses.cpp - what made two plans of one program differ ------------------------------------------------===//
//
// Whatever differs between the two requests is put into A's alone, and A is planned again: what changes its launches is a
// cause. Several together may be needed for a difference; then none alone changes anything, and that is said.
//===------------------------------------------------------------------------------------------------------------===//
#include "DiffPlans.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <optional>
#include <set>

using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;

namespace {

/// What a plan is made from.
struct Inputs {
  cost::Program program;
  cost::Cluster cluster;
  cost::PlanOptions options;
  cost::Engine engine;
  std::string placement, target;
};

struct Item {
  std::string key;
  std::function<std::string(const Inputs &)> text; ///< equal: nothing differs
  std::function<void(Inputs &, const Inputs &)> take;
};

/// Two numbers that differ read differently, unless only in the last of what a double holds.
std::string number(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.15g", value);
  return text;
}

/// In three digits, as reports write it, where these are all of it; else in `unit`, which is `scale` of it.
template <class Quantity>
std::string text(Quantity value, cost::Result<Quantity> (*parse)(const std::string &), double scale, const char *unit) {
  std::string rounded = cost::toString(value);
  cost::Result<Quantity> read = parse(rounded);
  return read && read->value == value.value ? rounded : number(value.value * scale) + unit;
}
std::string text(cost::Seconds value) { return text(value, cost::parseSeconds, 1e6, " us"); }
std::string text(cost::BytesPerSecond value) { return text(value, cost::parseBytesPerSecond, 1e-9, " GB/s"); }

/// `member`: &Cluster::hosts, ...
template <class Member, class Text, class Take> Item ofCluster(const char *key, Member member, Text text, Take take) {
  return {key, [=](const Inputs &in) { return std::string(text(in.cluster.*member)); },
          [=](Inputs &in, const Inputs &from) { take(in.cluster.*member, from.cluster.*member); }};
}
template <class Member, class Text> Item ofCluster(const char *key, Member member, Text text) {
  return ofCluster(key, member, text, [](auto &value, const auto &from) { value = from; });
}

template <class Member, class Text>
Item ofLink(const std::string &link, cost::LinkClass cost::Cluster::*which, const char *key, Member member, Text text) {
  return {link + "." + key, [=](const Inputs &in) { return std::string(text((in.cluster.*which).*member)); },
          [=](Inputs &in, const Inputs &from) { (in.cluster.*which).*member = (from.cluster.*which).*member; }};
}

template <class Member>
Item ofProfile(const std::string &link, cost::LinkClass cost::Cluster::*which, const char *key, Member member) {
  auto shown = [](auto value) {
    if constexpr (std::is_same_v<decltype(value), cost::Seconds>)
      return text(value);
    else if constexpr (std::is_same_v<decltype(value), std::string>)
      return value;
    else
      return number(double(value));
  };
  return {link + ".profile." + key, [=](const Inputs &in) { return shown((in.cluster.*which).profile.*member); },
          [=](Inputs &in, const Inputs &from) {
            (in.cluster.*which).profile.*member = (from.cluster.*which).profile.*member;
          }};
}

std::string nccl(const cost::NcclSettings &settings) {
  return cost::toString(settings.busBandwidthIntra) + " inside, " + cost::toString(settings.busBandwidthInter) +
         " between hosts, " + settings.architecture + ", " + settings.cpu + ", " + std::to_string(settings.channels) +
         " channels";
}

std::string flowHash(const cost::FlowHash &hash) {
  if (!hash.chooses())
    return "no source ports to choose";
  std::string text = hash.table                               ? "table " + hash.table->meaning()
                     : hash.function == cost::FlowHash::Crc32 ? "crc32 of"
                                                              : "mix of";
  for (int field = 0; !hash.table && field < cost::FlowHash::fields; ++field)
    if (hash.reads[field])
      text += std::string(" ") + cost::flowHashFields[field];
  return llvm::formatv("{0}, source ports {1}..{2} to {3}, protocol {4}, addresses {5}", text, hash.firstPort,
                       hash.lastPort, hash.destinationPort, hash.protocol,
                       hash.addresses.empty() ? "by number" : hash.addresses);
}

std::vector<Item> items() {
  using cost::Cluster;
  using cost::FabricProfile;
  auto plain = [](const auto &value) { return number(double(value)); };
  auto word = [](const std::string &value) { return value; };
  auto time = [](cost::Seconds value) { return text(value); };
  auto rate = [](cost::BytesPerSecond value) { return text(value); };
  std::vector<Item> all;
  all.push_back({"engine", [](const Inputs &in) { return std::string(cost::name(in.engine)); },
                 [](Inputs &in, const Inputs &from) { in.engine = from.engine; }});
  all.push_back({"target", [](const Inputs &in) { return in.target; },
                 [](Inputs &in, const Inputs &from) { in.target = from.target; }});
  all.push_back({"placement", [](const Inputs &in) { return in.placement; },
                 [](Inputs &in, const Inputs &from) { in.placement = from.placement; }});
  all.push_back({"objective",
                 [](const Inputs &in) {
                   return std::string(in.options.objective.kind == cost::ObjectiveKind::Training ? "training"
                                                                                                 : "serving");
                 },
                 [](Inputs &in, const Inputs &from) { in.options.objective.kind = from.options.objective.kind; }});
  all.push_back(
      {"quantile", [](const Inputs &in) { return number(in.options.objective.quantile); },
       [](Inputs &in, const Inputs &from) { in.options.objective.quantile = from.options.objective.quantile; }});
  all.push_back({"memory limit", [](const Inputs &in) { return cost::toString(in.options.memoryLimit); },
                 [](Inputs &in, const Inputs &from) { in.options.memoryLimit = from.options.memoryLimit; }});
  all.push_back({"seed", [](const Inputs &in) { return std::to_string(in.options.sampling.seed); },
                 [](Inputs &in, const Inputs &from) { in.options.sampling.seed = from.options.sampling.seed; }});
  all.push_back({"computation (device or profile)",
                 [](const Inputs &in) {
                   cost::Seconds total;
                   std::vector<double> times = cost::runs(in.program);
                   for (size_t b = 0; b < times.size(); ++b)
                     for (const cost::Task &task : in.program.blocks[b].tasks)
                       total += std::max(0.0, times[b]) * task.duration;
                   return cost::toString(total);
                 },
                 [](Inputs &in, const Inputs &from) { in.program = from.program; }});
  all.push_back({"device.reduction", [](const Inputs &in) { return text(in.cluster.device.reduction); },
                 [](Inputs &in, const Inputs &from) { in.cluster.device.reduction = from.cluster.device.reduction; }});
  all.push_back({"device.launch", [](const Inputs &in) { return text(in.cluster.device.launch); },
                 [](Inputs &in, const Inputs &from) { in.cluster.device.launch = from.cluster.device.launch; }});
  all.push_back({"hosts and their cards and NICs",
                 [](const Inputs &in) {
                   return llvm::formatv("{0} x {1} with {2} NICs", in.cluster.hosts, in.cluster.devicesPerHost,
                                        in.cluster.nicsPerHost)
                       .str();
                 },
                 [](Inputs &in, const Inputs &from) {
                   in.cluster.hosts = from.cluster.hosts;
                   in.cluster.devicesPerHost = from.cluster.devicesPerHost;
                   in.cluster.nicsPerHost = from.cluster.nicsPerHost;
                   in.cluster.groups = from.cluster.groups;
                 }});
  for (auto [link, which] : {std::pair("intra", &Cluster::intra), std::pair("inter", &Cluster::inter),
                             std::pair("host_link", &Cluster::hostLink)}) {
    all.push_back(ofLink(link, which, "name", &cost::LinkClass::name, word));
    all.push_back(ofLink(link, which, "bandwidth", &cost::LinkClass::bandwidth, rate));
    all.push_back(ofLink(link, which, "latency", &cost::LinkClass::latency, time));
    all.push_back(ofProfile(link, which, "fabric", &FabricProfile::name));
    all.push_back(ofProfile(link, which, "latency_rebase_sigma", &FabricProfile::latencyRebaseSigma));
    all.push_back(ofProfile(link, which, "collision_uplinks", &FabricProfile::collisionUplinks));
    all.push_back(ofProfile(link, which, "queue_pairs", &FabricProfile::collisionFlowsPerNic));
    all.push_back(ofProfile(link, which, "most_queue_pairs", &FabricProfile::mostFlowsPerNic));
    all.push_back(ofProfile(link, which, "queue_pair_cost", &FabricProfile::flowCost));
    all.push_back(ofProfile(link, which, "adaptive_routing", &FabricProfile::adaptiveRouting));
    all.push_back(ofProfile(link, which, "latency_sigma", &FabricProfile::latencySigma));
    all.push_back(ofProfile(link, which, "bandwidth_sigma", &FabricProfile::bandwidthSigma));
    all.push_back(ofProfile(link, which, "flow_sigma", &FabricProfile::flowSigma));
    all.push_back(ofProfile(link, which, "slow_flows", &FabricProfile::slowFlows));
    all.push_back(ofProfile(link, which, "slow_flow_bandwidth", &FabricProfile::slowFlowBandwidth));
    all.push_back(ofProfile(link, which, "flows_drawn_per job", &FabricProfile::flowsPerJob));
    all.push_back(ofProfile(link, which, "spike_probability", &FabricProfile::spikeProbability));
    all.push_back(ofProfile(link, which, "spike_minimum", &FabricProfile::spikeMinimum));
    all.push_back(ofProfile(link, which, "spike_index", &FabricProfile::spikeIndex));
    all.push_back(ofProfile(link, which, "pause_probability", &FabricProfile::pauseProbability));
    all.push_back(ofProfile(link, which, "pause_shortest", &FabricProfile::pauseShortest));
    all.push_back(ofProfile(link, which, "pause_longest", &FabricProfile::pauseLongest));
    all.push_back(ofProfile(link, which, "bulk_mean", &FabricProfile::bulkMean));
    all.push_back(ofProfile(link, which, "bulk_sigma", &FabricProfile::bulkSigma));
    all.push_back(ofProfile(link, which, "correlation", &FabricProfile::correlation));
  }
  all.push_back(ofCluster("topology.builder", &Cluster::topology, word));
  all.push_back(ofCluster("topology.hosts_per_leaf", &Cluster::hostsPerLeaf, plain));
  all.push_back(ofCluster("topology.oversubscription", &Cluster::oversubscription, plain));
  all.push_back(ofCluster("topology.spine_latency", &Cluster::spineLatency, time));
  all.push_back(ofCluster("topology.leaves_per_pod", &Cluster::leavesPerPod, plain));
  all.push_back(ofCluster("topology.core_oversubscription", &Cluster::coreOversubscription, plain));
  all.push_back(ofCluster("topology.core_latency", &Cluster::coreLatency, time));
  all.push_back(ofCluster("topology.planes", &Cluster::planes, plain));
  all.push_back(ofCluster("topology.routing", &Cluster::routing, [](cost::Routing routing) {
    return routing == cost::Routing::Static ? "static" : routing == cost::Routing::Hash ? "hash" : "shared_hash";
  }));
  all.push_back(ofCluster("topology.hash_seed", &Cluster::hashSeed, plain));
  all.push_back(ofCluster("topology.hash and its ports", &Cluster::flowHash, flowHash));
  all.push_back(ofCluster("topology.contention", &Cluster::contention, [](bool on) { return on ? "on" : "off"; }));
  all.push_back(ofCluster("intra.links", &Cluster::mesh, [](const std::vector<cost::MeshLink> &links) {
    std::string text = links.empty() ? "none" : "";
    for (const cost::MeshLink &link : links)
      text += llvm::formatv("{0}{1}-{2}:{3}", text.empty() ? "" : " ", link.a, link.b, link.count);
    return text;
  }));
  all.push_back(ofCluster(
      "compute.skew", &Cluster::compute,
      [](const cost::ComputeNoise &noise) {
        return number(noise.skewPerJob) + " per job, " + number(noise.skewPerStep) + " per step";
      },
      [](cost::ComputeNoise &noise, const cost::ComputeNoise &from) {
        noise.skewPerJob = from.skewPerJob;
        noise.skewPerStep = from.skewPerStep;
      }));
  all.push_back(ofCluster(
      "compute.slowdown", &Cluster::compute,
      [](const cost::ComputeNoise &noise) {
        return number(noise.slowdown[0]) + " inside, " + number(noise.slowdown[1]) + " between hosts";
      },
      [](cost::ComputeNoise &noise, const cost::ComputeNoise &from) {
        std::copy(std::begin(from.slowdown), std::end(from.slowdown), noise.slowdown);
      }));
  all.push_back(ofCluster("in_network", &Cluster::inNetwork, [](const cost::InNetwork &in) {
    return in.granted() ? "at " + in.at + ", " + std::to_string(in.groups) + " groups" : std::string("none");
  }));
  all.push_back(ofCluster("nccl", &Cluster::nccl, nccl));
  all.push_back(ofCluster("calibration.nccl", &Cluster::ncclFit, [](const cost::FittedConstants &fit) {
    std::string text = fit.empty() ? "none" : "";
    for (double value : fit)
      text += (text.empty() ? "" : " ") + number(value);
    return text;
  }));
  return all;
}

/// A plan as what it decides, and its objective.
struct Outcome {
  std::set<std::string> launches;
  cost::Seconds objective;
};

cost::Result<Outcome> planOf(const Inputs &in) {
  cost::Result<cost::Placement> placement = cost::readPlacement(in.placement, in.program.ranks, in.cluster);
  if (!placement)
    return placement.error();
  cost::BucketForm form = in.target == "stablehlo"          ? cost::BucketForm::Copies
                          : in.engine == cost::Engine::Nccl ? cost::BucketForm::GroupCall
                                                            : cost::BucketForm::OneLaunch;
  cost::Pricer pricer(in.cluster, *placement, in.engine, form);
  cost::Result<cost::PlanResult> plan = cost::plan(in.program, pricer, in.options);
  if (!plan)
    return plan.error();
  Outcome outcome;
  outcome.objective = plan->braid().objective;
  for (size_t b = 0; b < in.program.blocks.size(); ++b)
    for (const cost::Bucket &bucket : plan->braid().schedule.blocks[b].buckets) {
      const cost::Candidate &chosen =
          pricer.candidates(cost::mergedSpec(in.program.blocks[b], bucket))[bucket.candidate];
      std::string launch = std::to_string(b) + " " + chosen.algorithm + "/" + chosen.protocol;
      for (int task : bucket.tasks)
        launch += " " + std::to_string(task);
      outcome.launches.insert(std::move(launch));
    }
  return outcome;
}

Inputs inputsOf(const ModulePlan &plan, const PlanRequest &asked) {
  return {plan.program,
          plan.pricer->cluster(),
          plan.options,
          plan.pricer->engine(),
          asked.placement.empty() ? "packed" : asked.placement,
          asked.target};
}

} // namespace

std::vector<Cause> mlir::braid::sim::causesOf(const ModulePlan &a, const ModulePlan &b, const PlanRequest &askedA,
                                              const PlanRequest &askedB) {
  Inputs here = inputsOf(a, askedA), there = inputsOf(b, askedB);
  std::vector<Cause> causes;
  cost::Result<Outcome> planA = planOf(here), planB = planOf(there);
  if (!planA || !planB)
    return causes; // they were planned before
  for (const Item &item : items()) {
    Cause cause;
    cause.key = item.key;
    cause.inA = item.text(here);
    cause.inB = item.text(there);
    if (cause.inA == cause.inB)
      continue;
    Inputs mixed = here;
    item.take(mixed, there);
    cost::Result<Outcome> plan = planOf(mixed);
    if (!plan)
      cause.error = plan.error().text();
    else {
      for (const std::string &launch : planA->launches)
        cause.launches += !plan->launches.count(launch);
      cause.all = plan->launches == planB->launches;
      cause.step = plan->objective / planA->objective;
    }
    causes.push_back(std::move(cause));
  }
  llvm::stable_sort(causes, [](const Cause &one, const Cause &other) { // what matters most comes first
    return std::make_pair(one.launches, std::abs(one.step - 1)) >
           std::make_pair(other.launches, std::abs(other.step - 1));
  });
  return causes;
}
