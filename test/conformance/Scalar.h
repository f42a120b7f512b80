//===- Scalar.h - the reference arithmetic, one element at a time, independent of the runtime's -------------------===//
//
// Floats are values in double, rounded to a type by arithmetic on exponents (no bit tricks); integers are 64 bits, cut to the
// type. Slow and plain on purpose.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_CONFORMANCE_SCALAR_H
#define BRAID_TEST_CONFORMANCE_SCALAR_H

#include "braid/runtime/braid_rt.h"
#include <cmath>
#include <cstring>
#include <limits>

namespace braid::test {

struct TypeInfo {
  const char *name;
  size_t bytes;
  bool isFloat, isSigned;
  int exponentBits, mantissaBits; ///< of small floats
  bool finite;                    ///< no infinity
};

inline const TypeInfo &info(braid_type type) {
  static const TypeInfo all[] = {{"bool", 1, false, false, 0, 0, false}, {"i8", 1, false, true, 0, 0, false},
                                 {"i16", 2, false, true, 0, 0, false},   {"i32", 4, false, true, 0, 0, false},
                                 {"i64", 8, false, true, 0, 0, false},   {"u8", 1, false, false, 0, 0, false},
                                 {"u16", 2, false, false, 0, 0, false},  {"u32", 4, false, false, 0, 0, false},
                                 {"u64", 8, false, false, 0, 0, false},  {"f8e4m3fn", 1, true, true, 4, 3, true},
                                 {"f8e5m2", 1, true, true, 5, 2, false}, {"f16", 2, true, true, 5, 10, false},
                                 {"bf16", 2, true, true, 8, 7, false},   {"f32", 4, true, true, 8, 23, false},
                                 {"f64", 8, true, true, 11, 52, false}};
  return all[type];
}
constexpr int types = 15, reductions = 8;
inline const char *reductionName(int reduction) {
  static const char *all[] = {"sum", "product", "min", "max", "average", "and", "or", "xor"};
  return all[reduction];
}
/// Whether the header allows it: no bits of floats, no average of bool.
inline bool allowed(braid_type type, braid_reduction reduction) {
  if (reduction >= BRAID_AND)
    return !info(type).isFloat;
  return type != BRAID_BOOL || reduction != BRAID_AVERAGE;
}

/// The value of a float's bits.
inline double decode(braid_type type, uint64_t bits) {
  const TypeInfo &t = info(type);
  int E = t.exponentBits, M = t.mantissaBits, bias = (1 << (E - 1)) - 1;
  uint64_t mantissa = bits & ((uint64_t(1) << M) - 1), exponent = bits >> M & ((1u << E) - 1);
  double sign = bits >> (E + M) & 1 ? -1 : 1;
  bool top = exponent == (1u << E) - 1;
  if (top && t.finite && mantissa == (uint64_t(1) << M) - 1)
    return std::numeric_limits<double>::quiet_NaN();
  if (top && !t.finite)
    return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  double fraction = std::ldexp(double(mantissa), -M);
  return sign * (exponent ? std::ldexp(1 + fraction, int(exponent) - bias) : std::ldexp(fraction, 1 - bias));
}

/// The nearest number of the type, ties to even; NaN is the positive quiet one.
inline uint64_t encode(braid_type type, double value) {
  const TypeInfo &t = info(type);
  int E = t.exponentBits, M = t.mantissaBits, bias = (1 << (E - 1)) - 1;
  uint64_t top = (uint64_t(1) << E) - 1,
           nan = t.finite ? (uint64_t(1) << (E + M)) - 1 : top << M | uint64_t(1) << (M - 1);
  uint64_t sign = std::signbit(value) ? uint64_t(1) << (E + M) : 0;
  double size = std::fabs(value);
  if (std::isnan(value))
    return nan;
  uint64_t overflow = t.finite ? nan : top << M | sign;
  if (std::isinf(value))
    return overflow;
  if (size == 0)
    return sign;
  int exponent = 0;
  std::frexp(size, &exponent); // size = f 2^exponent, 1/2 <= f < 1
  int e = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  double units = std::nearbyint(std::ldexp(size, M - e)); // in units of the last place; the mode is to nearest even
  if (units >= std::ldexp(1.0, M + 1)) {
    units /= 2;
    ++e;
  }
  if (units < std::ldexp(1.0, M))
    return sign | uint64_t(units); // subnormal
  uint64_t bits = uint64_t(e + bias) << M | (uint64_t(units) - (uint64_t(1) << M));
  uint64_t largest = t.finite ? nan - 1 : (top << M) - 1;
  return bits > largest ? overflow : bits | sign;
}

inline uint64_t load(braid_type type, const void *at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, info(type).bytes); // little endian
  return bits;
}
inline void store(braid_type type, void *at, uint64_t bits) { std::memcpy(at, &bits, info(type).bytes); }

