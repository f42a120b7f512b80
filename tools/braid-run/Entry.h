//===- Entry.h - the entry function's arguments and results -----------------------------------------------*- C++ -*-===//
//
//   tensor<4xf32>    read by the program; a result is a new one
//   memref<4xf32>    an argument may be written: what it holds is printed too, and stays for the next step
//   f32, i32, index  a number, passed as a tensor of rank 0
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUN_ENTRY_H
#define BRAID_RUN_ENTRY_H

#include "Compile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace braid::run {

/// Reads the types before they become buffers, brings numbers into tensors, and gives the function the name that loaders
/// look for. Errors are emitted on the function.
mlir::LogicalResult prepareEntry(mlir::func::FuncOp entry, Program &program);

} // namespace braid::run

#endif
