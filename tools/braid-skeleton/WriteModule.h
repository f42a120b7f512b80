//===- WriteModule.h - a schedule as a module of timed computation and collectives ----------------------*- C++ -*-===//
#ifndef BRAID_SKELETON_WRITEMODULE_H
#define BRAID_SKELETON_WRITEMODULE_H

#include "braid/passes/PlanModule.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::braid::skeleton {

/// The skeleton of one policy. `plans`: with how each collective is run. `title` says what it is of, in the module's attribute `braid.skeleton`. Errors: a collective
/// whose size is not static.
FailureOr<OwningOpRef<ModuleOp>> writeModule(ModuleOp program, const ModulePlan &plan,
                                             const ::braid::cost::Schedule &schedule, bool plans, StringRef title);

} // namespace mlir::braid::skeleton

#endif
