//===- Driver.h - NVIDIA's driver, loaded when it is first needed ---------------------------------------------------===//
//
// One binary runs with and without a GPU: nothing is linked, and nothing of CUDA's headers is needed. The functions are declared
// here as far as they are used; where the toolkit is found, DriverCheck.cpp compares them with cuda.h.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_CUDA_DRIVER_H
#define BRAID_RUNTIME_TRANSPORTS_CUDA_DRIVER_H

#include "core/Outcome.h"
#include <cstddef>

namespace braid::runtime::cuda {

using Result = int; ///< CUresult; 0: success
using Device = int;
using Address = unsigned long long; ///< of device memory
using Context = void *;
using Stream = void *; ///< null: the default stream
using Event = void *;
using Module = void *;
using Function = void *;
struct DeviceUuid { ///< CUuuid: the same for all processes, whatever devices they are shown
  char bytes[16];
};
struct IpcHandle { ///< CUipcMemHandle: an allocation, for other processes of the host
  char bytes[64];
};

constexpr Result success = 0, notReady = 600; ///< CUDA_ERROR_NOT_READY: the event has not come yet
constexpr Result alreadyEnabled = 704;        ///< CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED

// CUpointer_attribute, CUmemorytype and flags
constexpr int pointerMemoryType = 2, pointerBufferId = 7, pointerDevice = 9;
constexpr unsigned memoryHost = 1, memoryDevice = 2;
// CUdevice_attribute, CUGPUDirectRDMAWritesOrdering, CUflushGPUDirectRDMAWritesOptions and what cuFlushGPUDirectRDMAWrites takes
constexpr int directSupported = 116, directFlushOptions = 117, directOrdering = 118;
constexpr int orderedForOwner = 100, flushByHost = 1, flushCurrentContext = 0, flushToOwner = 100;
constexpr int rangeAsDmaBuf = 1; ///< CUmemRangeHandleType
constexpr unsigned streamNonBlocking = 1, eventDisableTiming = 2, hostPortable = 1;
constexpr unsigned ipcEnablePeerAccess = 1; ///< CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
constexpr int peerNativeAtomics = 3;        ///< CUdevice_P2PAttribute: there where the link is NVLink or C2C

#define BRAID_CUDA_FUNCTIONS(X)                                                                                        \
  X(cuInit, (unsigned flags))                                                                                          \
  X(cuDriverGetVersion, (int *version))                                                                                \
  X(cuDeviceGetCount, (int *count))                                                                                    \
  X(cuDeviceGet, (Device * device, int ordinal))                                                                       \
  X(cuDeviceGetAttribute, (int *value, int attribute, Device device))                                                  \
  X(cuDeviceGetUuid_v2, (DeviceUuid * uuid, Device device))                                                            \
  X(cuDeviceCanAccessPeer, (int *can, Device device, Device peer))                                                     \
  X(cuDeviceGetP2PAttribute, (int *value, int attribute, Device device, Device peer))                                  \
  X(cuDevicePrimaryCtxRetain, (Context * context, Device device))                                                      \
  X(cuCtxGetDevice, (Device * device))                                                                                 \
  X(cuCtxGetCurrent, (Context * context))                                                                              \
  X(cuCtxSetCurrent, (Context context))                                                                                \
  X(cuCtxPushCurrent_v2, (Context context))                                                                            \
  X(cuCtxPopCurrent_v2, (Context * context))                                                                           \
  X(cuCtxEnablePeerAccess, (Context peer, unsigned flags))                                                             \
  X(cuGetErrorString, (Result error, const char **text))                                                               \
  X(cuPointerGetAttribute, (void *value, int attribute, Address at))                                                   \
  X(cuMemAlloc_v2, (Address * at, size_t bytes))                                                                       \
  X(cuMemFree_v2, (Address at))                                                                                        \
  X(cuMemGetAddressRange_v2, (Address * base, size_t *bytes, Address at))                                              \
  X(cuIpcGetMemHandle, (IpcHandle * handle, Address at))                                                               \
  X(cuIpcOpenMemHandle_v2, (Address * at, IpcHandle handle, unsigned flags))                                           \
  X(cuIpcCloseMemHandle, (Address at))                                                                                 \
  X(cuMemHostRegister_v2, (void *at, size_t bytes, unsigned flags))                                                    \
  X(cuMemHostUnregister, (void *at))                                                                                   \
  X(cuMemcpyAsync, (Address to, Address from, size_t bytes, Stream stream))                                            \
  X(cuMemsetD8Async, (Address to, unsigned char value, size_t bytes, Stream stream))                                   \
  X(cuStreamCreate, (Stream * stream, unsigned flags))                                                                 \
  X(cuStreamDestroy_v2, (Stream stream))                                                                               \
  X(cuStreamSynchronize, (Stream stream))                                                                              \
  X(cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                                                   \
  X(cuEventCreate, (Event * event, unsigned flags))                                                                    \
  X(cuEventRecord, (Event event, Stream stream))                                                                       \
  X(cuEventQuery, (Event event))                                                                                       \
  X(cuEventDestroy_v2, (Event event))                                                                                  \
  X(cuModuleLoadData, (Module * module, const void *image))                                                            \
  X(cuModuleGetFunction, (Function * function, Module module, const char *name))                                       \
  X(cuLaunchKernel,                                                                                                    \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,              \
     unsigned blockZ, unsigned sharedBytes, Stream stream, void **arguments, void **extra))

/// Of newer drivers; else null.
#define BRAID_CUDA_LATER_FUNCTIONS(X)                                                                                  \
  X(cuMemGetHandleForAddressRange,                                                                                     \
    (void *handle, Address at, size_t bytes, int type, unsigned long long flags)) /* 11.7 */                           \
  X(cuFlushGPUDirectRDMAWrites, (int target, int scope))                          /* 11.3 */

struct Driver {
#define BRAID_CUDA_MEMBER(name, parameters) Result(*name) parameters = nullptr;
  BRAID_CUDA_FUNCTIONS(BRAID_CUDA_MEMBER)
  BRAID_CUDA_LATER_FUNCTIONS(BRAID_CUDA_MEMBER)
#undef BRAID_CUDA_MEMBER

  /// The driver of this process, loaded and initialised at the first call, with at least one device; null: why.
  static const Driver *find(Outcome &why);

  /// "cuda: cuMemAlloc of 64 bytes: out of memory" if the result is an error.
  Outcome check(Result result, const std::string &what) const;
};

} // namespace braid::runtime::cuda

#endif
