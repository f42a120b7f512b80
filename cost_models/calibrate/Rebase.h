//===- Rebase.h - two factors from a few rows, and what they leave open -------------------------------------------===//
#ifndef BRAID_COST_MODELS_CALIBRATE_REBASE_H
#define BRAID_COST_MODELS_CALIBRATE_REBASE_H

#include "braid/cost_models/Probe.h"

namespace braid::cost {

/// Times where the job's latency and bandwidth are these factors of the profile's.
using TimesAt = std::function<std::vector<Seconds>(double latency, double bandwidth)>;

/// The factors under which `times` gives what the rows took.
void rebase(ProbeResult &result, const std::vector<MeasuredRow> &rows, const TimesAt &times);

/// The choice among `algorithms` for one size; `before` are their times by the profile, `times` those near the factors found.
ProbedChoice chosen(const ProbeResult &result, Bytes bytes, const std::vector<std::string> &algorithms,
                    const std::vector<Seconds> &before, const TimesAt &times);

/// Sizes for which choices are told: powers of two from 1 KiB to 1 GiB.
std::vector<Bytes> probedSizes();

/// "re-based by 2 rows of t.csv: latency x 1.3, bandwidth x 0.8": the source of what is re-based.
std::string sourceOf(const ProbeResult &result, const MeasuredTable &table);

} // namespace braid::cost

#endif
