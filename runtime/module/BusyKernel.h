//===- BusyKernel.h - computation that keeps a processor busy -----------------------------------------------------===//
#ifndef BRAID_RUNTIME_MODULE_BUSYKERNEL_H
#define BRAID_RUNTIME_MODULE_BUSYKERNEL_H

#include "braid/runtime/braid_rt.h"

namespace braid::runtime {

/// Multiplies and adds in registers until `seconds` of the communicator's clock have passed; looks at the clock about every
/// ten microseconds. It does not drive what is in flight.
braid_status busyKernel(braid_comm *comm, double seconds);

} // namespace braid::runtime

#endif
