//===- Bf16Calls.cpp - what compiled programs call to round to bf16 -----------------------------------------------===//
//
// LLVM rounds to bf16 by an instruction where the processor has one (AVX512-BF16, AVX-NE-CONVERT, Armv8.6), else by these two
// functions of compiler-rt, which libgcc has from GCC 13 on. A program that rounds to bf16 has to run on an older system too. A
// compiler without the type (GCC 12) builds the runtime without them.
//===--------------------------------------------------------------------------------------------------------------===//
#if defined(__clang__) || __GNUC__ >= 13
#include <cmath>
#include <cstdint>
#include <cstring>

/// To the nearest, ties to even; what is no number stays none, quiet.
static __bf16 rounded(uint32_t bits, bool isNumber) {
  uint16_t high = uint16_t(isNumber ? (bits + 0x7fff + (bits >> 16 & 1)) >> 16 : bits >> 16 | 0x40);
  __bf16 result;
  std::memcpy(&result, &high, sizeof(result));
  return result;
}

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

extern "C" __bf16 __truncsfbf2(float value) { return rounded(bitsOf(value), !std::isnan(value)); }

/// Through a float that is rounded to odd: rounding twice to the nearest would be wrong next to ties.
extern "C" __bf16 __truncdfbf2(double value) {
  float single = float(value);
  uint32_t bits = bitsOf(single);
  if (!std::isnan(value) && double(single) != value) {
    if (std::fabs(double(single)) > std::fabs(value))
      --bits;
    bits |= 1;
  }
  return rounded(bits, !std::isnan(value));
}
#endif
