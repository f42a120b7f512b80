//===- DeviceWords.h - how NICs reach the memory of GPUs, in words -----------------------------------------------------===//
//
// The transport says it of what it has registered, braid-doctor of what a host has.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_CUDA_DEVICEWORDS_H
#define BRAID_RUNTIME_TRANSPORTS_CUDA_DEVICEWORDS_H

namespace braid::runtime::cuda {

constexpr const char *byDmaBuf = "dma-buf";
constexpr const char *byPeerMemory = "nvidia_peermem is loaded";
constexpr const char *byNeither = "neither nvidia_peermem nor dma-buf";
constexpr const char *stagedInstead = "staged through pinned memory of the host";

} // namespace braid::runtime::cuda

#endif
