//===- Terms.cpp - writing prices that explain themselves -------------------------------------------------------===//
#include "pricing/Terms.h"
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace braid::cost {

std::string text(const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string result(std::max(0, std::vsnprintf(nullptr, 0, format, arguments)), '\0');
  std::vsnprintf(result.data(), result.size() + 1, format, again);
  va_end(arguments);
  va_end(again);
  return result;
}

void addTerm(Candidate &candidate, Seconds Candidate::*part, std::string name, Seconds time, std::string how) {
  candidate.*part += time;
  candidate.why.parts.push_back({std::move(name), time, std::move(how), {}});
}

void sumUp(Candidate &candidate) {
  candidate.time = candidate.fixed + candidate.latency + candidate.wire;
  candidate.why.time = candidate.time;
}

// source: fitted to simulated rings and trees of 64 and 256 ranks with lognormal messages
double neighbourNoise(double sigma) { return 1 + 0.66 * sigma + 0.84 * sigma * sigma; }

/// Mean of the largest of m standard normal draws: near the quantile 1 - exp(-gamma) / m (Gumbel's limit), exp(-gamma)
/// = 0.5615. source: Gumbel's limit
static double largestNormal(double m) { return -M_SQRT2 * boost::math::erfc_inv(2 * (1 - 0.5615 / m)); }

double chainNoise(double sigma, int ranks, double messages) {
  if (ranks <= 1 || messages <= 0)
    return 1;
  return 1 + std::max(0.0, largestNormal(ranks)) * std::sqrt(std::expm1(sigma * sigma) / messages);
}

double maximumNoise(double sigma, double messages) {
  return messages <= 1 ? 1 : std::exp(sigma * largestNormal(messages) - sigma * sigma / 2);
}

} // namespace braid::cost
