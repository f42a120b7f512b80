//===- GpuDirect.h - memory of a device that NICs read and write -----------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_CUDA_GPUDIRECT_H
#define BRAID_RUNTIME_TRANSPORTS_CUDA_GPUDIRECT_H

#include "transports/cuda/Driver.h"
#include <cstdint>

namespace braid::runtime::cuda {

/// How what a NIC has written to a device is seen by kernels that are started after its completion.
enum class Visible {
  Always,  ///< the device keeps the order
  Flushed, ///< by cuFlushGPUDirectRDMAWrites, in the device's context
};

/// Of the device of the context that is current; or why NICs may not write there.
Outcome visibilityOfWrites(const Driver &driver, Visible &visible);

/// A descriptor, the caller's, of a dma-buf of the whole pages that hold these bytes. They begin at `offset` in it.
Outcome exportDmaBuf(const Driver &driver, Address at, size_t bytes, int &descriptor, uint64_t &offset);

} // namespace braid::runtime::cuda

#endif
