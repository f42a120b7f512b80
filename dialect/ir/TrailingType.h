//===- TrailingType.h - groups right before the types of an operation ---------------------------------*- C++ -*-===//
//
// MLIR's grammar gives a `: type` that follows a dialect's attribute to that attribute. In
//
//   braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
//
// the type is the operation's. So the attribute hands the type back in an array beside itself, and the operation's
// parser takes the array apart.
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_IR_TRAILINGTYPE_H
#define BRAID_IR_TRAILINGTYPE_H

#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::braid::detail {

inline Attribute withTrailingType(Attribute groups, Type trailing) {
  if (!groups || !trailing)
    return groups;
  return ArrayAttr::get(groups.getContext(), {groups, TypeAttr::get(trailing)});
}

/// The groups; `trailing` is set if a type was read behind them.
inline Attribute takeTrailingType(Attribute attr, Type &trailing) {
  auto pair = dyn_cast_or_null<ArrayAttr>(attr);
  if (!pair || pair.size() != 2 || !isa<TypeAttr>(pair[1]))
    return attr;
  trailing = cast<TypeAttr>(pair[1]).getValue();
  return pair[0];
}

} // namespace mlir::braid::detail

#endif // BRAID_IR_TRAILINGTYPE_H
