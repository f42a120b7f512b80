//===- KernelArguments.h - what every kernel is given ---------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_CUDA_KERNELARGUMENTS_H
#define BRAID_RUNTIME_TRANSPORTS_CUDA_KERNELARGUMENTS_H

#include <cstddef>
#include <cstdint>

namespace braid::runtime::cuda {

/// One struct for all kernels; each reads its part of it. Passed by value, the same on host and device.
struct ReduceArguments {
  void *to;       ///< the result
  void *also;     ///< and a second copy of it (receive, reduce and copy on); null: none
  const void *a;  ///< an operand, or what is copied or converted
  const void *b;  ///< the other operand
  uint64_t count; ///< elements; of a copy: bytes
  int32_t ranks;  ///< of an average
};

/// Threads of a block in every launch.
constexpr unsigned blockThreads = 256;

} // namespace braid::runtime::cuda

#endif
