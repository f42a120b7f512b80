//===- DeviceRegion.h - registers memory of a GPU with the NICs --------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_DEVICEREGION_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_DEVICEREGION_H

#include "transports/verbs/Rail.h"

namespace braid::runtime::verbs {

/// As a dma-buf, else as the host's memory is, where a module of the kernel lets NICs reach it so. `how`: which of them, and why not the
/// first. A failure says why neither. Dropped as any memory is.
Outcome holdDevice(Common &common, const void *memory, size_t bytes, unsigned access, std::string &how);

} // namespace braid::runtime::verbs

#endif
