//===- Conversion.h - what one value is in another element type ---------------------------------------------------===//
//
// Floats through double, which holds all of them exactly, and rounded once, a NaN to the positive quiet one; integers modulo
// 2^bits. For hosts and devices, as Arithmetic.h.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_REDUCE_CONVERSION_H
#define BRAID_RUNTIME_REDUCE_CONVERSION_H

#include "reduce/Arithmetic.h"

namespace braid::runtime::arithmetic {

template <typename T> BRAID_HOST_DEVICE double valueOf(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x;
  else
    return x.value();
}

/// To the nearest f32 whose last bit is odd, unless exact. Rounding that to fewer bits is rounding once: f32 has more than two
/// bits to spare (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, IEEE Trans. Computers 57(4), 2008).
BRAID_HOST_DEVICE float toOdd(double value) {
  float near = float(value);
  uint32_t bits = bitsAs<uint32_t>(near);
  if (double(near) == value || value != value || (bits & 1))
    return near;
  bool below = (near < 0 ? -double(near) : double(near)) < (value < 0 ? -value : value);
  return bitsAs<float>(below ? bits | 1 : bits - 1);
}

/// Between floats, or between integers.
template <typename To, typename From> BRAID_HOST_DEVICE To convertTo(From from) {
  if constexpr (std::is_integral_v<To>)
    return To(from);
  else if constexpr (std::is_floating_point_v<To>)
    return withOneNan(To(valueOf(from)));
  else
    return To::round(toOdd(valueOf(from)));
}

} // namespace braid::runtime::arithmetic

#endif
