//===- JobCluster.h - the cluster that a module will run on -----------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_JOBCLUSTER_H
#define BRAID_PASSES_ANALYSIS_JOBCLUSTER_H

#include "braid/cost_models/Cluster.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::braid {

namespace cost = ::braid::cost;

/// The file that the option names, else the one that the module's braid.cluster attribute names. Neither: an error that
/// names both.
FailureOr<cost::Cluster> readJobCluster(ModuleOp module, StringRef option);

/// As readPlacement; an empty text is "packed". Errors are emitted on the module.
FailureOr<cost::Placement> readJobPlacement(ModuleOp module, StringRef text, int64_t ranks,
                                            const cost::Cluster &cluster);

LogicalResult checkQuantile(ModuleOp module, double quantile);

} // namespace mlir::braid

#endif
