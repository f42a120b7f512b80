//===- Bf16CallsTest.cpp - rounding to bf16 for processors that have no instruction for it --------------------------===//
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

extern "C" __bf16 __truncsfbf2(float value);
extern "C" __bf16 __truncdfbf2(double value);

static uint16_t bitsOf(__bf16 value) {
  uint16_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

TEST_CASE("rounding to bf16: to the nearest, ties to even", "[bf16]") {
  struct Case {
    double value;
    uint16_t bits;
  };
  const double ulp = 0x1p-7; // of numbers from 1 to 2
  for (const Case &c : {Case{0.0, 0},
                        {-0.0, 0x8000},
                        {1.0, 0x3f80},
                        {-3.0, 0xc040},
                        {1 + ulp / 2, 0x3f80},
                        {1 + 1.5 * ulp, 0x3f82},
                        {1 + 0.75 * ulp, 0x3f81},
                        {1e39, 0x7f80},
                        {-1e39, 0xff80},
                        {double(std::numeric_limits<float>::max()), 0x7f80},
                        {0x1p-133, 0x0001},
                        {0x1p-134, 0}}) {
    CAPTURE(c.value);
    CHECK(bitsOf(__truncdfbf2(c.value)) == c.bits);
    CHECK(bitsOf(__truncsfbf2(float(c.value))) == c.bits);
  }
  CHECK(std::isnan(double(__truncsfbf2(std::nanf("")))));
  CHECK(std::isnan(double(__truncdfbf2(std::nan("")))));
  // A float next to a tie is the tie itself: rounding twice would go to the even side.
  CHECK(bitsOf(__truncdfbf2(1 + ulp / 2 + 0x1p-40)) == 0x3f81);
  CHECK(bitsOf(__truncdfbf2(1 + 1.5 * ulp - 0x1p-40)) == 0x3f81);
}
