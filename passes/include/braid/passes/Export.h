//===- Export.h - collectives in the braid dialect in, StableHLO out -------===//

#ifndef BRAID_PASSES_EXPORT_H
#define BRAID_PASSES_EXPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/CommandLine.h"
#include <string>
#include <vector>

namespace mlir::braid {

/// Who reads the exported program, which decides the form of a bucket.
enum class ExportConsumer {
  Jax,       ///< a bucket is one packed tensor: JAX and XLA refuse collectives of several operands on the way in
  Stablehlo, ///< a bucket is one collective of several operands, where StableHLO has that form
};

inline auto exportConsumerValues() {
  return ::llvm::cl::values(
      clEnumValN(ExportConsumer::Jax, "jax", "a bucket is packed into one tensor, as JAX takes it"),
      clEnumValN(ExportConsumer::Stablehlo, "stablehlo", "a bucket is one collective of several operands"));
}

struct ExportOptions {
  ExportConsumer consumer = ExportConsumer::Jax;
  bool async = true; ///< write start and wait as async_start and async_done; else as one collective where the start is
};

/// Replaces the braid operations of `module` by StableHLO, as `braid-export` does.
LogicalResult exportStablehlo(ModuleOp module, const ExportOptions &options);

enum class XlaBackend { Cpu, Gpu };

/// The XLA options without which its compiler for this kind of device merges collectives again.
std::vector<std::string> xlaFlags(XlaBackend backend);

/// Writes the XLA options without which XLA merges collectives again, as JSON. The file is complete or not
/// there: it is written beside its place and then renamed.
LogicalResult writeXlaSidecar(Location loc, StringRef path);

} // namespace mlir::braid

#endif // BRAID_PASSES_EXPORT_H
