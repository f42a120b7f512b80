//===- LoopTrips.h - how often a loop runs ----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_LOOPTRIPS_H
#define BRAID_PASSES_ANALYSIS_LOOPTRIPS_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace mlir::braid {

/// `op` is a loop that Braid can look into: stablehlo.while, or an upstream loop of one region.
bool isLoop(Operation *op);

/// Trips of a loop whose counter starts at a constant, moves by a constant step and is compared with a constant (any
/// start, any step, up or down); none if the number depends on data.
std::optional<int64_t> loopTrips(Operation *loop);

/// The value of a scalar integer that is computed from constants.
std::optional<int64_t> constantInteger(Value value);

} // namespace mlir::braid

#endif
