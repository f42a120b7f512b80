//===- Certificate.h - the proof that a plan carries ------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_CERTIFICATE_H
#define BRAID_PASSES_ANALYSIS_CERTIFICATE_H

#include "analysis/ModelledPlan.h"

namespace mlir::braid {

/// The value of `braid.certificate`: lower bound with its witness, the gap to it, the objective, quantiles of a step,
/// the hashes of the order of collectives (of the module as it is now), and what keeps the order from being certified.
/// Times are in seconds.
DictionaryAttr makeCertificate(ModuleOp module, const ModelledPlan &plan);

} // namespace mlir::braid

#endif
