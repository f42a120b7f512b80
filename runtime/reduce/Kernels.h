//===- Kernels.h - the table of loops that Kernels.inc fills -----------------------------------------------------===//
#ifndef BRAID_RUNTIME_REDUCE_KERNELS_H
#define BRAID_RUNTIME_REDUCE_KERNELS_H

#include "reduce/Reduce.h"

namespace braid::runtime {

constexpr int kernelTypes = BRAID_F64 + 1, kernelReductions = BRAID_XOR + 1;

/// Of one element type, by braid_reduction; null: the type has no such reduction.
struct TypeKernels {
  Combine combine[kernelReductions];
  void (*divide)(void *dst, size_t count, int ranks);
};

extern const TypeKernels kernelsBaseline[kernelTypes];
#ifdef BRAID_RT_AVX2
extern const TypeKernels kernelsAvx2[kernelTypes];
#endif

} // namespace braid::runtime

#endif
