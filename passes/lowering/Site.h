//===- Site.h - what the runtime must know of one call site, as constants ---------------------------------------===//
#ifndef BRAID_PASSES_LOWERING_SITE_H
#define BRAID_PASSES_LOWERING_SITE_H

#include "braid/dialect/BraidOps.h"

namespace mlir::braid {

struct ProgramRanks;

/// The runtime's number of an element type (braid_type), or failure.
std::optional<int64_t> runtimeType(Type element);

/// Where the buffers of a launch are (braid_memory), by their memory space: none is the host's; 1, or global of the GPU dialect, a
/// device's. Failure with an error on the launch if there is another, or several.
FailureOr<int64_t> runtimeMemory(LaunchOp launch);
constexpr int64_t hostMemory = 0, deviceMemory = 2;
/// One buffer's; nothing: the runtime knows no such memory.
std::optional<int64_t> runtimeMemory(BaseMemRefType type);

/// Whether the launch moves tensors of several element types: as bytes then, in one message.
bool movesBytes(LaunchOp launch);

/// The words of a site as braid_module.h describes them, or failure with an error on the launch.
FailureOr<SmallVector<int64_t>> siteWords(LaunchOp launch, const ProgramRanks &ranks, int64_t number);

} // namespace mlir::braid

#endif // BRAID_PASSES_LOWERING_SITE_H
