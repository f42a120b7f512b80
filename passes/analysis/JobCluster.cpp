//===- JobCluster.cpp - finds and reads the cluster file --------------------------------------------------------===//
#include "analysis/JobCluster.h"

#include "braid/dialect/BraidDialect.h"

namespace mlir::braid {

FailureOr<cost::Cluster> readJobCluster(ModuleOp module, StringRef option) {
  std::string path = option.str();
  if (path.empty())
    if (auto attr = module->getAttrOfType<StringAttr>(BraidDialect::getClusterAttrName()))
      path = attr.getValue().str();
  if (path.empty())
    return emitError(
        module.getLoc(),
        "cluster: expected the option 'cluster=FILE' or the module attribute 'braid.cluster', got neither");
  cost::Result<cost::Cluster> cluster = cost::readCluster(path);
  if (!cluster)
    return emitError(module.getLoc(), "cluster: ") << cluster.error().text();
  return *cluster;
}

FailureOr<cost::Placement> readJobPlacement(ModuleOp module, StringRef text, int64_t ranks,
                                            const cost::Cluster &cluster) {
  if (ranks <= 0)
    return emitError(module.getLoc(), "ranks: expected mhlo.num_partitions on the module, or a collective whose groups "
                                      "list them, got groups of everyone and no number");
  cost::Result<cost::Placement> placement =
      cost::readPlacement(text.empty() ? "packed" : text.str(), int(ranks), cluster);
  if (!placement)
    return emitError(module.getLoc()) << placement.error().text();
  return *placement;
}

} // namespace mlir::braid
