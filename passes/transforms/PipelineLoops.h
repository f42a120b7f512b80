//===- PipelineLoops.h - the end of a loop's trip under the beginning of the next -------------------------------===//
#ifndef BRAID_PASSES_TRANSFORMS_PIPELINELOOPS_H
#define BRAID_PASSES_TRANSFORMS_PIPELINELOOPS_H

#include "braid/passes/PassEnums.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <utility>

namespace mlir::braid {

struct PipelineForm {
  LoopShift shift = LoopShift::Late;
  int pick = 0; ///< Ahead: how many of each loop, those in front (0: all). Around: which one, by size
  // Late:
  LoopCarry carry = LoopCarry::Token;
  bool chains =
      false;    ///< with carry=operand: what another collective of its trip waits for, too, together with that one
  int stay = 0; ///< of each loop: how many of those that the next trip needs first stay in their own
  bool knownTrips = false; ///< only loops that are known to make two trips or more
};

struct PipelinedLoops {
  int loops = 0, collectives = 0;
  int chained = 0;  ///< of these, with other collectives behind them
  int tooLarge = 0; ///< loops with bodies in which no other place to begin was looked for
  SmallVector<std::pair<Location, std::string>> remarks;
};

/// Puts the functions that communicate where loops call them, as JAX's loops do for their whole body. How many calls.
/// One that calls itself, or would be very large, stays a call: remarks of `category` ("": none) say so.
int inlineLoopBodies(ModuleOp module, StringRef category);

/// `category` is that of the remarks on what stays as it is; what is done is in the result.
PipelinedLoops pipelineLoops(ModuleOp module, const PipelineForm &form, StringRef category);

} // namespace mlir::braid

#endif
