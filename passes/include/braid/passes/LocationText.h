//===- LocationText.h - where an operation comes from, for people -----------------------------------------------===//
#ifndef BRAID_PASSES_LOCATIONTEXT_H
#define BRAID_PASSES_LOCATIONTEXT_H

#include "mlir/IR/Location.h"
#include <string>

namespace mlir::braid {

/// "file:line:col" of the innermost source position of a location, else its name, else "unknown location".
std::string locationText(Location location);

} // namespace mlir::braid

#endif
