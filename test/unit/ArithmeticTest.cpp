//===- ArithmeticTest.cpp - rounding of the small floats, number by number ----------------------------------------===//
//
// Rounding is a staircase: it changes only at the midpoints between neighbouring numbers. So all numbers of a type, each
// midpoint and the values right beside it say all about it, also for types of 16 bits and sources of 64.
//===------------------------------------------------------------------------------------------------------------===//
#include "reduce/Conversion.h"
#include "reduce/Reduce.h"
#include "test/conformance/Scalar.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace braid;
using namespace braid::test;
using namespace braid::runtime::arithmetic;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <typename T> uint64_t bitsOf(T x) { return x.bits; }

/// Positive numbers of the type up to the largest, as bits: they are in order.
template <typename T> uint64_t largest(braid_type type) {
  uint64_t bits = 0;
  while (std::isfinite(decode(type, bits + 1)))
    ++bits;
  return bits;
}

/// How many values round to something else than the reference says, by `round` of the value; the first is said.
template <typename T, typename From, typename Round> int wrong(braid_type type, Round round) {
  uint64_t top = largest<T>(type);
  int count = 0;
  auto check = [&](From value) {
    for (From v : {value, -value}) {
      uint64_t expected = encode(type, double(v)), got = bitsOf(round(v));
      if (expected != got && count++ == 0)
        UNSCOPED_INFO(info(type).name << " of " << double(v) << ": expected bits " << expected << ", got " << got);
    }
  };
  for (uint64_t bits = 0; bits <= top; ++bits) {
    double here = decode(type, bits);
    // Beyond the largest: as far as the one before it, where the next would be with a larger exponent
    double next = bits < top ? decode(type, bits + 1) : 2 * here - decode(type, bits - 1);
    From middle = From((here + next) / 2);
    check(From(here));
    check(middle);
    check(std::nextafter(middle, From(0)));
    check(std::nextafter(middle, From(infinity)));
  }
  check(std::numeric_limits<From>::denorm_min());
  check(std::numeric_limits<From>::max());
  check(From(infinity));
  check(std::numeric_limits<From>::quiet_NaN());
  return count;
}

template <typename T> void values(braid_type type) {
  INFO(info(type).name);
  int different = 0;
  for (uint64_t bits = 0; bits < uint64_t(1) << (8 * sizeof(T)); ++bits) {
    T x;
    store(type, &x, bits);
    double expected = decode(type, bits), got = double(x.value());
    bool same = std::isnan(expected) ? std::isnan(got) : expected == got && std::signbit(expected) == std::signbit(got);
    different += !same;
  }
  CHECK(different == 0);
}

template <typename T> void rounding(braid_type type) {
  CHECK(wrong<T, float>(type, [](float x) { return T::round(x); }) == 0);
  CHECK(wrong<T, double>(type, [](double x) { return convertTo<T>(x); }) == 0);
  // A rounding that goes through f32 first rounds twice, and a cut rounds down: the check sees both.
  CHECK(wrong<T, double>(type, [](double x) { return T::round(float(x)); }) > 0);
  CHECK(wrong<T, float>(type, [](float x) { return T::round(bitsAs<float>(bitsAs<uint32_t>(x) & 0xffff0000u)); }) > 0);
}

} // namespace

TEST_CASE("every number of a small float has its value", "[arithmetic]") {
  values<F16>(BRAID_F16);
  values<BF16>(BRAID_BF16);
  values<F8E4M3FN>(BRAID_F8E4M3FN);
  values<F8E5M2>(BRAID_F8E5M2);
}

TEST_CASE("rounding to a small float is right at and beside every midpoint", "[arithmetic]") {
  rounding<F16>(BRAID_F16);
  rounding<BF16>(BRAID_BF16);
  rounding<F8E4M3FN>(BRAID_F8E4M3FN);
  rounding<F8E5M2>(BRAID_F8E5M2);
}

TEST_CASE("f64 is rounded to f32 once", "[arithmetic]") {
  for (double x : {1.0, 1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-52, 1 + 3 * 0x1p-24, 0x1p-149, 0x1p-150, 0x1.8p-150,
                   0x1.fffffefp127, 0x1.ffffffp127, -1 - 0x1p-24})
    CHECK(bitsAs<uint32_t>(convertTo<float>(x)) == encode(BRAID_F32, x));
}

TEST_CASE("a NaN becomes the positive quiet one in every conversion", "[arithmetic]") {
  double negative = bitsAs<double>(uint64_t(0xfff8000000000123));
  CHECK(bitsAs<uint32_t>(convertTo<float>(negative)) == 0x7fc00000u);
  CHECK(bitsAs<uint64_t>(convertTo<double>(bitsAs<float>(0xffc00321u))) == 0x7ff8000000000000u);
  CHECK(convertTo<BF16>(negative).bits == 0x7fc0);
  CHECK(bitsAs<uint64_t>(convertTo<double>(F8E4M3FN{0xff})) == 0x7ff8000000000000u);
}
