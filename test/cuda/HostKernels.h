//===- HostKernels.h - the kernels, each of their threads run on the CPU --------------------------------------------===//
#ifndef BRAID_TEST_CUDA_HOSTKERNELS_H
#define BRAID_TEST_CUDA_HOSTKERNELS_H

#include "transports/cuda/KernelArguments.h"
#include <cstddef>
#include <string>
#include <vector>

namespace braid::test {

/// What thread `thread` of `threads` does; the same source as nvcc's.
using HostKernel = void (*)(size_t thread, size_t threads, const runtime::cuda::ReduceArguments &);

/// Null: there is none of this name.
HostKernel hostKernel(const std::string &name);
/// All names, in the order of KernelList.h.
std::vector<std::string> kernelNames();

} // namespace braid::test

#endif
