//===- JobCluster.cpp - finds and reads the cluster file --------------------------------------------------------===//
#include "analysis/JobCluster.h"

#include "braid/dialect/BraidDialect.h"
#include "braid/passes/LocationText.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::braid {

FailureOr<cost::Cluster> readJobCluster(ModuleOp module, StringRef option) {
  std::string path = option.str();
  if (path.empty())
    if (auto attr = module->getAttrOfType<StringAttr>(BraidDialect::getClusterAttrName()))
      path = attr.getValue().str();
  if (path.empty())
    return emitError(
        placeOf(module),
        "cluster: expected the option 'cluster=FILE' or the module attribute 'braid.cluster', got neither");
  cost::Result<cost::Cluster> cluster = cost::readCluster(path);
  if (!cluster)
    return emitError(placeOf(module), "cluster: ") << cluster.error().text();
  return *cluster;
}

FailureOr<cost::Placement> readJobPlacement(ModuleOp module, StringRef text, int64_t ranks,
                                            const cost::Cluster &cluster) {
  if (ranks <= 0)
    return emitError(placeOf(module), "ranks: expected mhlo.num_partitions on the module, or a collective whose groups "
                                      "list them, got groups of everyone and no number");
  cost::Result<cost::Placement> placement =
      cost::readPlacement(text.empty() ? "packed" : text.str(), int(ranks), cluster);
  if (!placement)
    return emitError(placeOf(module)) << placement.error().text();
  return *placement;
}

LogicalResult checkQuantile(ModuleOp module, double quantile) {
  if (quantile > 0 && quantile < 1)
    return success();
  std::string got; // a diagnostic writes 95 as 9.500000e+01
  llvm::raw_string_ostream(got) << llvm::format("%g", quantile);
  return emitError(placeOf(module), "quantile: expected a number between 0 and 1 (0.95: the p95), got ") << got;
}

} // namespace mlir::braid
