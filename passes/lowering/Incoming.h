//===- Incoming.h - what a result or an argument of a loop or branch may be -------------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_LOWERING_INCOMING_H
#define BRAID_PASSES_LOWERING_INCOMING_H

#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::braid {

/// The values that are given to a result or an argument of `op`, by the operation itself and from within.
inline SmallVector<Value> incomingValues(RegionBranchOpInterface op, Value value) {
  SmallVector<Value> values;
  auto add = [&](const RegionSuccessor &to, OperandRange operands) {
    for (auto [operand, input] : llvm::zip(operands, to.getSuccessorInputs()))
      if (input == value)
        values.push_back(operand);
  };
  SmallVector<RegionSuccessor> successors;
  op.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  for (const RegionSuccessor &successor : successors)
    add(successor, op.getEntrySuccessorOperands(successor));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (auto end = dyn_cast<RegionBranchTerminatorOpInterface>(block.back())) {
        successors.clear();
        end.getSuccessorRegions(SmallVector<Attribute>(end->getNumOperands()), successors);
        for (const RegionSuccessor &successor : successors)
          add(successor, end.getSuccessorOperands(successor));
      }
  return values;
}

} // namespace mlir::braid

#endif // BRAID_PASSES_LOWERING_INCOMING_H
