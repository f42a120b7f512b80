//===- Noise.h - how the noise of messages adds up over a collective -------------------------------------------------===//
//
// A message is late by its noise. What a collective pays is neither the sum of all nor the largest of each step: a late message
// holds up only what depends on it. In units of the mean noise of one message:
//
//   chains     Each rank waits for one other's last message in each step (rings; exchanges at growing distances): the times of n
//              disjoint chains of m messages each, and the whole is the slowest of them, F(x)^n with F of a sum of m.
//              Sums of independent positive numbers are nearly lognormal with a shift (three moments; Fenton, 1960). A chain of
//              ranks is one of them.
//   trees      A parent waits for all children, each late by its own subtree and a message: products and convolutions of
//              distribution functions from the leaves to the root, and back (statistical static timing analysis is this on circuits).
//   at once    n (n-1) messages that nobody forwards: the largest, F(x)^(n (n-1)); where they take turns on a link, the earlier ones
//              have time to catch up. Twice, where what was gathered is handed on (masters, servers, two shots): the time of the
//              one that gathers, plus the largest of what it sends.
//
// A quiet collective's time is added, and the noise of one message is its latency's share. Tested against sampled plays
// (test/bars/cost/noise).
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_NOISE_H
#define BRAID_COST_MODELS_PRICING_NOISE_H

#include "braid/cost_models/Price.h"
#include <functional>

namespace braid::cost {

/// Noise of one message, mean 1.
struct MessageNoise {
  enum Shape { Exponential, Lognormal } shape = Lognormal;
  double sigma = 0.5; ///< of the logarithm
  double cdf(double x) const;
  double variance() const;
  double thirdMoment() const; ///< central
};

double normalCdf(double z);
double normalQuantile(double p);

/// A normal number's exponential times a scale, shifted: it has any mean, deviation and positive skewness, and is close to sums of
/// independent positive numbers (Fenton, 1960).
class ShiftedLognormal {
public:
  ShiftedLognormal(double mean, double deviation, double skew);
  double cdf(double x) const;
  double at(double z) const; ///< the quantile that a standard normal number stands for

private:
  double mean, scale, s, root; ///< mean + scale (exp(s z) - root)
};

/// A distribution of delays >= 0, as its distribution function on equal steps.
class Delays {
public:
  /// Always 0. `reach`: larger delays are cut.
  explicit Delays(double reach);
  /// Another message further.
  Delays later(const MessageNoise &noise) const;
  /// The larger of the two; `early`: the other one has so much time to spare.
  Delays &waitFor(const Delays &other, double early = 0);
  /// Both, one after the other.
  Delays then(const Delays &other) const;
  /// The largest of `count` independent ones.
  Delays &largestOf(double count);
  double quantile(double q) const;

private:
  double step;
  std::vector<double> below; ///< P(delay <= i step)
};

/// Whether there is a form for the algorithm: of some only for powers of two (else there are odd ones out); of double trees, exchanges
/// by doubling, and binomial trees of other numbers of ranks only for small messages; of heavy tails only for short chains. Latency and
/// transfer as below.
bool hasDelayForm(const std::string &algorithm, CollectiveKind kind, int ranks, const MessageNoise &noise,
                  double latency, double transfer);
/// The part of the operand that a message carries: of the messages that take turns on a link, or else of the largest.
double messagePart(const std::string &algorithm, CollectiveKind kind, int ranks);

/// How the noise of a collective adds up; empty where that is not known (pipelines, hierarchies).
///   latency, transfer   of a message, and of one through a link, in units of a message's mean noise: how much time those have to
///                       spare that have fewer messages ahead of them, or take turns before others
std::optional<std::function<double(double q)>> delayQuantile(const std::string &algorithm, CollectiveKind kind,
                                                             int ranks, const MessageNoise &noise, double latency,
                                                             double transfer);

/// Of the slowest of n sums of m messages.
double slowestChain(const MessageNoise &noise, double chains, double messages, double q);

} // namespace braid::cost

#endif
