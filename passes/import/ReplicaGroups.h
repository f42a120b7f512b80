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

  /// What a `replica_groups` attribute says. Without groups, `why` says what is wrong: with the program if `invalid`,
  /// else only with us.
  struct Answer {
    GroupsAttrInterface groups;
    bool invalid = false;
    bool partial = false; ///< invalid only because some ranks are in no group, which a broadcast may say
    std::string why;
  };
  Answer read(Attribute replicaGroups, IdSpace space);

  /// How many ids there are, if the module says it: by mhlo.num_replicas and mhlo.num_partitions, or by its meshes.
  std::optional<int64_t> idsIn(IdSpace space) const;

private:
  Answer readList(DenseIntElementsAttr list, IdSpace space) const;

  llvm::StringMap<Mesh> meshes;
  std::optional<int64_t> devices; // of the meshes, where they agree
  ModuleOp module;
  // Programs repeat one attribute on every collective.
  DenseMap<std::pair<Attribute, unsigned>, Answer> answers;
};

} // namespace mlir::braid

#endif // BRAID_PASSES_IMPORT_REPLICAGROUPS_H
