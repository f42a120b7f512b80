//===- Ranges.h - what the constants of a cluster file can be ---------------------------------------------------===//
//
// Wide: they hold what is slower and faster than any machine that there is, and are there to find what no machine is, a unit
// that is wrong by a factor of a thousand or more, or digits that are missing.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_RANGES_H
#define BRAID_COST_MODELS_TOPOLOGY_RANGES_H

#include "braid/cost_models/Units.h"

namespace braid::cost::ranges {

template <typename T> struct Range {
  T least, most;
};

// assumption: a satellite link takes 0.3 s, a kernel launch under a debugger less than a second
constexpr Range<Seconds> time = {{0}, {10}};
// assumption: a modem carries 7 kB/s, the memory of a whole wafer 21 PB/s
constexpr Range<BytesPerSecond> bandwidth = {{1e3}, {1e18}};
// assumption: an 8-bit processor does 10 kFLOP/s, a wafer 125 PFLOP/s
constexpr Range<FlopsPerSecond> flops = {{1e3}, {1e21}};
// assumption: a fit is within this factor of where it begins, each way (one standard deviation is a factor of 3 at most). A part that
// is to count for nothing is 0, where the price does not divide by it
constexpr double fitted = 1e3;

} // namespace braid::cost::ranges

#endif
