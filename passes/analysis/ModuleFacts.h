//===- ModuleFacts.h - what operations are to a scheduler -------------------------------------------------------===//
//
// One walk over a module answers: which operations communicate (themselves, in a region, or through a call), what a
// call runs, and to which of six classes an operation belongs.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_MODULEFACTS_H
#define BRAID_PASSES_ANALYSIS_MODULEFACTS_H

#include "braid/dialect/BraidDialect.h"
#include "braid/passes/LocationText.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::braid {

enum class OpClass {
  Free,       ///< constants and what is made from nothing else: recomputed by each reader, connects nothing
  Fusible,    ///< runs inside one kernel with its neighbours
  Kernel,     ///< pure, a kernel of its own
  Collective, ///< may be bucketed and run asynchronously
  Nested,     ///< a loop, branch, region or call that communicates
  Barrier,    ///< unknown effects, or communication that is left as it is: nothing crosses it
};

class ModuleFacts {
public:
  explicit ModuleFacts(ModuleOp module);

  /// `op` is a collective, or holds or calls one.
  bool communicates(Operation *op) const { return communicating.contains(op); }
  bool anyCommunication() const { return !communicating.empty(); }

  /// The function that a call runs, null if there is none in the module.
  FunctionOpInterface calleeOf(Operation *op) const;
  /// The functions that a custom_call names without saying what it does with them.
  SmallVector<FunctionOpInterface> computationsOf(Operation *op) const;
  /// Every operation of the function can run inside one kernel.
  bool fusesWhole(FunctionOpInterface function);
  /// `op` with its regions and callees has no effects.
  bool effectFree(Operation *op);

  /// Not for terminators. Operands must have been classified before (program order); answers are kept.
  OpClass classify(Operation *op);
  /// `op` is a barrier, or communicates and holds or calls one: no collective may move across it.
  bool stopsCollectives(Operation *op);
  /// Why `op` is a barrier: "unknown operation", ...
  StringRef barrierReason(Operation *op) const { return reasons.lookup(op); }

  /// The function named main, else null.
  FunctionOpInterface main() const;
  /// Functions with communication that nobody in the module calls, in order.
  SmallVector<FunctionOpInterface> communicatingRoots() const;

private:
  OpClass compute(Operation *op);
  OpClass barrier(Operation *op, StringRef reason);

  ModuleOp module;
  SymbolTable symbols;
  llvm::DenseMap<Operation *, SmallVector<Operation *>> callers;
  llvm::DenseSet<Operation *> communicating;
  llvm::DenseMap<Operation *, OpClass> classes;
  llvm::DenseMap<Operation *, StringRef> reasons;
  llvm::DenseMap<Operation *, bool> fusesWholeMemo, effectFreeMemo, stopsMemo;
};

/// The kinds that the cost models price. The others (rooted collectives, messages, barriers) stay where they are.
inline bool isPlannable(CollectiveKind kind) { return kind <= CollectiveKind::Broadcast; }

/// The operations of a block but its terminator, which may be one that is only known by name (Block::without_terminator
/// would count that one in).
llvm::iterator_range<Block::iterator> bodyOf(Block &block);

/// Every name and "file:line:col" in a location, innermost first.
SmallVector<std::string> locationKeys(Location location);

} // namespace mlir::braid

#endif
