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

/// Mean noise per serial message, in units of the bulk's mean, of neighbours that wait for each other (rings, trees): they
/// average the noise instead of paying the largest of all. Through 1.54 at sigma 0.5 and 2.5 at sigma 1, by simulation of
/// last-passage percolation; 1 at sigma 0.
double neighbourNoise(double sigma);
/// The same for `messages` that all must arrive: the expected maximum.
double maximumNoise(double sigma, double messages);

} // namespace braid::cost

#endif
