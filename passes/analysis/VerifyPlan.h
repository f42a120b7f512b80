//===- VerifyPlan.h - checks a planned module -------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_VERIFYPLAN_H
#define BRAID_PASSES_ANALYSIS_VERIFYPLAN_H

#include "braid/passes/PassEnums.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::braid {

/// Rules V1 to V5 of braid-verify-plan. Shares no code with the planner: it reads the IR that the planner wrote. An
/// empty cluster hash: that of the certificate; without one either, fingerprints are not checked (a remark).
LogicalResult verifyPlan(ModuleOp module, StringRef clusterHash, StalePolicy stale, StringRef category);

} // namespace mlir::braid

#endif
