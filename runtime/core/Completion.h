//===- Completion.h - where in its step program a sum becomes complete --------------------------------------------===//
//
// An average is a sum and one division. The division costs a pass over the result, unless it is part of the step that adds
// the last operand. Which step that is follows from the programs of all ranks: each chunk holds so many operands, a message
// carries those of its chunk, a combination adds them up.
//
// Example, ring all_reduce on 2 ranks, rank 0: send c1, reduce c0 (2 operands: complete, divide here), send c0 (an average
// already), receive c1 (rank 1 divided it).
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_COMPLETION_H
#define BRAID_RUNTIME_CORE_COMPLETION_H

#include "braid/runtime/algorithms/StepProgram.h"

namespace braid::runtime {

/// For each step of rank `me`, whether it completes the sum in its chunks. Empty if a step of any rank completes only some of
/// its chunks, or helpers take part: then the division is a pass of its own, on all ranks.
std::vector<bool> completingSteps(const std::vector<algorithms::StepProgram> &programs, int me);

} // namespace braid::runtime

#endif
