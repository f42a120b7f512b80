//===- KernelList.h - the names of the kernels, type by type --------------------------------------------------------===//
//
// X is given what a kernel is made of and makes of it a kernel (Kernels.inc), or an entry of a table. Each list is compiled
// in a file of its own, so that they compile side by side.
//
//   REDUCE(op, Which, average, type, T)     braid_<op>_<type>
//   DIVIDE(type, T)                      braid_divide_<type>
//   CONVERT(to, To, from, From)          braid_convert_<to>_<from>
//   COPY()                               braid_copy
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_CUDA_KERNELLIST_H
#define BRAID_RUNTIME_TRANSPORTS_CUDA_KERNELLIST_H

#define BRAID_ORDERED(REDUCE, type, T)                                                                                 \
  REDUCE(sum, Sum, false, type, T)                                                                                     \
  REDUCE(product, Product, false, type, T)                                                                             \
  REDUCE(min, Min, false, type, T)                                                                                     \
  REDUCE(max, Max, false, type, T)
#define BRAID_BITWISE(REDUCE, type, T)                                                                                 \
  REDUCE(and, And, false, type, T)                                                                                     \
  REDUCE(or, Or, false, type, T)                                                                                       \
  REDUCE(xor, Xor, false, type, T)
#define BRAID_FLOAT(REDUCE, DIVIDE, type, T)                                                                           \
  BRAID_ORDERED(REDUCE, type, T)                                                                                       \
  REDUCE(average, Sum, true, type, T)                                                                                  \
  DIVIDE(type, T)
#define BRAID_INTEGER(REDUCE, DIVIDE, type, T)                                                                         \
  BRAID_FLOAT(REDUCE, DIVIDE, type, T)                                                                                 \
  BRAID_BITWISE(REDUCE, type, T)

// The lists

#define BRAID_KERNELS_F8(REDUCE, DIVIDE)                                                                               \
  BRAID_FLOAT(REDUCE, DIVIDE, f8e4m3fn, arithmetic::F8E4M3FN)                                                          \
  BRAID_FLOAT(REDUCE, DIVIDE, f8e5m2, arithmetic::F8E5M2)
#define BRAID_KERNELS_FLOATS(REDUCE, DIVIDE)                                                                           \
  BRAID_FLOAT(REDUCE, DIVIDE, f16, arithmetic::F16)                                                                    \
  BRAID_FLOAT(REDUCE, DIVIDE, bf16, arithmetic::BF16)                                                                  \
  BRAID_FLOAT(REDUCE, DIVIDE, f32, float)                                                                              \
  BRAID_FLOAT(REDUCE, DIVIDE, f64, double)
#define BRAID_KERNELS_BYTES(REDUCE, DIVIDE)                                                                            \
  BRAID_ORDERED(REDUCE, bool, arithmetic::Bool)                                                                        \
  BRAID_BITWISE(REDUCE, bool, arithmetic::Bool)                                                                        \
  BRAID_INTEGER(REDUCE, DIVIDE, i8, int8_t)                                                                            \
  BRAID_INTEGER(REDUCE, DIVIDE, u8, uint8_t)
#define BRAID_KERNELS_INTEGERS(REDUCE, DIVIDE)                                                                         \
  BRAID_INTEGER(REDUCE, DIVIDE, i16, int16_t)                                                                          \
  BRAID_INTEGER(REDUCE, DIVIDE, u16, uint16_t)                                                                         \
  BRAID_INTEGER(REDUCE, DIVIDE, i32, int32_t)                                                                          \
  BRAID_INTEGER(REDUCE, DIVIDE, u32, uint32_t)                                                                         \
  BRAID_INTEGER(REDUCE, DIVIDE, i64, int64_t)                                                                          \
  BRAID_INTEGER(REDUCE, DIVIDE, u64, uint64_t)

// To a wider type of the same class and back: what an accumulation in another type needs.
#define BRAID_BOTH_WAYS(CONVERT, a, A, b, B) CONVERT(a, A, b, B) CONVERT(b, B, a, A)
#define BRAID_KERNELS_MOVES(CONVERT, COPY)                                                                             \
  COPY()                                                                                                               \
  BRAID_BOTH_WAYS(CONVERT, f8e4m3fn, arithmetic::F8E4M3FN, f8e5m2, arithmetic::F8E5M2)                                 \
  BRAID_BOTH_WAYS(CONVERT, f8e4m3fn, arithmetic::F8E4M3FN, f16, arithmetic::F16)                                       \
  BRAID_BOTH_WAYS(CONVERT, f8e4m3fn, arithmetic::F8E4M3FN, bf16, arithmetic::BF16)                                     \
  BRAID_BOTH_WAYS(CONVERT, f8e4m3fn, arithmetic::F8E4M3FN, f32, float)                                                 \
  BRAID_BOTH_WAYS(CONVERT, f8e4m3fn, arithmetic::F8E4M3FN, f64, double)                                                \
  BRAID_BOTH_WAYS(CONVERT, f8e5m2, arithmetic::F8E5M2, f16, arithmetic::F16)                                           \
  BRAID_BOTH_WAYS(CONVERT, f8e5m2, arithmetic::F8E5M2, bf16, arithmetic::BF16)                                         \
  BRAID_BOTH_WAYS(CONVERT, f8e5m2, arithmetic::F8E5M2, f32, float)                                                     \
  BRAID_BOTH_WAYS(CONVERT, f8e5m2, arithmetic::F8E5M2, f64, double)                                                    \
  BRAID_BOTH_WAYS(CONVERT, f16, arithmetic::F16, bf16, arithmetic::BF16)                                               \
  BRAID_BOTH_WAYS(CONVERT, f16, arithmetic::F16, f32, float)                                                           \
  BRAID_BOTH_WAYS(CONVERT, f16, arithmetic::F16, f64, double)                                                          \
  BRAID_BOTH_WAYS(CONVERT, bf16, arithmetic::BF16, f32, float)                                                         \
  BRAID_BOTH_WAYS(CONVERT, bf16, arithmetic::BF16, f64, double)                                                        \
  BRAID_BOTH_WAYS(CONVERT, f32, float, f64, double)                                                                    \
  BRAID_BOTH_WAYS(CONVERT, i8, int8_t, i16, int16_t)                                                                   \
  BRAID_BOTH_WAYS(CONVERT, i8, int8_t, i32, int32_t)                                                                   \
  BRAID_BOTH_WAYS(CONVERT, i8, int8_t, i64, int64_t)                                                                   \
  BRAID_BOTH_WAYS(CONVERT, i16, int16_t, i32, int32_t)                                                                 \
  BRAID_BOTH_WAYS(CONVERT, i16, int16_t, i64, int64_t)                                                                 \
  BRAID_BOTH_WAYS(CONVERT, i32, int32_t, i64, int64_t)                                                                 \
  BRAID_BOTH_WAYS(CONVERT, u8, uint8_t, u16, uint16_t)                                                                 \
  BRAID_BOTH_WAYS(CONVERT, u8, uint8_t, u32, uint32_t)                                                                 \
  BRAID_BOTH_WAYS(CONVERT, u8, uint8_t, u64, uint64_t)                                                                 \
  BRAID_BOTH_WAYS(CONVERT, u16, uint16_t, u32, uint32_t)                                                               \
  BRAID_BOTH_WAYS(CONVERT, u16, uint16_t, u64, uint64_t)                                                               \
  BRAID_BOTH_WAYS(CONVERT, u32, uint32_t, u64, uint64_t)

#endif
