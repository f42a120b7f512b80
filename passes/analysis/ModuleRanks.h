//===- ProgramRanks.h - how many ranks run a module --------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_MODULERANKS_H
#define BRAID_PASSES_ANALYSIS_MODULERANKS_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::braid {

/// A module runs as `replicas` * `partitions` ranks; rank = replica * partitions + partition.
struct ProgramRanks {
  int64_t replicas = 1, partitions = 1;
  std::string source; ///< where the number comes from: "mhlo.num_partitions", "sdy.mesh", "the largest id in groups"
  int64_t ranks() const { return replicas * partitions; }
};

/// From mhlo.num_replicas and mhlo.num_partitions; else the largest sdy.mesh; else the ids in groups. Zero ranks: the
/// module does not say.
ProgramRanks readModuleRanks(ModuleOp module);

} // namespace mlir::braid

#endif
