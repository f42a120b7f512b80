//===- ClusterInputs.h - the files that a cluster file brings with it, which no output may replace --------------===//
#ifndef BRAID_TOOLS_COMMAND_CLUSTERINPUTS_H
#define BRAID_TOOLS_COMMAND_CLUSTERINPUTS_H

#include "Command.h"
#include "braid/cost_models/Cluster.h"

namespace braid::command {

/// For checkOutputs: the cluster file that `option` names, those that it is based on, its tables of paths; after `inputs`.
inline Files clusterInputs(const std::string &option, const std::string &path, Files inputs = {}) {
  if (!path.empty())
    for (const std::string &file : cost::clusterFiles(path))
      inputs.push_back({file == path ? option : "one that " + option + " (" + path + ") reads", file});
  return inputs;
}

} // namespace braid::command

#endif
