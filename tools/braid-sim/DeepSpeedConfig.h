//===- DeepSpeedConfig.h - DeepSpeed's JSON as options of a policy ----------------------------------------------===//
#ifndef BRAID_SIM_DEEPSPEEDCONFIG_H
#define BRAID_SIM_DEEPSPEEDCONFIG_H

#include "braid/cost_models/Systems.h"

namespace mlir::braid::sim {

/// Reads "zero_optimization". Keys, their meaning and their defaults are those of DeepSpeed's documentation
/// (deepspeed.ai/docs/config-json); all others of the file are left alone. Errors: no JSON, no stage of 1 to 3, a key that
/// DeepSpeed does not have, a value of another kind, and what sends other bytes than the policy knows (quantised, offloaded,
/// hierarchical). `remarks`: what is set and has no effect, or none on the prediction.
::braid::cost::Result<::braid::cost::ZeroOptions> readDeepSpeedConfig(const std::string &path,
                                                                      std::vector<std::string> &remarks);

} // namespace mlir::braid::sim

#endif
