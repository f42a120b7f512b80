//===- DiffModules.h - two planned modules ----------------------------------------------------------------------===//
#ifndef BRAID_SIM_DIFFMODULES_H
#define BRAID_SIM_DIFFMODULES_H

#include <string>

namespace mlir::braid::sim {

struct ModulesToDiff {
  std::string a, b;               ///< files
  std::string clusterA, clusterB; ///< files, to price what differs; may be empty
  std::string placement;
  bool json = false;
};

/// Prints why the plans differ; gives the exit status.
int diffModules(const ModulesToDiff &asked);

} // namespace mlir::braid::sim

#endif
