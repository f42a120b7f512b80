//===- MeshText.cpp - meshes of devices, and groups named by their axes ----===//

#include "MeshText.h"
#include "OpaqueText.h"

#include "braid/passes/StablehloOp.h"

using namespace mlir;
using namespace mlir::braid;

/// "x"=2, "y"=4 ] (the bracket is already open)
static bool takeShardyAxes(OpaqueText &text, MLIRContext *context, Mesh &mesh) {
  while (!text.take("]")) {
    auto name = text.takeString();
    if (!name || !text.take("="))
      return false;
    auto size = text.takeInteger();
    if (!size || *size <= 0)
      return false;
    mesh.axes.push_back({StringAttr::get(context, *name), *size});
    text.take(",");
  }
  return true;
}

/// <["x"=2, "y"=4], device_ids=[0, 2, 1, 3]>
static std::optional<Mesh> readShardyMesh(StringRef spelling, MLIRContext *context) {
  OpaqueText text(spelling);
  Mesh mesh;
  if (!text.take("sdy.mesh<") || !text.take("[") || !takeShardyAxes(text, context, mesh))
    return std::nullopt;
  if (text.take(",")) {
    if (!text.takeKey("device_ids") || !text.take("["))
      return std::nullopt;
    while (!text.take("]")) {
      auto id = text.takeInteger();
      if (!id)
        return std::nullopt;
      mesh.deviceIds.push_back(*id);
      text.take(",");
    }
  }
  return mesh;
}

Meshes mlir::braid::readMeshes(ModuleOp module) {
  Meshes meshes;
  for (Operation &op : *module.getBody()) {
    if (op.getName().getStringRef() != "sdy.mesh")
      continue;
    auto name = getSourceAttr<StringAttr>(&op, "sym_name");
    Attribute attr = getSourceAttr(&op, "mesh");
    if (!name || !attr)
      continue;
    meshes[name.getValue()] = readShardyMesh(spellingOf(attr), op.getContext());
  }
  return meshes;
}

/// axes=[<name = "x", size = 2>], device_ids=dense<...>> after "#stablehlo.mesh<"
static std::optional<Mesh> takeInlineMesh(OpaqueText &text, MLIRContext *context) {
  Mesh mesh;
  if (!text.takeKey("axes") || !text.take("["))
    return std::nullopt;
  while (!text.take("]")) {
    text.take("#stablehlo.mesh_axis");
    if (!text.take("<") || !text.takeKey("name"))
      return std::nullopt;
    auto name = text.takeString();
    if (!name || !text.take(",") || !text.takeKey("size"))
      return std::nullopt;
    auto size = text.takeInteger();
    if (!size || *size <= 0 || !text.take(">"))
      return std::nullopt;
    mesh.axes.push_back({StringAttr::get(context, *name), *size});
    text.take(",");
  }
  if (text.take(",")) {
    if (!text.takeKey("device_ids"))
      return std::nullopt;
    auto ids = dyn_cast_or_null<DenseIntElementsAttr>(text.takeAttribute(context));
    if (!ids || !ids.getElementType().isInteger(64))
      return std::nullopt;
    mesh.deviceIds.assign(ids.value_begin<int64_t>(), ids.value_end<int64_t>());
  }
  return text.take(">") ? std::optional<Mesh>(mesh) : std::nullopt;
}

/// #stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>, or a bare "x"
static std::optional<AxisRef> takeAxisRef(OpaqueText &text, MLIRContext *context) {
  AxisRef axis;
  if (auto bare = text.takeString()) {
    axis.name = StringAttr::get(context, *bare);
    return axis;
  }
  text.take("#stablehlo.axis_ref");
  if (!text.take("<") || !text.takeKey("name"))
    return std::nullopt;
  auto name = text.takeString();
  if (!name)
    return std::nullopt;
  axis.name = StringAttr::get(context, *name);
  if (text.take(",")) {
    if (!text.takeKey("sub_axis_info") || !text.take("("))
      return std::nullopt;
    auto preSize = text.takeInteger();
    if (!preSize || !text.take(")"))
      return std::nullopt;
    auto size = text.takeInteger();
    if (!size)
      return std::nullopt;
    axis.preSize = *preSize;
    axis.size = *size;
  }
  return text.take(">") ? std::optional<AxisRef>(axis) : std::nullopt;
}

GroupsAnswer mlir::braid::readMeshAxes(Attribute attr, const Meshes &meshes) {
  MLIRContext *context = attr.getContext();
  std::string spelling = spellingOf(attr);
  GroupsAnswer unknown, answer;
  unknown.why = "groups '" + spelling + "' are in no form that is known";
  OpaqueText text(spelling);
  if (!text.take("stablehlo.replica_group_mesh_axes<") || !text.takeKey("mesh"))
    return unknown;

  std::optional<Mesh> mesh;
  if (text.take("@")) {
    auto name = text.takeSymbol();
    if (!name)
      return unknown;
    auto it = meshes.find(*name);
    if (it == meshes.end()) {
      answer.invalid = true;
      answer.why = "'replica_groups' expected a mesh of the module, got @" + *name;
      return answer;
    }
    mesh = it->second;
  } else if (text.take("#stablehlo.mesh") && text.take("<")) {
    mesh = takeInlineMesh(text, context);
  }
  if (!mesh)
    return unknown;

  SmallVector<AxisRef> axes;
  if (!text.take(",") || !text.takeKey("axes") || !text.take("["))
    return unknown;
  while (!text.take("]")) {
    auto axis = takeAxisRef(text, context);
    if (!axis)
      return unknown;
    axes.push_back(*axis);
    text.take(",");
  }
  if (!text.take(">"))
    return unknown;

  // The attribute's own verifier says what is wrong with axes that do not fit their mesh.
  Attribute order = mesh->deviceIds.empty() ? Attribute() : DenseI64ArrayAttr::get(context, mesh->deviceIds);
  ScopedDiagnosticHandler collect(context, [&](Diagnostic &diagnostic) {
    answer.why = "'replica_groups': " + diagnostic.str();
    return success();
  });
  auto emit = [&] { return emitError(UnknownLoc::get(context)); };
  // Named in full, or overload resolution takes a template that needs the attribute's storage.
  answer.groups = MeshAxesAttr::getChecked(function_ref<InFlightDiagnostic()>(emit), context, ArrayRef(mesh->axes),
                                           ArrayRef(axes), order);
  answer.invalid = !answer.groups;
  return answer;
}
