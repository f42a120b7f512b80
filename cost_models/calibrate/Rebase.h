//===- Rebase.h - factors from a few rows, and what they leave open -----------------------------------------------===//
#ifndef BRAID_COST_MODELS_CALIBRATE_REBASE_H
#define BRAID_COST_MODELS_CALIBRATE_REBASE_H

#include "braid/cost_models/Probe.h"

namespace braid::cost {

/// What a job's are of the profile's.
struct Factors {
  double latency = 1, bandwidth = 1;
  double reduction = 1; ///< on the rate at which a device combines operands; not re-based in fits
};

using TimesAt = std::function<std::vector<Seconds>(const Factors &)>;

/// What a few rows say of a job.
struct Position {
  Factors best;
  std::vector<Factors>
      open; ///< places that the rows leave open: up to two deviations along each axis of what is not known
};

/// The factors under which `times` gives what the rows took; `result` gets them, and that of reduction if asked for.
Position rebase(ProbeResult &result, const std::vector<MeasuredRow> &rows, const TimesAt &times, bool withReduction);

/// The choice among `algorithms` for one size; `before` are their times by the profile, `times` those near the position.
ProbedChoice chosen(const Position &position, Bytes bytes, const std::vector<std::string> &algorithms,
                    const std::vector<Seconds> &before, const TimesAt &times);

/// Sizes for which choices are told: powers of two from 1 KiB to 1 GiB.
std::vector<Bytes> probedSizes();

/// Where no factors take the profile to what was measured: it is of another machine. What they miss by less is noted.
std::optional<Error> outOfReach(ProbeResult &result, const MeasuredTable &table, const Cluster &cluster);

/// "re-based by 2 rows of t.csv: latency x 1.3, bandwidth x 0.8": the source of what is re-based.
std::string sourceOf(const ProbeResult &result, const MeasuredTable &table);

} // namespace braid::cost

#endif
