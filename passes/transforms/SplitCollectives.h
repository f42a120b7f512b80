//===- SplitCollectives.h - one large collective as several small ones ------------------------------------------===//
#ifndef BRAID_PASSES_TRANSFORMS_SPLITCOLLECTIVES_H
#define BRAID_PASSES_TRANSFORMS_SPLITCOLLECTIVES_H

#include "braid/dialect/BraidOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::braid {

/// What collectives become.
struct SplitForm {
  int64_t pieces = 4;    ///< fewer where no dimension is as long
  bool pipeline = false; ///< cut what makes operands and reads results too
};

/// What was cut.
struct Split {
  int64_t collectives = 0;
  int64_t pieces = 0;                                    ///< most of one collective
  int64_t operations = 0;                                ///< of computation
  SmallVector<std::pair<Location, std::string>> remarks; ///< one for each collective: into what
};

/// Cuts those of `which` that can be. `category` is that of remarks why others stay whole; empty: nothing is said.
Split splitCollectives(ModuleOp module, ArrayRef<CollectiveOpInterface> which, const SplitForm &form,
                       StringRef category);

} // namespace mlir::braid

#endif
