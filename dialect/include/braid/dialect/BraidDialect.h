//===- BraidDialect.h - the dialect, its attributes, types and enums ----------------------------------*- C++ -*-===//
#ifndef BRAID_DIALECT_BRAIDDIALECT_H
#define BRAID_DIALECT_BRAIDDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

namespace mlir::braid {

/// What collectives, start and wait write to. It makes them convergent: see the dialect's description.
struct CommunicationResource : public SideEffects::Resource::Base<CommunicationResource> {
  StringRef getName() final { return "Communication"; }
};

/// What timed computation writes to: time passes where it stands.
struct TimeResource : public SideEffects::Resource::Base<TimeResource> {
  StringRef getName() final { return "Time"; }
};

/// One axis of a mesh of devices.
struct MeshAxis {
  StringAttr name;
  int64_t size;
  bool operator==(const MeshAxis &other) const { return name == other.name && size == other.size; }
};

/// An axis, or the part of it that comes after a part of size `preSize`; size 0: the whole axis.
struct AxisRef {
  StringAttr name;
  int64_t preSize = 1;
  int64_t size = 0;
  bool isWhole() const { return size == 0; }
  bool operator==(const AxisRef &other) const {
    return name == other.name && preSize == other.preSize && size == other.size;
  }
};

inline llvm::hash_code hash_value(const MeshAxis &axis) { return llvm::hash_combine(axis.name, axis.size); }
inline llvm::hash_code hash_value(const AxisRef &axis) {
  return llvm::hash_combine(axis.name, axis.preSize, axis.size);
}

} // namespace mlir::braid

#include "braid/dialect/BraidAttrInterfaces.h.inc"
#include "braid/dialect/BraidDialect.h.inc"
#include "braid/dialect/BraidEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "braid/dialect/BraidAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "braid/dialect/BraidTypes.h.inc"

#endif // BRAID_DIALECT_BRAIDDIALECT_H
