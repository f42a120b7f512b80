//===- MergeCollectives.h - several collectives as one variadic operation ---------------------------------------===//
#ifndef BRAID_PASSES_TRANSFORMS_MERGECOLLECTIVES_H
#define BRAID_PASSES_TRANSFORMS_MERGECOLLECTIVES_H

#include "braid/dialect/BraidOps.h"

namespace mlir::braid {

/// One operation over the operands of all `members` (at least one, all of one key), built where `builder` stands.
/// Locations are fused, discardable attributes merged (the first one's value where they differ), plans dropped. The
/// members' results are replaced and the members erased. A single member is moved instead.
CollectiveOpInterface mergeCollectives(OpBuilder &builder, ArrayRef<CollectiveOpInterface> members);

} // namespace mlir::braid

#endif
