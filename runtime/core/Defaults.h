//===- Defaults.h - the algorithm of an operation that comes without a plan ---------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_DEFAULTS_H
#define BRAID_RUNTIME_CORE_DEFAULTS_H

#include "braid/runtime/algorithms/StepProgram.h"
#include <cstddef>

namespace braid::runtime {

/// A function of what all ranks know. `bytes`: of the abstract buffers.
const algorithms::Algorithm *defaultAlgorithm(algorithms::Collective collective, int ranks, size_t bytes);
/// Pipeline segments of trees and chains.
int defaultSegments(const algorithms::Algorithm &algorithm, algorithms::Collective collective, size_t bytes);

} // namespace braid::runtime

#endif
