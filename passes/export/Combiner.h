//===- Combiner.h - the reduction region of a StableHLO collective ---------===//

#ifndef BRAID_PASSES_EXPORT_COMBINER_H
#define BRAID_PASSES_EXPORT_COMBINER_H

#include "braid/dialect/BraidOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::braid {

/// The region for a reduction: a copy of the one that `collective` carries where that still computes its reduction,
/// else a new one. `average` gives the region of a sum.
std::unique_ptr<Region> combinerFor(OpBuilder &builder, CollectiveOpInterface collective, Type elementType);

} // namespace mlir::braid

#endif // BRAID_PASSES_EXPORT_COMBINER_H
