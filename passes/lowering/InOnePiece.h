//===- InOnePiece.h - buffers of collectives lie in one piece ---------------------------------------------*- C++ -*-===//
//
// The runtime sends from, and receives into, memory without gaps. Tensors that are slices are copied before bufferization
// (ToDestination.cpp); but bufferization gives a loop or a branch one layout for all that comes there, and that one may not be known,
// or have gaps:
//
//   launch ins(%x : strided<[?, ?]>)     %x is memref.cast %y : contiguous    ->   launch ins(%y)
//   finish
//
//   launch outs(%x : strided<[12, 1]>)                                        ->   %p = alloc; copy %x, %p; launch outs(%p)
//   finish                                                                         finish; copy %p, %x; dealloc %p
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWERING_INONEPIECE_H
#define BRAID_PASSES_LOWERING_INONEPIECE_H

#include "braid/dialect/BraidOps.h"

namespace mlir::braid {

/// Whether memory of this type is known to have no gaps, and its elements to lie in the order of rows.
bool isInOnePiece(MemRefType type);

/// Has the launch work on buffers in one piece. Fails, with an error on it, where one has to be copied and the token goes through loops or
/// branches: then nobody knows where the copy ends.
LogicalResult putInOnePiece(LaunchOp launch);

} // namespace mlir::braid

#endif // BRAID_PASSES_LOWERING_INONEPIECE_H
