//===- MeshText.h - meshes of devices, and groups named by their axes ------===//
//
// Two spellings of a mesh occur: `#sdy.mesh<["x"=2, "y"=4], device_ids=[...]>` on an `sdy.mesh` operation, and
// `#stablehlo.mesh<axes=[<name = "x", size = 2>], device_ids=dense<...>>` inline in a group attribute.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_PASSES_IMPORT_MESHTEXT_H
#define BRAID_PASSES_IMPORT_MESHTEXT_H

#include "braid/dialect/BraidDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::braid {

/// Axes in order, the last one counts fastest, and the device at each position (empty: position k is device k).
struct Mesh {
  SmallVector<MeshAxis> axes;
  SmallVector<int64_t> deviceIds;
  int64_t numDevices() const {
    int64_t devices = 1;
    for (const MeshAxis &axis : axes)
      devices *= axis.size;
    return devices;
  }
};

/// Every `sdy.mesh` of the module by symbol name; none where its attribute cannot be read.
using Meshes = llvm::StringMap<std::optional<Mesh>>;
Meshes readMeshes(ModuleOp module);

/// Groups as they were read, or what is wrong: with the program if `invalid`, else only with us.
struct GroupsAnswer {
  GroupsAttrInterface groups;
  bool invalid = false;
  bool partial = false; ///< invalid only because some ranks are in no group, which a broadcast may say
  std::string why;
};

/// Reads `#stablehlo.replica_group_mesh_axes<mesh = ..., axes = [...]>`.
GroupsAnswer readMeshAxes(Attribute attr, const Meshes &meshes);

} // namespace mlir::braid

#endif // BRAID_PASSES_IMPORT_MESHTEXT_H
