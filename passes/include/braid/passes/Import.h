//===- Import.h - StableHLO in, collectives in the braid dialect out -------===//

#ifndef BRAID_PASSES_IMPORT_H
#define BRAID_PASSES_IMPORT_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::braid {

/// Replaces the StableHLO collectives of `module` by braid ones, as `braid-import` does. What cannot be said in the
/// braid dialect stays, with a remark; a collective that is wrong gets one error, and the call fails.
LogicalResult importStablehlo(ModuleOp module);

} // namespace mlir::braid

#endif // BRAID_PASSES_IMPORT_H
