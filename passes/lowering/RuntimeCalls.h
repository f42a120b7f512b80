//===- RuntimeCalls.h - calls of the runtime's module interface -------------------------------------------------===//
//
// Everything is an i64, so that upstream's lowerings of func, memref and arith do the rest. Memory is the exception: a
// pointer that LLVM knows to be nobody else's.
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWERING_RUNTIMECALLS_H
#define BRAID_PASSES_LOWERING_RUNTIMECALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::braid {

class RuntimeCalls {
public:
  explicit RuntimeCalls(ModuleOp module) : module(module), word(IntegerType::get(module.getContext(), 64)) {}

  /// Calls braid_module_`name` with words; `returns`: it gives one.
  func::CallOp call(OpBuilder &builder, Location loc, StringRef name, ValueRange operands, bool returns = false);
  Value constant(OpBuilder &builder, Location loc, int64_t value);
  Value toWord(OpBuilder &builder, Location loc, Value index);
  /// Where constant data lie.
  Value address(OpBuilder &builder, Location loc, StringRef prefix, DenseElementsAttr data);
  Value words(OpBuilder &builder, Location loc, ArrayRef<int64_t> content);
  /// A zero-terminated string; the empty one is a null pointer.
  Value text(OpBuilder &builder, Location loc, StringRef content);

  /// A buffer's memory from the runtime, and back. `site`: the words of one that touches it, or none.
  LogicalResult lower(memref::AllocOp alloc, ArrayRef<int64_t> site);
  LogicalResult lower(memref::DeallocOp dealloc);

  ModuleOp module;
  Type word;

private:
  llvm::DenseMap<Attribute, memref::GlobalOp> globals;
};

} // namespace mlir::braid

#endif // BRAID_PASSES_LOWERING_RUNTIMECALLS_H
