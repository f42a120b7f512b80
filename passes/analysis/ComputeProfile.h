//===- ComputeProfile.h - measured times of computation, by location --------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_COMPUTEPROFILE_H
#define BRAID_PASSES_ANALYSIS_COMPUTEPROFILE_H

#include "braid/cost_models/Result.h"
#include "braid/cost_models/Units.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::braid {

namespace cost = ::braid::cost;

/// `{"locations": {"model.py:12:3": "40 us", "jit(step)/mlp/dot_general": "1.2 ms"}}`: the time of one execution of all
/// kernels at that source position or of that name.
struct ComputeProfile {
  llvm::StringMap<cost::Seconds> locations;
};

cost::Result<ComputeProfile> readComputeProfile(const std::string &path);

} // namespace mlir::braid

#endif
