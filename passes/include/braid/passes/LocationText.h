//===- LocationText.h - where an operation comes from, for people -----------------------------------------------===//
#ifndef BRAID_PASSES_LOCATIONTEXT_H
#define BRAID_PASSES_LOCATIONTEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include <string>

namespace mlir::braid {

/// "file:line:col" of the innermost source position of a location, else its name, else "unknown location".
std::string locationText(Location location);

/// For errors about a whole program: where the module stands, or its first operation where the text has no `module`, whose place the
/// parser gives as line 0.
Location placeOf(ModuleOp module);

} // namespace mlir::braid

#endif
