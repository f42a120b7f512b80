//===- ClosedForms.h - formulas for what playing a step program takes -------------------------------------------===//
//
// On a machine where every pair of ranks is alike (latency alpha, beta seconds a byte, gamma seconds a byte reduced).
// Tested against the played programs.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_CLOSEDFORMS_H
#define BRAID_COST_MODELS_PRICING_CLOSEDFORMS_H

#include "braid/cost_models/Price.h"

namespace braid::cost {

struct UniformMachine {
  Seconds alpha;            ///< of a message from rank to rank
  BytesPerSecond bandwidth; ///< of each rank's link, each direction
  BytesPerSecond reduction;
};

/// Ring all_reduce, reduce_scatter, all_gather: steps x (alpha + block / bandwidth) + block / reduction in each that
/// reduces.
Seconds ringTime(CollectiveKind kind, int ranks, Bytes operand, const UniformMachine &machine);
/// Double binary tree all_reduce in `segments` for each tree. A rank sends up to four halves of the buffer's segment
/// per turn.
Seconds doubleTreeTime(int ranks, Bytes operand, int segments, const UniformMachine &machine);

} // namespace braid::cost

#endif
