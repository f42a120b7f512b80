//===- Floats.cu - kernels of a list of KernelList.h ---------------------------------------------------------------===//
#define BRAID_KERNELS_HERE BRAID_KERNELS_FLOATS(BRAID_REDUCE_KERNEL, BRAID_DIVIDE_KERNEL)
#include "transports/cuda/Kernels.inc"
