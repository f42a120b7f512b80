//===- Data.h - what a rank's arguments hold ----------------------------------------------------------*- C++ -*-===//
//
//   zeros   ones   iota   rank      what they say; rank: the number of the rank in every element
//   const:V                         the number V
//   seed:S[:A]                      uniform in [-A, A) (integers: whole numbers), the same on all ranks; A defaults to 1
//   rank-seed:S[:A]                 the same with a stream of its own for each rank
//   file:PATH                       raw elements as they lie in memory; %r stands for the rank, %n for their number
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUN_DATA_H
#define BRAID_RUN_DATA_H

#include "mlir/IR/BuiltinTypes.h"
#include <string>
#include <vector>

namespace braid::run {

/// Fills `bytes` (of the tensor's size). Returns an error or "".
std::string fill(llvm::MutableArrayRef<char> bytes, mlir::RankedTensorType type, const std::string &spec, int rank,
                 int ranks);

/// %r and %n in a path.
std::string expandPath(std::string path, int rank, int ranks);

/// The first elements as text: "0.25", "[1, 2, 3, ...]".
std::string show(const char *data, mlir::RankedTensorType type, int64_t most);

} // namespace braid::run

#endif
