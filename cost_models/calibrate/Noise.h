//===- Noise.h - a fabric's noise from percentiles per iteration ---------------------------------------------------===//
#ifndef BRAID_COST_MODELS_CALIBRATE_NOISE_H
#define BRAID_COST_MODELS_CALIBRATE_NOISE_H

#include "braid/cost_models/Fit.h"

namespace braid::cost {

/// Nothing where fewer than 4 percentiles of rows between hosts lie a spike above the median.
std::optional<FittedNoise> fitNoise(const std::vector<MeasuredRow> &rows, const FabricProfile &profile);

} // namespace braid::cost

#endif
