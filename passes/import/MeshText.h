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

/// Every `sdy.mesh` of the module that can be read, by symbol name.
llvm::StringMap<Mesh> readMeshes(ModuleOp module);

/// Reads `#stablehlo.replica_group_mesh_axes<mesh = ..., axes = [...]>`; null with the reason in `why` if it cannot.
GroupsAttrInterface readMeshAxes(Attribute attr, const llvm::StringMap<Mesh> &meshes, std::string &why);

} // namespace mlir::braid

#endif // BRAID_PASSES_IMPORT_MESHTEXT_H
