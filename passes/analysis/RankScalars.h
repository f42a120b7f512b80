//===- RankScalars.h - integers that are made of a rank's number, on every rank ---------------------------------===//
//
// A program says which block a rank owns by arithmetic on partition_id and replica_id, or by a table that is indexed by them (what
// XLA's partitioner writes, tables of tables for meshes). Run for each rank, that says which rank owns which block.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_RANKSCALARS_H
#define BRAID_PASSES_ANALYSIS_RANKSCALARS_H

#include "analysis/ModuleRanks.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace mlir::braid {

/// Of each rank one value.
using RankValues = SmallVector<int64_t>;

class RankScalars {
public:
  explicit RankScalars(ProgramRanks ranks) : ranks(std::move(ranks)) {}

  /// What a tensor of one integer holds on each rank; null if it is not made of rank numbers and constants alone. Valid until the
  /// next question.
  const RankValues *of(Value scalar) { return of(scalar, 0); }

private:
  const RankValues *of(Value scalar, int depth);
  std::optional<RankValues> compute(Value scalar, int depth);
  std::optional<RankValues> lookUp(Operation *slice, int depth);
  RankValues each(llvm::function_ref<int64_t(int64_t)> value) const;

  ProgramRanks ranks;
  DenseMap<Value, std::optional<RankValues>> known;
};

} // namespace mlir::braid

#endif
