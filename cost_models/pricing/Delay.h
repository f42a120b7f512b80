//===- Delay.h - how late a collective is by the noise of its messages -----------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_DELAY_H
#define BRAID_COST_MODELS_PRICING_DELAY_H

#include "Noise.h"
#include "braid/cost_models/Fabric.h"
#include "braid/cost_models/Price.h"
#include <mutex>

namespace braid::cost {

/// A distribution of delays of a whole collective, and a table of it for draws, which is made when first asked for.
class Delay {
public:
  virtual ~Delay() = default;
  virtual Seconds quantile(double q) const = 0;
  virtual Seconds mean() const;
  /// Whether this is a form that was compared with plays, or what some plays gave.
  virtual bool closed() const = 0;
  /// The quantile that a standard normal number stands for.
  Seconds at(double z) const;
  /// Where messages are few: plays them with the noise of this place, from when each rank begins to when it ends, in seconds. A play
  /// without noise in which all begin at once takes `quiet`. False, and nothing is done, where they are many.
  virtual bool play(const DrawPlace &place, std::vector<double> &clocks) const { return false; }
  virtual Seconds quiet() const { return {}; }

private:
  mutable std::once_flag once;
  mutable std::vector<Seconds> table;
};

/// Mean of a candidate's delay on a fabric, whichever way it is known.
Seconds meanDelay(const Candidate &candidate, const FabricProfile &profile);

} // namespace braid::cost

#endif
