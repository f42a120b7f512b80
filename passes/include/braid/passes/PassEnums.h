//===- PassEnums.h - policies that pass options choose from ------------------------------------------------------===//
#ifndef BRAID_PASSES_PASSENUMS_H
#define BRAID_PASSES_PASSENUMS_H

#include "llvm/Support/CommandLine.h"

namespace mlir::braid {

/// Who runs the planned program. It decides the form, and so the price, of a bucket.
enum class PlanTarget {
  Stablehlo, ///< exported: buckets as one buffer with pack and unpack copies
  Braid,     ///< stays in the dialect: one launch over several tensors
};

/// What a plan whose fingerprint no longer fits is.
enum class StalePolicy { Error, Remark };

inline auto planTargetValues() {
  return ::llvm::cl::values(clEnumValN(PlanTarget::Stablehlo, "stablehlo", "exported: a bucket is one packed buffer"),
                            clEnumValN(PlanTarget::Braid, "braid", "stays in the dialect: a bucket is one launch"));
}

} // namespace mlir::braid

#endif // BRAID_PASSES_PASSENUMS_H
