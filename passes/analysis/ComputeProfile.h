//===- ComputeProfile.h - measured times of computation, by location --------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_COMPUTEPROFILE_H
#define BRAID_PASSES_ANALYSIS_COMPUTEPROFILE_H

#include "braid/cost_models/Result.h"
#include "braid/cost_models/Units.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::braid {

namespace cost = ::braid::cost;

/// Two forms. Written by hand, or by `braid-sim profile` of a profiler's trace: the time of one execution of all kernels at a
/// source position, on a line, or of a name (LocatedTasks.h says which),
///
///   {"locations": {"model.py:12:3": "40 us", "model.py:14": "10 us", "jit(step)/mlp/dot_general": "1.2 ms",
///                  "jvp()/dot_general at model.py:15": "300 us"}}
///
/// Recorded by `braid-run --record-profile`: the time of one execution of each operation of one program, by its key
/// (UnplannedProgram.h); the median over ranks of their medians over steps, the quartiles of all, and how many there are.
/// What else an operation says (its name) is for the reader.
///
///   {"format": "braid-compute-profile", "version": 1, "program": "7b3c...", "machine": ..., "ranks": 4, "steps": 18,
///    "operations": {"91f0...": {"median": "40 us", "lower_quartile": "39 us", "upper_quartile": "42 us", "count": 72,
///                               "name": "linalg.matmul at model.mlir:3:4"}}}
struct ComputeProfile {
  llvm::StringMap<cost::Seconds> locations;
  std::string program; ///< recorded: the hash of its program, else empty
  llvm::StringMap<cost::Seconds> operations;
  std::string path;
};

cost::Result<ComputeProfile> readComputeProfile(const std::string &path);

} // namespace mlir::braid

#endif
