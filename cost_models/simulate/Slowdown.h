//===- Slowdown.h - how long kernels take beside collectives in flight --------------------------------------------===//
#ifndef BRAID_COST_MODELS_SIMULATE_SLOWDOWN_H
#define BRAID_COST_MODELS_SIMULATE_SLOWDOWN_H

#include "braid/cost_models/Cluster.h"
#include <algorithm>

namespace braid::cost {

/// A kernel progresses at 1 / (product of the factors of the fabrics on which a collective is in flight). A channel is busy without a
/// gap until the last collective that was given to it ends: each began when the stream gave it or when the one before had ended. So
/// the rate changes twice at most, where either channel has ended.
class Slowdown {
public:
  explicit Slowdown(const ComputeNoise &noise) : none(!noise.slowed()), factors{noise.slowdown[0], noise.slowdown[1]} {}

  /// Seconds that so much work takes from `clock` on, the channels being busy until these times.
  double elapsed(double work, double clock, const double (&channels)[2]) const {
    return none || work <= 0 || (channels[0] <= clock && channels[1] <= clock) ? work : slowed(work, clock, channels);
  }
  /// That every kernel takes at most, by the time that it takes alone.
  double most() const { return factors[0] * factors[1]; }
  double of(int fabric) const { return factors[fabric]; }
  bool absent() const { return none; }

private:
  double slowed(double work, double clock, const double (&channels)[2]) const {
    double left = work, time = 0;
    int first = channels[1] < channels[0]; // to end
    for (auto [end, factor] :
         {std::pair(channels[first], most()), std::pair(channels[1 - first], factors[1 - first])}) {
      double span = end - clock - time;
      if (span <= 0 || factor == 1)
        continue;
      if (left * factor <= span)
        return time + left * factor;
      left -= span / factor;
      time += span;
    }
    return std::max(work, time + left);
  }

  bool none;
  double factors[2];
};

} // namespace braid::cost

#endif
