//===- SourceShape.h - operations read by name have the parts that they are read by -----------------------------===//
//
// Placeholder dialects verify nothing, so that a program may hold a dot_general without operands. What the analyses
// read by position is checked here, once for a module, and is an error on the operation.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_SOURCESHAPE_H
#define BRAID_PASSES_ANALYSIS_SOURCESHAPE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::braid {

/// Emits one error, on the first operation of StableHLO, MHLO or Shardy that lacks operands, results or regions of its
/// kind.
LogicalResult checkSourceShapes(ModuleOp module);

} // namespace mlir::braid

#endif // BRAID_PASSES_ANALYSIS_SOURCESHAPE_H
