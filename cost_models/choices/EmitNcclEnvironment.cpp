//===- EmitNcclEnvironment.cpp - environment variables of NCCL, with reasons ------------------------------------===//
//
// Only what the model knows the effect of. NCCL_ALGO and NCCL_PROTO hold for all sizes of a collective at once, so they are never
// written: choices by size need the tuner. Comments hold no '=', which NCCL's reader of NCCL_CONF_FILE looks for.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Choices.h"
#include <cmath>
#include <cstdio>
#include <numeric>

namespace braid::cost {

// setting: what is compared, and how far is looked
static constexpr int64_t probed = int64_t(64) << 20; ///< bytes of the all_reduce by which settings are compared
static constexpr double least = 0.01;                ///< gain
static constexpr int mostQueuePairs = 16;

/// A 64 MiB all_reduce of all ranks by NCCL's own choice, at the fabric's quantile over jobs and operations.
static Seconds largeAllReduce(const Cluster &cluster) {
  Placement packed;
  packed.deviceOf.resize(cluster.ranks());
  std::iota(packed.deviceOf.begin(), packed.deviceOf.end(), 0);
  Pricer pricer(cluster, packed, Engine::Nccl, BucketForm::OneLaunch);
  CollectiveSpec spec;
  spec.bytes = {probed};
  return pricer.quantile(spec, 0, cluster.defaultQuantile, 8000).first;
}

static std::string percent(double fraction) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", fraction * 100);
  return text;
}

Result<std::string> emitNcclEnvironment(const Cluster &cluster, const std::string &tunerFile,
                                        const std::string &plugin) {
  for (const std::string &path : {tunerFile, plugin})
    if (path.find_first_of(" \t\n'\"\\$`#") != std::string::npos)
      return Error{"path for NCCL's environment, expected one without blanks, quotes, $ and #, got '" + path + "'", ""};
  const FabricProfile &profile = cluster.inter.profile;
  std::string out = "# NCCL on cluster " + cluster.name + " (" + cluster.hash +
                    ")\n"
                    "# NCCL_CONF_FILE names this file, or a shell reads it: set -a; . FILE\n\n";
  if (tunerFile.empty())
    out += "# Algorithms and protocols by size: braid-sim emit nccl-tuner, and --tuner-file here. NCCL_ALGO and "
           "NCCL_PROTO would\n"
           "# hold for small and large collectives alike.\n";
  else
    out += "# Algorithms and protocols by size, as priced for this cluster; NCCL_DEBUG INFO and NCCL_DEBUG_SUBSYS "
           "INIT,TUNING say why.\n"
           "NCCL_TUNER_PLUGIN=" +
           plugin + "\nBRAID_TUNER_FILE=" + tunerFile + "\n";
  if (cluster.hosts < 2)
    return out + "\n# One host: nothing of the network to set.\n";

  out += "\n";
  Seconds now = largeAllReduce(cluster);
  auto gain = [&](const Cluster &other) { return 1 - largeAllReduce(other) / now; };
  std::string quantile = "the p" + std::to_string(int(std::lround(cluster.defaultQuantile * 100))) +
                         " of a 64 MiB all_reduce of " + std::to_string(cluster.ranks()) + " ranks, now " +
                         toString(now);
  if (profile.adaptiveRouting) {
    out += "# The cluster file says that switches route adaptively: no flow is bound to an uplink. NCCL's default for "
           "RoCE is off.\n"
           "NCCL_IB_ADAPTIVE_ROUTING=1\n";
  } else {
    Cluster adaptive = cluster;
    adaptive.inter.profile.adaptiveRouting = true;
    adaptive.inter.profile.collisionUplinks = 0;
    if (double gained = gain(adaptive); gained >= least)
      out += "# NCCL_IB_ADAPTIVE_ROUTING: where switches can route adaptively, 1 takes " + percent(gained) + " off " +
             quantile + ".\n";
  }
  int best = profile.collisionFlowsPerNic;
  double bestGain = 0;
  for (int pairs = 1; pairs <= mostQueuePairs; pairs *= 2) {
    Cluster other = cluster;
    other.inter.profile.collisionFlowsPerNic = pairs;
    if (double gained = gain(other); pairs > best && gained > bestGain + least) { // more pairs must be worth it
      best = pairs;
      bestGain = gained;
    }
  }
  if (bestGain > 0)
    out += "# Queue pairs that a connection's bytes are dealt over, so that more uplinks carry them: " +
           percent(bestGain) + " off " + quantile + ".\nNCCL_IB_QPS_PER_CONNECTION=" + std::to_string(best) + "\n";
  else if (best > 1)
    out += "# Queue pairs of a connection: as the cluster file says; more take less than 1 % off " + quantile +
           ".\nNCCL_IB_QPS_PER_CONNECTION=" + std::to_string(best) + "\n";
  else
    out += "# NCCL_IB_QPS_PER_CONNECTION: more than one takes less than 1 % off " + quantile + ".\n";
  return out;
}

} // namespace braid::cost
