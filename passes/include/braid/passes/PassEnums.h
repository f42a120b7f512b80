//===- PassEnums.h - policies that pass options choose from ------------------------------------------------------===//
#ifndef BRAID_PASSES_PASSENUMS_H
#define BRAID_PASSES_PASSENUMS_H

#include "braid/cost_models/Schedule.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::braid {

/// Who runs the planned program. It decides the form, and so the price, of a bucket.
enum class PlanTarget {
  Stablehlo, ///< exported: buckets as one buffer with pack and unpack copies
  Braid,     ///< stays in the dialect: one launch over several tensors
};

/// What a plan whose fingerprint no longer fits is.
enum class StalePolicy { Error, Remark };

/// What a pipelined loop carries of a collective that completes in the next trip.
enum class LoopCarry {
  Token,   ///< it starts in its own trip: the token and the operands in flight
  Operand, ///< it runs in the next trip: what it reads
};

/// Where a trip of a pipelined loop begins.
enum class LoopShift {
  Late,   ///< behind a collective: it completes in the next trip
  Ahead,  ///< in front of all but a collective and what leads to it, which run a trip ahead
  Around, ///< at a collective: it runs beside the end of its own trip and the beginning of the next
};

/// Whether loops are pipelined in a plan.
enum class LoopPolicy { Auto, Pipeline, Keep };

inline auto loopCarryValues() {
  return ::llvm::cl::values(
      clEnumValN(LoopCarry::Token, "token", "it starts in its own trip and is awaited in the next one"),
      clEnumValN(LoopCarry::Operand, "operand", "all of it runs in the next trip, first of all"));
}
inline auto loopShiftValues() {
  return ::llvm::cl::values(
      clEnumValN(LoopShift::Late, "late", "collectives at the end of a trip complete in the next one"),
      clEnumValN(LoopShift::Ahead, "ahead", "collectives at the beginning of a trip run in the one before"),
      clEnumValN(LoopShift::Around, "around",
                 "the largest collective runs beside the end of its trip and the beginning of the next"));
}
inline auto loopPolicyValues() {
  return ::llvm::cl::values(clEnumValN(LoopPolicy::Auto, "auto", "pipelined where the step gains"),
                            clEnumValN(LoopPolicy::Pipeline, "pipeline", "pipelined where it is possible"),
                            clEnumValN(LoopPolicy::Keep, "keep", "as they are"));
}

inline auto planTargetValues() {
  return ::llvm::cl::values(clEnumValN(PlanTarget::Stablehlo, "stablehlo", "exported: a bucket is one packed buffer"),
                            clEnumValN(PlanTarget::Braid, "braid", "stays in the dialect: a bucket is one launch"));
}

/// Whose schedule is written into the program.
inline auto planPolicyValues() {
  using ::braid::cost::Policy;
  return ::llvm::cl::values(clEnumValN(Policy::Braid, "braid", "the plan, which is the best that was found"),
                            clEnumValN(Policy::NoOverlap, "no-overlap", "the program as written"),
                            clEnumValN(Policy::PerTensor, "per-tensor", "no buckets, early starts"),
                            clEnumValN(Policy::Ddp25MiB, "ddp-25mib", "PyTorch DDP's buckets: 25 MiB, the first 1 MiB"),
                            clEnumValN(Policy::Xla30MiB, "xla-30mib", "XLA's combiner with its threshold of 30 MiB"),
                            clEnumValN(Policy::OneBucket, "one-bucket", "as much together as dependences allow"));
}

} // namespace mlir::braid

#endif // BRAID_PASSES_PASSENUMS_H
