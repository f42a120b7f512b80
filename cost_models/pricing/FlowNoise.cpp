//===- FlowNoise.cpp - how the bandwidths of flows add up over a collective ------------------------------------------===//
#include "pricing/FlowNoise.h"
#include "pricing/Noise.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>
#include <map>

namespace braid::cost {

RankTraffic trafficOf(const algorithms::StepProgram &program, const std::function<bool(int peer)> &counts) {
  std::map<int, double> sent, received; // by peer
  for (const algorithms::Step &step : program.steps)
    if (step.action != algorithms::Action::Combine && counts(step.peer))
      (step.action == algorithms::Action::Send ? sent : received)[step.peer] += double(step.count) / program.chunks;
  RankTraffic busier;
  for (const std::map<int, double> &way : {sent, received}) {
    double sum = 0, squares = 0;
    for (auto [peer, part] : way) {
      sum += part;
      squares += part * part;
    }
    if (sum > busier.bytes)
      busier = {sum, sum * sum / squares};
  }
  return busier;
}

FlowSpread spreadOf(const std::vector<RankTraffic> &traffic, double ofRanks, double rounds) {
  double busiest = 0, busy = 0;
  for (const RankTraffic &rank : traffic)
    busiest = std::max(busiest, rank.bytes);
  FlowSpread spread;
  spread.rounds = std::max(1.0, rounds);
  if (busiest == 0)
    return spread;
  spread.flows = 0;
  for (const RankTraffic &rank : traffic) {
    busy += rank.bytes >= 0.5 * busiest;
    // setting: about as busy
    if (rank.bytes >= 0.9 * busiest && (spread.flows == 0 || rank.flows < spread.flows))
      spread.flows = rank.flows;
  }
  spread.ranks = std::max(1.0, busy / double(traffic.size()) * ofRanks);
  return spread;
}

static constexpr double reach = 4.5, step = 0.25; ///< setting: of the table, in standard normal numbers

FlowFactor::FlowFactor(const draws::Noise &noise, const FlowSpread &spread)
    : ranks(spread.ranks), ofRank(std::max(1.0, spread.flows * std::max(1, noise.collisionFlowsPerNic))),
      sigma(noise.flowSigma), slow(noise.slowFlows), slowTime(1 / noise.slowFlowBandwidth) {
  // Relative variance of a draw; of the flows of one round together by so much less.
  double mean = 1 + slow * (slowTime - 1);
  double variance = std::exp(sigma * sigma) * (1 + slow * (slowTime * slowTime - 1)) / (mean * mean) - 1;
  double rounds = std::min(spread.rounds, spread.flows), ofRound = ofRank / std::max(1.0, rounds);
  if (ranks > 1 && rounds > 1)
    waiting = mean * (neighbourNoise(std::sqrt(std::log1p(variance / ofRound))) - 1) * (1 - 1 / rounds);
  for (double z = -reach; z <= reach + step / 2; z += step)
    table.push_back(quantile(normalCdf(z)));
}

/// Of the mean of the draws of one rank: given how many of them are slow (binomial), the sum of the others and of those is nearly
/// lognormal with a shift, and exactly lognormal where there is one.
double FlowFactor::cdfOfRank(double x) const {
  MessageNoise one{MessageNoise::Lognormal, sigma};
  auto given = [&](double slowOnes, double of) {
    double quick = of - slowOnes, mean = (quick + slowOnes * slowTime) / of;
    if (sigma == 0)
      return x >= mean * (1 - 1e-12) ? 1.0 : 0.0;
    double variance = one.variance() * (quick + slowOnes * slowTime * slowTime) / (of * of);
    double third = one.thirdMoment() * (quick + slowOnes * std::pow(slowTime, 3)) / std::pow(of, 3);
    return ShiftedLognormal(mean, std::sqrt(variance), third / std::pow(variance, 1.5)).cdf(x);
  };
  if (slow == 0)
    return given(0, ofRank);
  double of = std::max(1.0, std::round(ofRank)), sum = 0;
  if (of > 64) { // setting: as many draws as that forget which shape one has: three moments
    double v = one.variance(), part = 1 - slow, mean = part + slow * slowTime;
    double second = (1 + v) * (part + slow * slowTime * slowTime);
    double third = (1 + 3 * v + one.thirdMoment()) * (part + slow * std::pow(slowTime, 3));
    double variance = (second - mean * mean) / of;
    double skew = (third - 3 * mean * second + 2 * std::pow(mean, 3)) / (of * of) / std::pow(variance, 1.5);
    return ShiftedLognormal(mean, std::sqrt(variance), skew).cdf(x);
  }
  for (double k = 0; k <= of; ++k) {
    double chosen = std::lgamma(of + 1) - std::lgamma(k + 1) - std::lgamma(of - k + 1);
    double weight = slow >= 1 ? double(k == of) : std::exp(chosen + k * std::log(slow) + (of - k) * std::log1p(-slow));
    if (weight > 1e-16)
      sum += weight * given(k, of);
  }
  return std::min(1.0, sum);
}

double FlowFactor::quantile(double q) const {
  double one = std::exp(std::log(q) / ranks); // q = P(one rank)^ranks
  double low = 0, high = slowTime;
  while (cdfOfRank(high) < one && high < 1e6)
    high *= 2;
  for (int i = 0; i < /*setting: halvings*/ 60 && high - low > 1e-6 * high; ++i) {
    double middle = (low + high) / 2;
    (cdfOfRank(middle) < one ? low : high) = middle;
  }
  return high + waiting;
}

double FlowFactor::at(double z) const {
  double place = std::clamp((z + reach) / step, 0.0, double(table.size() - 1));
  size_t below = std::min(size_t(place), table.size() - 2);
  return table[below] + (place - double(below)) * (table[below + 1] - table[below]);
}

} // namespace braid::cost
