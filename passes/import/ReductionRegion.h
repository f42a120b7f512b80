//===- ReductionRegion.h - reduction regions matched by meaning ------------===//

#ifndef BRAID_PASSES_IMPORT_REDUCTIONREGION_H
#define BRAID_PASSES_IMPORT_REDUCTIONREGION_H

#include "braid/dialect/BraidDialect.h"
#include "mlir/IR/Region.h"

namespace mlir::braid {

/// What a region `(E, E) -> E` computes.
struct Reduction {
  ReductionKind kind;
  Type accumulate; ///< null, or the type that both operands are converted to and the result from
};

/// Reads the reduction that `region` computes on elements of type `elementType`. Operands may come in either order; on
/// i1 (a boolean) add, or and maximum all mean `or`, multiply, and and minimum all mean `and`. None, with the reason in
/// `why`, if it is no reduction that is known.
std::optional<Reduction> matchReduction(Region &region, Type elementType, std::string &why);

/// The element type that `region` combines, or null if it does not take two scalars of one type.
Type combinedElementType(Region &region);

} // namespace mlir::braid

#endif // BRAID_PASSES_IMPORT_REDUCTIONREGION_H
