//===- Hwloc.h - what hwloc knows of a machine ------------------------------------------------------------------===//
#ifndef BRAID_TOPO_HWLOC_H
#define BRAID_TOPO_HWLOC_H

#include "braid/cost_models/Machine.h"

namespace braid::topo {

/// Reads what `lstopo --of xml` wrote. An error text, or empty.
std::string readHwlocXml(const std::string &path, cost::Machine &machine);

} // namespace braid::topo

#endif
