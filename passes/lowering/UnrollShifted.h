//===- UnrollShifted.h - loops that hand a token on in the place of another -------------------------------*- C++ -*-===//
//
// A software pipeline of depth 2 keeps two collectives in flight, which move up by one place in each trip:
//
//   for (%t0 = a, %t1 = b) {           for (%t0 = a, %t1 = b) step 2 {
//     wait %t0                           wait %t0; %u = start
//     %u = start                 ->      wait %t1; %v = start
//     yield %t1, %u                      yield %u, %v
//   }                                  }
//                                      if (one trip is left) { wait %t0; %u = start; -> %t1, %u } else { -> %t0, %t1 }
//
// Bufferization keeps one buffer for each place that a loop carries, so it would copy what is in flight from one place to the
// other. Unrolled until every token that is handed on is a new one, or keeps its place, nothing has to move.
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWERING_UNROLLSHIFTED_H
#define BRAID_PASSES_LOWERING_UNROLLSHIFTED_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::braid {

/// Unrolls each scf.for that shifts tokens by as many trips as it takes, 8 at most. A scf.while that counts becomes such a
/// loop first. Gives the loops in which no such number of trips brings tokens into place.
llvm::DenseSet<Operation *> unrollShiftedTokens(ModuleOp module);

} // namespace mlir::braid

#endif // BRAID_PASSES_LOWERING_UNROLLSHIFTED_H
