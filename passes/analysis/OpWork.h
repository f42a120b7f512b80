//===- OpWork.h - operations of arithmetic and bytes of one op, by name -----------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_OPWORK_H
#define BRAID_PASSES_ANALYSIS_OPWORK_H

#include "analysis/ModuleFacts.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>

namespace mlir::braid {

/// What one kernel does.
struct OpWork {
  double flops = 0;
  double bytes = 0;     ///< read and written in device memory
  std::string peak;     ///< element type whose peak rate bounds it; empty: none, memory only
  bool matmul = false;  ///< runs on the matrix units, at their efficiency
  bool highest = false; ///< asks for full precision: f32 products may not run at a lower one's rate
};

/// The numbers of the list `name` in the text of an attribute: "lhs_batching_dimensions = [0, 1]".
SmallVector<int64_t> listIn(StringRef text, StringRef name);

/// Bytes of a value on one rank; 0 for what is not a tensor or has a dynamic size.
int64_t bytesOf(Value value);
int64_t elementsOf(Value value);

/// The work of an operation that is a kernel of its own. None: nothing is known of it (a custom call).
std::optional<OpWork> workOf(Operation *op);

/// Bytes that a fused reader takes from `use`: a slice reads its result, an update in place its update.
int64_t bytesRead(OpOperand &use, ModuleFacts &facts);
/// Bytes written for `value` if it leaves its kernel: an update in place writes its update only.
int64_t bytesWritten(Value value, ModuleFacts &facts);

/// The value that holds the memory of `value`: looks through reshapes, broadcasts (a reader recomputes them),
/// identities, updates in place and loop results. `value` itself where it has memory of its own. `known` keeps answers.
Value memoryOf(Value value, ModuleFacts &facts, llvm::DenseMap<Value, Value> *known = nullptr);
/// Reshape, bitcast or broadcast: costs nothing by itself.
bool isView(Operation *op);
/// A view, or a convert that only fused kernels of the block read: each of them recomputes it.
bool isRecomputed(Operation *op, ModuleFacts &facts);
/// The value that a reader of `value` loads: looks through what is recomputed.
Value loadedValue(Value value, ModuleFacts &facts);

} // namespace mlir::braid

#endif
