//===- FusedKernels.h - the operations of a block, grouped into what runs as one --------------------------------===//
//
// Compilers run connected elementwise, broadcast, slice, transpose and reduce operations as one kernel. The grouping
// here is acyclic by construction:
//
//   level L(v) = max over operands u of L(u) + (1 if u or v is not fusible, else 0)
//   connected fusible operations of equal level in one block are one kernel
//
// An edge between two kernels always goes up a level: equal levels that are connected are the same kernel. What is made
// of constants only is free, recomputed by each reader, and connects nothing. Behind a barrier levels start above all
// before it.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_FUSEDKERNELS_H
#define BRAID_PASSES_ANALYSIS_FUSEDKERNELS_H

#include "analysis/ModuleFacts.h"
#include <vector>

namespace mlir::braid {

/// Operations that a schedule moves together.
struct Unit {
  OpClass kind = OpClass::Kernel;  ///< Fusible for a fused kernel; never Free
  SmallVector<Operation *, 1> ops; ///< program order
  SmallVector<int> operands;       ///< units whose results it reads, sorted, unique
};

struct BlockUnits {
  std::vector<Unit> units;                 ///< an order that respects operands and barriers, near program order
  llvm::DenseMap<Operation *, int> unitOf; ///< not for Free operations and the terminator
};

BlockUnits groupOperations(Block &block, ModuleFacts &facts);

/// For reports and timelines: "matmul at model.py:3:4", "5 fused at ...".
std::string nameOf(const Unit &unit);

/// Calls `visit` for each value that `op` or anything in its regions reads from outside of `op`.
void forEachValueRead(Operation *op, llvm::function_ref<void(Value)> visit);

} // namespace mlir::braid

#endif
