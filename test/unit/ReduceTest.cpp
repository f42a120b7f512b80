//===- ReduceTest.cpp - the loops of reductions against one element at a time -------------------------------------===//
#include "reduce/Kernels.h"
#include "test/conformance/Scalar.h"
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace braid;
using namespace braid::test;

namespace {

struct Table {
  const char *name;
  const runtime::TypeKernels *kernels;
};

std::vector<Table> tables() {
  std::vector<Table> all = {{"baseline", runtime::kernelsBaseline}};
#ifdef BRAID_RT_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c"))
    all.push_back({"avx2", runtime::kernelsAvx2});
#endif
  return all;
}

/// Operands that matter: all pairs of one byte, else special values and random bits.
std::vector<std::pair<uint64_t, uint64_t>> operands(braid_type type) {
  std::vector<std::pair<uint64_t, uint64_t>> pairs;
  const TypeInfo &t = info(type);
  if (type == BRAID_BOOL)
    return {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 1}, {2, 4}, {0, 255}};
  if (t.bytes == 1) {
    for (uint64_t a = 0; a < 256; ++a)
      for (uint64_t b = 0; b < 256; ++b)
        pairs.push_back({a, b});
    return pairs;
  }
  std::mt19937_64 random(7);
  uint64_t mask = t.bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << (8 * t.bytes)) - 1;
  std::vector<uint64_t> special = {0, 1, 2, 3, mask, mask - 1, mask / 2, mask / 2 + 1, mask / 2 + 2, 5, 0x7f, 0x80};
  if (t.isFloat) {
    int E = t.exponentBits, M = t.mantissaBits;
    uint64_t sign = uint64_t(1) << (E + M), inf = ((uint64_t(1) << E) - 1) << M,
             one = ((uint64_t(1) << (E - 1)) - 1) << M;
    for (uint64_t v : {inf, inf - 1, inf + 1, inf | uint64_t(1) << (M - 1), inf | 3, one, one + 1, one - 1,
                       uint64_t(1) << M, (uint64_t(1) << M) - 1, inf - (uint64_t(1) << M), one + (uint64_t(M) << M)})
      special.insert(special.end(), {v, v | sign});
  }
  for (uint64_t a : special)
    for (uint64_t b : special)
      pairs.push_back({a & mask, b & mask});
  for (int i = 0; i < 20000; ++i) {
    uint64_t a = random() & mask, b = random() & mask;
    if (t.isFloat && i % 2) { // near exponents, so that sums round and cancel
      uint64_t below = (uint64_t(1) << t.mantissaBits) - 1;
      b = (a & ~below) | (b & below);
      b ^= uint64_t(i / 2 % 2) << (t.exponentBits + t.mantissaBits);
    }
    pairs.push_back({a, b});
  }
  return pairs;
}

} // namespace

TEST_CASE("reductions of every type give the reference's bits", "[reduce]") {
  for (const Table &table : tables())
    for (int t = 0; t < types; ++t)
      for (int r = 0; r < reductions; ++r) {
        auto type = braid_type(t);
        auto op = braid_reduction(r);
        runtime::Combine combine = table.kernels[type].combine[op];
        INFO(table.name << " " << info(type).name << " " << reductionName(r));
        REQUIRE((combine != nullptr) == allowed(type, op));
        if (!combine)
          continue;
        auto pairs = operands(type);
        size_t size = info(type).bytes;
        std::vector<unsigned char> a(pairs.size() * size), b(a.size()), out(a.size()), swapped(a.size());
        for (size_t i = 0; i < pairs.size(); ++i) {
          store(type, &a[i * size], pairs[i].first);
          store(type, &b[i * size], pairs[i].second);
        }
        combine(out.data(), a.data(), b.data(), pairs.size());
        combine(swapped.data(), b.data(), a.data(), pairs.size());
        CHECK(out == swapped); // either order of operands: the same bytes
        for (size_t i = 0; i < pairs.size(); ++i) {
          uint64_t expected = combineBits(type, op, pairs[i].first, pairs[i].second), got = load(type, &out[i * size]);
          if (expected != got) {
            INFO(std::hex << pairs[i].first << " and " << pairs[i].second);
            REQUIRE(got == expected);
          }
        }
        std::vector<unsigned char> inPlace = a;
        combine(inPlace.data(), inPlace.data(), b.data(), pairs.size());
        CHECK(inPlace == out);
        inPlace = b;
        combine(inPlace.data(), a.data(), inPlace.data(), pairs.size());
        CHECK(inPlace == out);
      }
}

