//===- LoopRotation.h - a loop in two stages --------------------------------------------------------------------===//
//
//   for (%i = lb to ub, %a = %init) { early(%i, %a) ; late(...) ; yield }
//
// becomes, for a loop of one trip or more,
//
//   early(lb, %init)
//   for (%i = lb + step to ub, ...) { late(of the trip before) and early(%i, ...), in the order given ; yield }
//   late(of the last trip)
//
// with whatever `late` reads of its trip carried along. scf::pipelineForLoop does the same for scf.for, but guards each operation
// by a predicate where the number of trips is not known, which a collective and its token cannot have: here one branch
// around all of it does.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_TRANSFORMS_LOOPROTATION_H
#define BRAID_PASSES_TRANSFORMS_LOOPROTATION_H

#include "analysis/LoopStages.h"

namespace mlir::braid {

/// `order`: all operations of the body but its terminator, each late one before the early ones that read what it hands on.
/// No early operation reads what a late one makes in the same trip. Replaces the loop.
void rotateLoop(const CarryingLoop &loop, ArrayRef<Operation *> order, const llvm::DenseSet<Operation *> &late,
                ModuleFacts &facts);

} // namespace mlir::braid

#endif
