//===- Probe.h - a job re-based by a few measurements -----------------------------------------------------------===//
//
// The latency of one job sits up to 2 times from the last one's, its bandwidth less far (Leonardo, three jobs: 1.25 to
// 3.9 us a step), so a profile is right for a machine and off for a job. Two sizes measured at its start, one short and
// one long, move the profile to where the job is. What they leave open decides which choices can be trusted.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PROBE_H
#define BRAID_COST_MODELS_PROBE_H

#include "braid/cost_models/Fit.h"

namespace braid::cost {

/// A factor with the standard deviation of its logarithm.
struct Rebase {
  double factor = 1, deviation = 0;
};

struct ProbedChoice {
  Bytes bytes;
  std::string before, after; ///< cheapest algorithm by the profile, and re-based
  /// The most that `after` costs over the best, latency and bandwidth being anywhere within two deviations.
  double regret = 1;
};

struct ProbeResult {
  CalibratedModel model = CalibratedModel::Nccl;
  Rebase latency, bandwidth;
  FittedConstants constants; ///< of the profile, re-based
  std::vector<ProbedChoice> choices;
  int rows = 0;
};

/// Re-bases the cluster's calibration (where it has none, the model's starts) by all rows of the table. Choices are for an
/// all_reduce of each power of two from 1 KiB to 1 GiB on the first row's ranks. Errors: no row that the model can price.
Result<ProbeResult> probeJob(const MeasuredTable &table, const Cluster &cluster, CalibratedModel model);

/// A cluster file that takes over `basePath` with the re-based constants.
std::string toYaml(const ProbeResult &probe, const MeasuredTable &table, const std::string &basePath,
                   const std::string &name);
/// Factors, and ranges of sizes whose choice stays within `regret`, or not.
std::string toText(const ProbeResult &probe, double regret);

} // namespace braid::cost

#endif
