//===- HostDevice.h - functions that hosts and devices compile from one source -----------------------------------===//
//
// Always inlined: the loops are compiled once for each instruction set, and no function may be shared between them. On a device
// nothing of the C++ library may be called, only what it knows of types (type_traits, cstdint).
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_REDUCE_HOSTDEVICE_H
#define BRAID_RUNTIME_REDUCE_HOSTDEVICE_H

#ifdef __CUDACC__
#define BRAID_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define BRAID_HOST_DEVICE inline __attribute__((always_inline))
#endif

#endif
