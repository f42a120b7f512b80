//===- Register.h - passes and pipelines for tools, plugins and embedders ----------------------------------------===//
#ifndef BRAID_PASSES_REGISTER_H
#define BRAID_PASSES_REGISTER_H

namespace mlir::braid {

/// Registers every pass (braid-import, braid-plan, ...) for textual pipelines and flags.
void registerBraidPasses();
/// Registers `braid-default-pipeline`.
void registerBraidPipelines();

} // namespace mlir::braid

#endif // BRAID_PASSES_REGISTER_H
