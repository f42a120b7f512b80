//===- DriverCheck.cpp - the driver's functions as Driver.h has them are those of cuda.h ----------------------------===//
//
// Compiled where the toolkit is found; there is nothing in it to run. Types are compared as they are passed: pointers and handles
// are pointers, enums are ints; a struct is as many bytes.
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/cuda/Current.h"
#include <array>
#include <cuda.h>
#include <type_traits>

namespace braid::runtime::cuda {

template <typename T>
using Passed = std::conditional_t<
    std::is_pointer_v<T>, void *,
    std::conditional_t<std::is_enum_v<T>, int, std::conditional_t<std::is_class_v<T>, std::array<char, sizeof(T)>, T>>>;
template <typename F> struct Signature;
template <typename R, typename... A> struct Signature<R (*)(A...)> {
  using type = Passed<R> (*)(Passed<A>...);
};

#define BRAID_CUDA_CHECK(function, parameters)                                                                         \
  static_assert(std::is_same_v<typename Signature<decltype(&::function)>::type,                                        \
                               typename Signature<decltype(Driver::function)>::type>,                                  \
                #function " differs from cuda.h");
BRAID_CUDA_FUNCTIONS(BRAID_CUDA_CHECK)
BRAID_CUDA_LATER_FUNCTIONS(BRAID_CUDA_CHECK)

static_assert(sizeof(DeviceUuid) == sizeof(CUuuid) && sizeof(IpcHandle) == sizeof(CUipcMemHandle));
static_assert(success == CUDA_SUCCESS && notReady == CUDA_ERROR_NOT_READY &&
              alreadyEnabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(pointerBufferId == CU_POINTER_ATTRIBUTE_BUFFER_ID &&
              ipcEnablePeerAccess == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS &&
              peerNativeAtomics == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED);
static_assert(pointerContext == CU_POINTER_ATTRIBUTE_CONTEXT && pointerMemoryType == CU_POINTER_ATTRIBUTE_MEMORY_TYPE &&
              pointerDevice == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(memoryHost == CU_MEMORYTYPE_HOST && memoryDevice == CU_MEMORYTYPE_DEVICE);
static_assert(directSupported == CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED &&
              directFlushOptions == CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS &&
              directOrdering == CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING &&
              orderedForOwner == CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER &&
              flushByHost == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST &&
              flushCurrentContext == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX &&
              flushToOwner == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER &&
              rangeAsDmaBuf == CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD);
static_assert(streamNonBlocking == CU_STREAM_NON_BLOCKING && eventDisableTiming == CU_EVENT_DISABLE_TIMING &&
              hostPortable == CU_MEMHOSTREGISTER_PORTABLE);

} // namespace braid::runtime::cuda
