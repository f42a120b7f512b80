//===- Draws.h - what the draws of this library share -----------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_FABRICS_DRAWS_H
#define BRAID_COST_MODELS_FABRICS_DRAWS_H

#include "braid/cost_models/Fabric.h"
#include <cstdint>

namespace braid::cost {

/// One number per quantity that is drawn at a place, so that two quantities at one place are independent.
namespace purpose {
enum : uint64_t { jobLatency = 1, jobCollision, share, spike, pause, bulk, serialBulk };
} // namespace purpose

/// One round of the hash: for many draws that differ in one number from a place.
uint64_t mix(uint64_t hash, uint64_t field);
/// 64 hashed bits of the place.
uint64_t drawBits(const DrawPlace &place);

/// Lognormal with this sigma of the logarithm and mean 1.
double lognormalWithMeanOne(double sigma, const DrawPlace &place);

} // namespace braid::cost

#endif
