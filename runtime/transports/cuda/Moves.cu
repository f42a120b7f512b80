//===- Moves.cu - kernels of a list of KernelList.h ----------------------------------------------------------------===//
#define BRAID_KERNELS_HERE BRAID_KERNELS_MOVES(BRAID_CONVERT_KERNEL, BRAID_COPY_KERNEL)
#include "transports/cuda/Kernels.inc"
