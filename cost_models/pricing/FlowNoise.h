//===- FlowNoise.h - how the bandwidths of flows add up over a collective --------------------------------------------===//
//
// A flow is what goes from one device to another. Where each draws a bandwidth of its own, a rank pays for the flows that it deals
// its bytes over, and a collective for its slowest rank:
//
//   ring of n            every rank sends to one other: the slowest of n single flows
//   direct exchange      every rank sends 1/(n-1) of its bytes to each other one: the slowest of n means over n-1 flows
//   halves (1/2, 1/4, ...) of the bytes to log2 n others: as if dealt evenly over 3 flows, (sum w)^2 / sum w^2
//   q queue pairs        each flow is the mean of q
//
// The more flows, the nearer to their mean: that is why more and smaller messages to more peers win as the tails of bandwidth grow.
// With lognormal flows of sigma 0.5, 16 ranks: the median of a ring's transfer is 2.1 times that of a quiet one, that of a direct
// exchange 1.3 times.
//
// Ranks that exchange over another flow in each of many rounds also wait for each other in each: the mean of a round is not 1 but
// nearer to what a ring's noise adds up to (neighbourNoise in Terms.h, a limit for many rounds), of the mean of the flows of a round.
//
// An estimate: compared with plays in test/unit/FlowNoiseTest.cpp.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_FLOWNOISE_H
#define BRAID_COST_MODELS_PRICING_FLOWNOISE_H

#include "braid/cost_models/Fabric.h"
#include "braid/runtime/algorithms/StepProgram.h"
#include <functional>
#include <vector>

namespace braid::cost {

/// What one rank sends or receives, whichever is more.
struct RankTraffic {
  double bytes = 0; ///< in units of its buffer
  double flows = 0; ///< evenly used ones that vary as much together as those that it uses
};
/// `counts`: whether what is exchanged with that peer, an index in the group, is of the links asked for.
RankTraffic trafficOf(const algorithms::StepProgram &program, const std::function<bool(int peer)> &counts);

struct FlowSpread {
  double ranks = 1;  ///< that send or receive at least half as much as the busiest one
  double flows = 1;  ///< evenly used ones of each, the fewest of the busiest ranks
  double rounds = 1; ///< one after another, in which each rank waits for others; a pipeline is one
};
/// `ofRanks`: how many ranks the traffic given is a sample of.
FlowSpread spreadOf(const std::vector<RankTraffic> &traffic, double ofRanks, double rounds);

/// Distribution of the factor on the time of a collective's transfers.
class FlowFactor {
public:
  FlowFactor(const draws::Noise &noise, const FlowSpread &spread);
  double quantile(double q) const;
  /// The quantile that a standard normal number stands for, from a table.
  double at(double z) const;

private:
  double cdfOfRank(double x) const;

  double ranks, ofRank; ///< how many draws the mean of a rank is of
  double sigma, slow, slowTime;
  double waiting = 0; ///< for others, in each round
  std::vector<double> table;
};

} // namespace braid::cost

#endif
