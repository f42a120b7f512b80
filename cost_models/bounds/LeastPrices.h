//===- LeastPrices.h - what a bound takes for the price of a message ---------------------------------------------===//
#ifndef BRAID_COST_MODELS_BOUNDS_LEASTPRICES_H
#define BRAID_COST_MODELS_BOUNDS_LEASTPRICES_H

#include "braid/cost_models/Schedule.h"

namespace braid::cost {

class LeastPrices {
public:
  virtual ~LeastPrices() = default;
  /// No message costs less that holds the bytes of `spec`, and no more than `most` together with others.
  virtual Seconds of(const CollectiveSpec &spec, Bytes most) = 0;
};

/// The bound at such prices. `batches`: steps in which the best buckets of a channel are looked for; a bound that is asked for often
/// has few. `computeFactor`: on the time of kernels.
Bound boundAt(const Program &program, const Pricer &pricer, LeastPrices &prices, int batches, double computeFactor = 1);
constexpr int fineBatches = 2000, coarseBatches = 100; // setting: steps

} // namespace braid::cost

#endif
