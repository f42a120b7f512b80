//===- InProcess.h - ranks as threads or fibers of one process --------------------------------------------------===//
//
// Pointers in queues: the receiver reads where the sender wrote. Under the emulated transport it carries tests, skeletons and
// whole emulated jobs in one process.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_EMULATED_INPROCESS_H
#define BRAID_RUNTIME_TRANSPORTS_EMULATED_INPROCESS_H

#include "transports/Transport.h"
#include <vector>

namespace braid::runtime {

/// One transport for each rank, all of one process.
std::vector<std::unique_ptr<Transport>> inProcessTransports(int ranks, int lanes = 64);

} // namespace braid::runtime

#endif
