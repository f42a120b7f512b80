//===- Groups.h - what groups mean, whatever their spelling -------------------------------------------*- C++ -*-===//
#ifndef BRAID_DIALECT_GROUPS_H
#define BRAID_DIALECT_GROUPS_H

#include "braid/dialect/BraidDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::braid {

/// The groups as lists, where an absent list stands for one group of ranks 0 to rankCount - 1 (no group if rankCount is
/// 0).
SmallVector<SmallVector<int64_t>> expandGroups(GroupsAttrInterface groups, int64_t rankCount = 0);

/// Whether two attributes mean the same groups: rows as a set, ids inside a row as a set unless orderMatters. If one of
/// them is "all ranks in one group", the answer needs the number of ranks; without it only the same spelling is equal.
bool sameGroups(GroupsAttrInterface a, GroupsAttrInterface b, bool orderMatters, int64_t rankCount = 0);

/// The iota form with the same rows in the same order if there is one, else the attribute itself.
GroupsAttrInterface compressGroups(GroupsAttrInterface groups);

/// No program has more ranks. Numbers read from text end here, so that none of them makes lists without end.
inline constexpr int64_t kMostRanks = int64_t(1) << 24;

/// How many replicas and partitions a module says it runs as (mhlo.num_replicas, mhlo.num_partitions).
struct ModuleRanks {
  int64_t replicas = 1;
  int64_t partitions = 1;
  bool stated = false; ///< the module has at least one of the attributes
  /// Replicas times partitions; the largest number there is if that is not representable.
  int64_t total() const;
  /// How many ids there are in this space.
  int64_t idsIn(IdSpace space) const;
};
ModuleRanks moduleRanks(ModuleOp module);
/// The same for the module around an operation.
ModuleRanks moduleRanksAround(Operation *op);

/// The number of ranks of the program: mhlo.num_replicas * mhlo.num_partitions if that is more than 1, else what the
/// largest collective needs; 1 without collectives. `exactly`: false where only the pairs of permutes say so, which leave it
/// open whether there are more.
int64_t rankCountOf(ModuleOp module, bool *exactly = nullptr);

} // namespace mlir::braid

#endif // BRAID_DIALECT_GROUPS_H
