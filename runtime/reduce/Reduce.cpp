//===- Reduce.cpp - names and sizes of types, and the choice of loops for this processor -------------------------===//
#include "reduce/Kernels.h"
#include "reduce/Stream.h"
#include <algorithm>

namespace braid::runtime {

namespace {

struct TypeInfo {
  const char *name;
  size_t size;
};
constexpr TypeInfo types[kernelTypes] = {{"bool", 1},   {"i8", 1},  {"i16", 2},  {"i32", 4}, {"i64", 8},
                                         {"u8", 1},     {"u16", 2}, {"u32", 4},  {"u64", 8}, {"f8e4m3fn", 1},
                                         {"f8e5m2", 1}, {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}};
constexpr const char *reductions[kernelReductions] = {"sum", "product", "min", "max", "average", "and", "or", "xor"};

const TypeKernels *kernels() {
#ifdef BRAID_RT_AVX2
  static const TypeKernels *chosen =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") ? kernelsAvx2 : kernelsBaseline;
  return chosen;
#else
  return kernelsBaseline;
#endif
}

} // namespace

size_t sizeOf(braid_type type) { return unsigned(type) < kernelTypes ? types[type].size : 0; }
const char *name(braid_type type) { return unsigned(type) < kernelTypes ? types[type].name : "unknown type"; }
const char *name(braid_reduction reduction) {
  return unsigned(reduction) < kernelReductions ? reductions[reduction] : "unknown reduction";
}

Combine combiner(braid_type type, braid_reduction reduction) {
  if (unsigned(type) >= kernelTypes || unsigned(reduction) >= kernelReductions)
    return nullptr;
  return kernels()[type].combine[reduction];
}

void divide(braid_type type, void *dst, size_t count, int ranks) { kernels()[type].divide(dst, count, ranks); }

void Reducer::run(void *dst, const void *a, const void *b, size_t count, bool average, bool stream) const {
  if (!average && !stream)
    return combine(dst, a, b, count);
  // Block by block, so that the second and third steps find the first one's result in the nearest cache.
  constexpr size_t blockBytes = 4096;
  alignas(64) char block[blockBytes];
  size_t size = sizeOf(type);
  char *to = static_cast<char *>(dst);
  const char *x = static_cast<const char *>(a), *y = static_cast<const char *>(b);
  for (size_t left = count, step; left; left -= step, to += step * size, x += step * size, y += step * size) {
    step = std::min(left, blockBytes / size);
    void *result = stream ? block : to;
    combine(result, x, y, step);
    if (average)
      divide(type, result, step, ranks);
    if (stream)
      streamCopy(to, block, step * size);
  }
}

} // namespace braid::runtime
