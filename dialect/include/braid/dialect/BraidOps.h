//===- BraidOps.h - the dialect's operations and the interface of collectives -------------------------*- C++ -*-===//
#ifndef BRAID_DIALECT_BRAIDOPS_H
#define BRAID_DIALECT_BRAIDOPS_H

#include "braid/dialect/BraidDialect.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::braid {

/// Bytes of these operands of the operation on one rank, see CollectiveOpInterface::getOperandBytes.
std::optional<int64_t> operandBytes(Operation *op, ValueRange operands);

/// Bytes of one element as it lies in memory: 1 for i1, whole bytes for narrower types; none for types without a size.
std::optional<int64_t> elementBytes(Type elementType);

/// Whether nobody communicates: the collective takes place among single ranks only and its results are its operands.
bool isLocalIdentity(Operation *collective);

} // namespace mlir::braid

#include "braid/dialect/BraidOpInterfaces.h.inc"

namespace mlir::braid {
class LaunchOp;
class StartOp;
class YieldOp;
} // namespace mlir::braid

#define GET_OP_CLASSES
#include "braid/dialect/BraidOps.h.inc"

#endif // BRAID_DIALECT_BRAIDOPS_H
