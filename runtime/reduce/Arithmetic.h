//===- Arithmetic.h - what one element of a reduction is ---------------------------------------------------------===//
//
// The single source of the arithmetic: hosts compile it into loops (Kernels.inc), devices into kernels. Every function is
// pure, branch-free where a loop over it shall vectorise, and gives the same bits whichever operand comes first, so that
// ranks that combine in a different order of operands (not of additions) hold the same bytes.
//
//   f64, f32          IEEE arithmetic in the type itself
//   f16 bf16 f8*      converted to f32, combined there, rounded to the nearest, ties to even
//   integers          modulo 2^bits (signed: two's complement)
//   bool              one byte, 0 or 1 (any other byte counts as 1): sum and max are or, product and min are and
//   average           the sum, then one division by the number of ranks: floats as above, integers towards zero
//
// NaN: a NaN operand gives NaN (also min and max), and a NaN that results is always the one positive quiet NaN, since the
// hardware of hosts keeps the payload of whichever operand comes first, and that of devices has one of its own.
// Zeros: min(-0, +0) is -0, max is +0.
// Overflow: to infinity; f8e4m3fn has none and gives NaN above 464 (the midpoint beyond its largest number, 448).
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_REDUCE_ARITHMETIC_H
#define BRAID_RUNTIME_REDUCE_ARITHMETIC_H

#include "reduce/HostDevice.h"
#include <cstdint>
#include <type_traits>