TEST_CASE("averages divide once", "[reduce]") {
  for (const Table &table : tables())
    for (int t = 1; t < types; ++t)
      for (int ranks : {1, 2, 3, 7, 9}) {
        auto type = braid_type(t);
        auto pairs = operands(type);
        size_t size = info(type).bytes;
        std::vector<unsigned char> data(pairs.size() * size);
        for (size_t i = 0; i < pairs.size(); ++i)
          store(type, &data[i * size], pairs[i].first);
        table.kernels[type].divide(data.data(), pairs.size(), ranks);
        for (size_t i = 0; i < pairs.size(); ++i) {
          uint64_t expected = quotient(type, pairs[i].first, ranks), got = load(type, &data[i * size]);
          INFO(table.name << " " << info(type).name << " " << std::hex << pairs[i].first << " / " << ranks);
          if (got != expected)
            REQUIRE(got == expected);
        }
      }
}

TEST_CASE("reductions at any alignment and length touch nothing else", "[reduce]") {
  for (const Table &table : tables())
    for (int t = 0; t < types; ++t) {
      auto type = braid_type(t);
      size_t size = info(type).bytes;
      for (size_t count : {0, 1, 3, 17, 63, 64, 65, 1000})
        for (size_t shift : {0, 1, 5}) {
          std::vector<unsigned char> a((count + 16) * size, 1), b(a.size(), 1), out(a.size(), 0xa5);
          table.kernels[type].combine[BRAID_MAX](&out[shift * size], &a[shift * size], &b[shift * size], count);
          for (size_t i = 0; i < out.size(); ++i)
            if (i < shift * size || i >= (shift + count) * size)
              REQUIRE(out[i] == 0xa5);
            else
              REQUIRE(out[i] == 1);
        }
    }
}

TEST_CASE("one pass gives what the passes give one by one, and touches nothing else", "[reduce]") {
  std::vector<float> a(5003), b(5003);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = float(i) * 0.37f;
    b[i] = float(i % 97) - 48;
  }
  runtime::Reducer reducer = {runtime::combiner(BRAID_F32, BRAID_SUM), BRAID_F32, 3};
  for (size_t shift : {0, 1, 5, 16})
    for (size_t count : {0, 1, 15, 16, 17, 1023, 1024, 1025, 4980})
      for (bool average : {false, true}) {
        std::vector<float> expected(5003, -1), got(5003, -1);
        reducer.combine(expected.data() + shift, a.data() + shift, b.data(), count);
        if (average)
          runtime::divide(BRAID_F32, expected.data() + shift, count, 3);
        for (bool stream : {false, true}) {
          std::fill(got.begin(), got.end(), -1.0f);
          reducer.run(got.data() + shift, a.data() + shift, b.data(), count, average, stream);
          CHECK(got == expected);
          std::copy(a.begin(), a.end(), got.begin()); // in place
          reducer.run(got.data() + shift, got.data() + shift, b.data(), count, average, stream);
          CHECK(
              std::equal(got.begin() + long(shift), got.begin() + long(shift + count), expected.begin() + long(shift)));
        }
      }
}

TEST_CASE("the reference can fail: truncation instead of rounding is seen", "[reduce]") {
  // bf16 of 1 + 2^-8 + 2^-9 rounds up, a cut would not.
  CHECK(encode(BRAID_BF16, 1 + 0.00390625 + 0.001953125) == 0x3f81);
  CHECK(encode(BRAID_BF16, 1 + 0.00390625) == 0x3f80); // a tie: to even
  CHECK(encode(BRAID_F8E4M3FN, 464) == 0x7e);
  CHECK(encode(BRAID_F8E4M3FN, 465) == 0x7f);
  CHECK(encode(BRAID_F8E5M2, 61440) == 0x7c); // the midpoint beyond the largest: to even, infinity
  CHECK(encode(BRAID_F16, 65519) == 0x7bff);
}
