//===- Batches.h - a bound where things that are served together share a start-up -------------------------------===//
#ifndef BRAID_COST_MODELS_BOUNDS_BATCHES_H
#define BRAID_COST_MODELS_BOUNDS_BATCHES_H

#include "braid/cost_models/Schedule.h"
#include <functional>
#include <vector>

namespace braid::cost {

/// Bytes that are there when computation has made them.
struct Arrival {
  double bytes = 0;
  double head = 0;   ///< seconds, not earlier
  double own = 0;    ///< seconds of one compute stream that only these bytes need
  double shared = 0; ///< seconds of the same stream that others need, too
};

/// The earliest end of one channel that sends all bytes in messages one after another, in any number, order and composition,
/// where `price(bytes)`, in seconds, never falls as bytes grow. Let C(k) be the bytes of the first k messages. The k-th cannot
/// begin before C(k) bytes have arrived, so with A(c), the earliest time at which c bytes can have,
///
///     f(c) = min over c' < c of max(f(c'), A(c)) + price(c - c'),   f(0) = 0,
///
/// For A: of some set the latest head, and, as one stream makes all of the set, its largest shared part and the sum of what
/// is each one's own (at best those with many bytes for little work: a fractional knapsack).
///
/// f(all) is no later than the end of any schedule: bytes may be cut anywhere here. Bytes are counted in `cells` steps,
/// and between steps everything is taken in favour of the channel. O(cells^2).
double earliestEndOfBatches(std::vector<Arrival> arrivals, const std::function<double(double)> &price,
                            int cells = 2000);

} // namespace braid::cost

#endif
