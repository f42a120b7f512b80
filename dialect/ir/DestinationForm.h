//===- DestinationForm.h - what operations with destinations have in common ---------------------------*- C++ -*-===//
#ifndef BRAID_DIALECT_IR_DESTINATIONFORM_H
#define BRAID_DIALECT_IR_DESTINATIONFORM_H

#include "braid/dialect/BraidOps.h"

namespace mlir::braid {

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// An effect on the operands that are buffers.
template <typename EffectT> void addEffect(Effects &effects, MutableOperandRange operands) {
  for (OpOperand &operand : operands)
    if (isa<BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(EffectT::get(), &operand, SideEffects::DefaultResource::get());
}

/// All tensors or all buffers, one result for each destination that is a tensor.
LogicalResult verifyDestinationForm(Operation *op, ValueRange inits, ResultRange results);

} // namespace mlir::braid

#endif // BRAID_DIALECT_IR_DESTINATIONFORM_H
