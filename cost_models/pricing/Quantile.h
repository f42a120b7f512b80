//===- Quantile.h - quantiles of a price without sampling ------------------------------------------------------------===//
//
// A collective takes  fixed + wire + factor (latency + delay) + spike,  four independent parts:
//
//   factor   of the job and of the operation on latencies: lognormal
//   delay    of the messages' noise, where it has a closed form (Noise.h)
//   spike    the largest of the nodes' spikes and pauses
//
// The distribution of the sum is an integral over the first two and the spike's distribution function, by weighted points. Where
// uplinks collide, flows draw bandwidths, or the delay has no closed form, quantiles are sampled.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_QUANTILE_H
#define BRAID_COST_MODELS_PRICING_QUANTILE_H

#include "pricing/Delay.h"

namespace braid::cost {

/// A closed form.
class DelayForm : public Delay {
public:
  /// Null: none, or none that was compared with plays. That is one group of ranks on one switch, unsegmented, with a mean noise of
  /// at most 0.3 of the latency and a sigma of at most 1.
  static std::shared_ptr<const DelayForm> of(const Candidate &candidate, const CollectiveSpec &spec,
                                             const Cluster &cluster, const Placement &placement);
  Seconds quantile(double q) const override;
  bool closed() const override { return true; }

private:
  std::string algorithm;
  CollectiveKind kind = CollectiveKind::AllReduce;
  int ranks = 0;
  MessageNoise noise;
  double latency = 0, transfer = 0; ///< of one message, in units of its mean noise
  Seconds unit;                     ///< a message's mean noise
  mutable std::once_flag once;
  mutable std::function<double(double q)> form; ///< made when first asked for
};

/// Whether quantiles of the candidate need no sampling on this fabric.
bool hasClosedQuantiles(const Candidate &candidate, const FabricProfile &profile);
Seconds closedQuantile(const Candidate &candidate, const FabricProfile &profile, double q);

} // namespace braid::cost

#endif
