//===- PlaceholderDialects.h - StableHLO and its kin, read by name ---------===//
//
// Braid reads StableHLO programs without the StableHLO libraries. Five dialects of a few hooks each let such a program
// parse, verify and print back byte for byte in MLIR's generic form: operations are unknown but allowed, attributes and
// types are kept as opaque text.
//
// Only the generic form can be read. Three other forms get one error that names the way to generic text: the pretty
// form, StableHLO bytecode, and portable artifacts (bytecode of the versioned dialect `vhlo`).
//
// A host that links the real dialects registers them *before* calling this; a name that is taken is left alone.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_PASSES_PLACEHOLDERDIALECTS_H
#define BRAID_PASSES_PLACEHOLDERDIALECTS_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::braid {

/// Registers placeholders for stablehlo, sdy, mhlo, chlo and vhlo where `registry` has no dialect of that name.
void registerPlaceholderDialects(DialectRegistry &registry);

/// Loads a placeholder for each of these names that `context` has neither loaded nor registered.
void loadPlaceholderDialects(MLIRContext &context);

/// True if `dialect` is one of the placeholders (and not the real one that a host registered).
bool isPlaceholderDialect(const Dialect *dialect);

} // namespace mlir::braid

#endif // BRAID_PASSES_PLACEHOLDERDIALECTS_H
