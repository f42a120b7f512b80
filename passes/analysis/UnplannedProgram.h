//===- UnplannedProgram.h - a program as it was before planning, and its names for operations ----------*- C++ -*-===//
//
// A measurement outlives the plan it was made under: a profile recorded from the planned program is read when the program is
// planned, and the other way round. So neither positions nor plans may enter what operations are called.
//
//   key of a value      hash of (operation, attributes, types, keys of its operands), from the arguments on: a Merkle tree
//   key of an operation the same without the result's number; two operations of one key compute the same
//   hash of a program   of the sorted keys of its operations
//
// Before keys are taken, a copy of the module is put back: starts and waits become the collective in between, buckets become
// one collective per tensor, plans go. Moving operations, and moving text, changes no key; another shape, constant or order
// of operands does.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_UNPLANNEDPROGRAM_H
#define BRAID_PASSES_ANALYSIS_UNPLANNEDPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace mlir::braid {

class UnplannedProgram {
public:
  explicit UnplannedProgram(ModuleOp module);

  /// The copy, before planning.
  ModuleOp module() { return *copy; }
  /// What an operation of the module became in the copy; null for collectives, starts and waits.
  Operation *copyOf(Operation *op) const { return mapping.lookupOrNull(op); }
  Block *copyOf(Block *block) const { return mapping.lookupOrNull(block); }

  /// 16 hexadecimal digits. `op` is of the original module and has a copy.
  std::string key(Operation *op) const;
  std::string hash() const;

private:
  uint64_t keyOf(Value value) const;
  uint64_t hashOp(Operation *op);
  uint64_t hashBlock(Block &block, uint64_t owner);

  IRMapping mapping;
  OwningOpRef<ModuleOp> copy;
  llvm::DenseMap<Operation *, uint64_t> keys;
  llvm::DenseMap<Block *, uint64_t> blocks; ///< what arguments are hashed from
  uint64_t all = 0;
};

} // namespace mlir::braid

#endif
