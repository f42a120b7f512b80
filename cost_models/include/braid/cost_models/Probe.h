//===- Probe.h - a job re-based by a few measurements -----------------------------------------------------------===//
//
// The latency of one job sits up to 3 times from the last one's, its bandwidth up to 1.7 times (Leonardo, four jobs), so a
// profile is right for a machine and off for a job. Two sizes measured at its start, one short and one long, move the
// profile to where the job is. What they leave open decides which choices can be trusted.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PROBE_H
#define BRAID_COST_MODELS_PROBE_H

#include "braid/cost_models/Fit.h"
#include <optional>

namespace braid::cost {

/// A factor with the standard deviation of its logarithm.
struct Rebase {
  double factor = 1, deviation = 0;
};

/// A row beside what the re-based model gives it.
struct ProbedRow {
  MeasuredRow row;
  Seconds before, after; ///< by the profile, and re-based
};

struct ProbedChoice {
  Bytes bytes;
  std::string before, after; ///< cheapest algorithm by the profile, and re-based
  /// The most that `after` costs over the best, the factors being anywhere within two deviations.
  double regret = 1;
};

struct ProbeResult {
  std::string model; ///< "nccl" or "messages", a fit's; "braid": prices of Braid's engine
  Rebase latency, bandwidth;
  std::optional<Rebase> reduction; ///< of prices of Braid's engine: the rate at which a device combines operands
  std::string yaml;                ///< the keys of a cluster file that are re-based, each with its source
  std::vector<ProbedRow> rows;
  std::vector<ProbedChoice> choices;
  std::vector<std::string> notes; ///< rows set aside
};

/// Re-bases the cluster's calibration (where it has none, the model's starts) by all rows of the table. Choices are for an
/// all_reduce of each power of two from 1 KiB to 1 GiB on the first row's ranks. Errors: no row that the model can price.
Result<ProbeResult> probeFit(const MeasuredTable &table, const Cluster &cluster, CalibratedModel model);

/// Re-bases the links of the cluster that the ranks use, those between hosts where there are several, and the devices' rate of
/// reduction, by all_reduces of Braid's runtime. Rows name an algorithm of the registry, or none: the cheapest. Errors: no such row.
Result<ProbeResult> probeEngine(const MeasuredTable &table, const Cluster &cluster, const Placement &placement);

/// A cluster file that takes over `basePath` with what is re-based.
std::string toYaml(const ProbeResult &probe, const std::string &basePath, const std::string &name);
/// Rows, factors, and ranges of sizes whose choice stays within `regret`, or not.
std::string toText(const ProbeResult &probe, double regret);

} // namespace braid::cost

#endif
