//===- ReplicaGroups.h - the groups of StableHLO collectives, read and checked ===//
//
// Used on the way in (a groups attribute of the braid dialect) and on the way out (lists, whatever the spelling was).
//
//===------------------------------------------------------------------------===//

#ifndef BRAID_PASSES_IMPORT_REPLICAGROUPS_H
#define BRAID_PASSES_IMPORT_REPLICAGROUPS_H

#include "MeshText.h"

#include "braid/dialect/BraidOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::braid {

/// The groups as StableHLO's list: a G x S tensor of i64, shorter rows padded with -1.
DenseIntElementsAttr groupsAsList(GroupsAttrInterface groups);

class ReplicaGroupsReader {
public:
  explicit ReplicaGroupsReader(ModuleOp module);

  /// What a `replica_groups` attribute says.
  GroupsAnswer read(Attribute replicaGroups, IdSpace space);

  /// How many ids there are, if the module says it: by mhlo.num_replicas and mhlo.num_partitions, or by its meshes.
  std::optional<int64_t> idsIn(IdSpace space) const;

private:
  GroupsAnswer readList(DenseIntElementsAttr list, IdSpace space) const;

  Meshes meshes;
  std::optional<int64_t> devices; // of the meshes, where they agree
  ModuleOp module;
  // Programs repeat one attribute on every collective.
  DenseMap<std::pair<Attribute, unsigned>, GroupsAnswer> answers;
};

} // namespace mlir::braid

#endif // BRAID_PASSES_IMPORT_REPLICAGROUPS_H
