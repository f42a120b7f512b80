//===- InOnePiece.cpp - buffers of collectives lie in one piece -------------------------------------------------===//
#include "lowering/InOnePiece.h"
#include "lowering/Site.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace mlir::braid {

bool isInOnePiece(MemRefType type) {
  return type.getLayout().isIdentity() || memref::isStaticShapeAndContiguousRowMajor(type);
}

/// The same memory under a type that says that it is in one piece; null: there is none.
static Value uncast(Value buffer) {
  while (buffer) {
    auto type = dyn_cast<MemRefType>(buffer.getType());
    if (type && isInOnePiece(type))
      return buffer;
    auto cast = buffer.getDefiningOp<memref::CastOp>();
    buffer = cast ? cast.getSource() : Value();
  }
  return Value();
}

static Value allocateLike(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(builder, loc, buffer, dim));
  return memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType(), AffineMap(), type.getMemorySpace()), sizes);
}

LogicalResult putInOnePiece(LaunchOp launch) {
  Location loc = launch.getLoc();
  for (OpOperand &operand : launch->getOpOperands()) {
    Value buffer = operand.get();
    auto type = dyn_cast<MemRefType>(buffer.getType());
    if (!type || isInOnePiece(type))
      continue;
    if (Value whole = uncast(buffer)) {
      operand.set(whole);
      continue;
    }
    if (!llvm::all_of(launch.getToken().getUsers(), llvm::IsaPred<FinishOp>))
      return launch.emitOpError("buffer, expected one that is known to be contiguous, got ")
             << type
             << ": start the collective on a copy (bufferization.alloc_tensor), or wait for it before its token goes "
                "through a loop or a branch";
    if (runtimeMemory(type) != hostMemory)
      return launch.emitOpError("buffer, expected one in one piece in memory of a device, got ")
             << type << ": copy it on the device first";
    OpBuilder builder(launch);
    Value copy = allocateLike(builder, loc, buffer);
    memref::CopyOp::create(builder, loc, buffer, copy);
    operand.set(copy);
    bool isWritten = llvm::is_contained(launch.getInits(), copy);
    for (Operation *finish : launch.getToken().getUsers()) { // one on each path
      builder.setInsertionPointAfter(finish);
      if (isWritten)
        memref::CopyOp::create(builder, loc, copy, buffer);
      memref::DeallocOp::create(builder, loc, copy);
    }
  }
  return success();
}

} // namespace mlir::braid
