//===- YamlFiles.h - a cluster file and those that it is based on -----------------------------------------------===//
#ifndef BRAID_COST_MODELS_TOPOLOGY_YAMLFILES_H
#define BRAID_COST_MODELS_TOPOLOGY_YAMLFILES_H

#include "braid/cost_models/Cluster.h"
#include "topology/YamlSection.h"

namespace braid::cost {

/// The file and the files below it, the file first; above it, if there are any, what the caller sets. Throws ReadError.
std::vector<PlacedNode> readLayers(const std::string &path, const std::vector<ClusterOverride> &overrides);

/// A path that stands in a file: relative to that file's folder.
std::string besideFile(const std::string &file, const std::string &path);

} // namespace braid::cost

#endif
