//===- Terms.h - writing prices that explain themselves ---------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_TERMS_H
#define BRAID_COST_MODELS_PRICING_TERMS_H

#include "braid/cost_models/Price.h"

namespace braid::cost {

/// printf into a string.
std::string text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// Adds a term to the candidate's explanation, and its time to the part of the price that `part` points to.
void addTerm(Candidate &candidate, Seconds Candidate::*part, std::string name, Seconds time, std::string how);

/// time = fixed + latency + wire, also of the explanation's root.
void sumUp(Candidate &candidate);

/// Mean noise per serial message, in units of the bulk's mean, where each rank holds every step up for its base time
/// and its noise, after its neighbour's step and its own last one (NCCL's kernels and proxies). Such neighbours average
/// the noise instead of paying the largest of all: last-passage percolation, 2 for exponential noise, 1.54 for a
/// lognormal of sigma 0.5, 2.5 of sigma 1; this passes through the latter two, and 1 at sigma 0.
double neighbourNoise(double sigma);
/// The same where noise is in flight and ranks take no time of their own (step programs played): the slowest of `ranks`
/// chains of `messages`.
double chainNoise(double sigma, int ranks, double messages);
/// The same for `messages` at once that all must arrive: the expected maximum.
double maximumNoise(double sigma, double messages);

} // namespace braid::cost

#endif