namespace braid::runtime::arithmetic {

template <typename To, typename From> BRAID_HOST_DEVICE To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

/// A float of 1 sign, `E` exponent and `M` mantissa bits. `Finite`: no infinity, all ones is the only NaN (the "fn" types).
template <typename Bits, int E, int M, bool Finite> struct SmallFloat {
  Bits bits;
  static constexpr int bias = (1 << (E - 1)) - 1;
  static constexpr uint32_t magnitude = (1u << (E + M)) - 1;
  static constexpr uint32_t infinity = Finite ? 0 : ((1u << E) - 1) << M;
  static constexpr uint32_t nan = Finite ? magnitude : infinity | 1u << (M - 1);

  BRAID_HOST_DEVICE float value() const {
    uint32_t sign = uint32_t(bits >> (E + M)) << 31, shifted = (uint32_t(bits) & magnitude) << (23 - M);
    uint32_t normal = shifted + (uint32_t(127 - bias) << 23);
    constexpr uint32_t one = uint32_t(127 - bias + 1) << 23; // 2^(1 - bias): a subnormal is (1.m - 1) of it
    uint32_t small = bitsAs<uint32_t>(bitsAs<float>(shifted + one) - bitsAs<float>(one));
    uint32_t result = shifted < (1u << 23) ? small : normal;
    if constexpr (Finite)
      result = (uint32_t(bits) & magnitude) == nan ? 0x7fc00000u : result;
    else
      result = (uint32_t(bits) & magnitude) >= infinity ? shifted | 0x7f800000u : result;
    return bitsAs<float>(result | sign);
  }

  BRAID_HOST_DEVICE static SmallFloat round(float value) {
    uint32_t all = bitsAs<uint32_t>(value), sign = all >> 31 << (E + M), f = all & 0x7fffffffu;
    // Subnormal results: adding 2^k, whose last bit is worth the smallest subnormal, rounds in the adder.
    constexpr uint32_t magic = uint32_t(127 + 24 - bias - M) << 23;
    uint32_t small = bitsAs<uint32_t>(bitsAs<float>(f) + bitsAs<float>(magic)) - magic;
    uint32_t odd = f >> (23 - M) & 1;
    uint32_t normal = (f - (uint32_t(127 - bias) << 23) + ((1u << (22 - M)) - 1) + odd) >> (23 - M);
    uint32_t result = f < uint32_t(127 - bias + 1) << 23 ? small : normal;
    if constexpr (Finite) {
      result = f >= uint32_t(127 + bias + 2) << 23 || result > nan ? nan : result;
    } else {
      result = f >= uint32_t(127 + bias + 1) << 23 ? infinity : result;
      result = f > 0x7f800000u ? nan : result;
    }
    bool isNan = Finite ? result == nan : f > 0x7f800000u;
    return {Bits(result | (isNan ? 0 : sign))};
  }
};

using F16 = SmallFloat<uint16_t, 5, 10, false>;
using F8E5M2 = SmallFloat<uint8_t, 5, 2, false>;
using F8E4M3FN = SmallFloat<uint8_t, 4, 3, true>;

/// The upper half of an f32.
struct BF16 {
  uint16_t bits;
  BRAID_HOST_DEVICE float value() const { return bitsAs<float>(uint32_t(bits) << 16); }
  BRAID_HOST_DEVICE static BF16 round(float value) {
    uint32_t f = bitsAs<uint32_t>(value);
    uint32_t rounded = (f + 0x7fffu + (f >> 16 & 1)) >> 16;
    return {uint16_t((f & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded)};
  }
};

struct Bool {
  uint8_t byte;
};

enum class Op { Sum, Product, Min, Max, And, Or, Xor };

template <typename T> struct BitsOf {
  using type = std::make_unsigned_t<T>;
};
template <> struct BitsOf<float> {
  using type = uint32_t;
};
template <> struct BitsOf<double> {
  using type = uint64_t;
};

/// The positive quiet NaN of f32 and f64.
template <typename T> BRAID_HOST_DEVICE T quietNan() {
  using Bits = typename BitsOf<T>::type;
  return bitsAs<T>(sizeof(T) == 4 ? Bits(0x7fc00000u) : Bits(0x7ff8000000000000ull));
}
template <typename T> BRAID_HOST_DEVICE T withOneNan(T r) { return r == r ? r : quietNan<T>(); }

/// f32 and f64.
template <Op op, typename T> BRAID_HOST_DEVICE T combineFloats(T a, T b) {
  using Bits = typename BitsOf<T>::type;
  if constexpr (op == Op::Sum || op == Op::Product) {
    return withOneNan(op == Op::Sum ? a + b : a * b);
  } else {
    // Equal operands are the same bits but for zeros of two signs; there "or" finds the -0 and "and" the +0.
    Bits x = bitsAs<Bits>(a), y = bitsAs<Bits>(b);
    T same = bitsAs<T>(Bits(op == Op::Min ? x | y : x & y));
    T lower = op == Op::Min ? a : b, upper = op == Op::Min ? b : a;
    T r = a < b ? lower : upper;
    r = a == b ? same : r;
    return a == a && b == b ? r : quietNan<T>();
  }
}

template <Op op, typename T> BRAID_HOST_DEVICE T combine(T a, T b) {
  if constexpr (std::is_same_v<T, Bool>) {
    bool x = a.byte != 0, y = b.byte != 0;
    return {uint8_t(op == Op::Xor ? x != y : op == Op::Sum || op == Op::Max || op == Op::Or ? x | y : x & y)};
  } else if constexpr (std::is_floating_point_v<T>) {
    return combineFloats<op>(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>; // signed overflow would be undefined
    using Wide = std::conditional_t<sizeof(U) < 4, uint32_t, U>;
    switch (op) {
    case Op::Sum:
      return T(U(Wide(U(a)) + Wide(U(b))));
    case Op::Product:
      return T(U(Wide(U(a)) * Wide(U(b))));
    case Op::Min:
      return a < b ? a : b;
    case Op::Max:
      return a < b ? b : a;
    case Op::And:
      return T(U(a) & U(b));
    case Op::Or:
      return T(U(a) | U(b));
    case Op::Xor:
      break;
    }
    return T(U(a) ^ U(b));
  } else {
    return T::round(combineFloats<op>(a.value(), b.value()));
  }
}

/// The last step of an average.
template <typename T> BRAID_HOST_DEVICE T divide(T sum, int ranks) {
  if constexpr (std::is_same_v<T, Bool>) {
    return sum;
  } else if constexpr (std::is_floating_point_v<T>) {
    return withOneNan(sum / T(ranks));
  } else if constexpr (std::is_integral_v<T>) {
    using Divisor = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return T(Divisor(sum) / Divisor(ranks));
  } else {
    return T::round(sum.value() / float(ranks));
  }
}

} // namespace braid::runtime::arithmetic

#endif
