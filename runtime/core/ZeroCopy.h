//===- ZeroCopy.h - can a step program run while its messages stay in the sender's buffer? ------------------------===//
//
// A step program's send takes the value of the moment. Without a copy, the bytes must stay until the receiver has used
// them, so a rank that overwrites chunks has to wait for its earlier sends of them. That adds waiting that the program did
// not have, and may deadlock: two ranks that exchange blocks in place each wait for the other to have read its own.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_ZEROCOPY_H
#define BRAID_RUNTIME_CORE_ZEROCOPY_H

#include "braid/runtime/algorithms/StepProgram.h"

namespace braid::runtime {

/// Whether the programs end when every write to a chunk waits until earlier sends of the same memory have been received.
/// `inPlace`: operands lie where results are written; else only what was written before counts.
bool runsWithoutCopies(const std::vector<algorithms::StepProgram> &programs, bool inPlace);

} // namespace braid::runtime

#endif