/// An integer's bits as a number.
inline int64_t signedValue(braid_type type, uint64_t bits) {
  int shift = 64 - 8 * int(info(type).bytes);
  return int64_t(bits << shift) >> shift;
}

/// a op b, as bits. An average is a sum here; see quotient.
inline uint64_t combineBits(braid_type type, braid_reduction op, uint64_t a, uint64_t b) {
  const TypeInfo &t = info(type);
  if (t.isFloat) {
    double x = decode(type, a), y = decode(type, b), r = 0;
    switch (op) {
    case BRAID_PRODUCT:
      r = x * y;
      break;
    case BRAID_MIN:
    case BRAID_MAX:
      if (std::isnan(x) || std::isnan(y))
        r = std::numeric_limits<double>::quiet_NaN();
      else if (x == y) // zeros: the sign decides
        r = (op == BRAID_MIN) == std::signbit(x) ? x : y;
      else
        r = (x < y) == (op == BRAID_MIN) ? x : y;
      break;
    default:
      r = x + y;
    }
    if (type == BRAID_F32 && op == BRAID_PRODUCT)
      r = float(x) * float(y); // exact in double, but for the double rounding of subnormals
    // Small floats are combined in f32 first; all their sums and products are exact there, or rounded as in the statement
    // of the arithmetic.
    if (info(type).bytes < 4)
      r = op == BRAID_PRODUCT ? float(x) * float(y) : op == BRAID_SUM || op == BRAID_AVERAGE ? float(x) + float(y) : r;
    return encode(type, r);
  }
  uint64_t mask = t.bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << (8 * t.bytes)) - 1;
  if (type == BRAID_BOOL) {
    bool x = a != 0, y = b != 0;
    switch (op) {
    case BRAID_SUM:
    case BRAID_MAX:
    case BRAID_OR:
      return x || y;
    case BRAID_XOR:
      return x != y;
    default:
      return x && y;
    }
  }
  bool less = t.isSigned ? signedValue(type, a) < signedValue(type, b) : a < b;
  switch (op) {
  case BRAID_PRODUCT:
    return a * b & mask;
  case BRAID_MIN:
    return less ? a : b;
  case BRAID_MAX:
    return less ? b : a;
  case BRAID_AND:
    return a & b;
  case BRAID_OR:
    return a | b;
  case BRAID_XOR:
    return a ^ b;
  default:
    return (a + b) & mask;
  }
}

/// sum / ranks, as bits.
inline uint64_t quotient(braid_type type, uint64_t sum, int ranks) {
  const TypeInfo &t = info(type);
  if (t.isFloat) {
    double value = decode(type, sum);
    return encode(type, t.bytes < 4 ? double(float(value) / float(ranks)) : value / ranks);
  }
  uint64_t mask = t.bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << (8 * t.bytes)) - 1;
  return (t.isSigned ? uint64_t(signedValue(type, sum) / ranks) : sum / uint64_t(ranks)) & mask;
}

} // namespace braid::test

#endif
