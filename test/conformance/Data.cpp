//===- Data.cpp - operands and expected results -----------------------------------------------------------------------===//
#include "test/conformance/Data.h"
#include <algorithm>

namespace braid::test {

namespace {

uint64_t mix(uint64_t x) { // splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

/// Values whose reduction over 9 ranks is exact in every float type, in any order of combining.
double exactValue(braid_reduction reduction, uint64_t draw, size_t i, int rank) {
  switch (reduction) {
  case BRAID_PRODUCT: // at most two ranks are not 1 or -1
    return (draw & 1 ? -1 : 1) * (rank == int(i % 9) || rank == int((i + 4) % 9) ? (draw & 2 ? 2 : 0.5) : 1);
  case BRAID_MIN:
  case BRAID_MAX:
    return double(int(draw % 13) - 6);
  default: // one rank of nine is 0, the others are 0 or 1, or -1: at most 8, three bits
    return rank == int(i % 9) ? 0 : double(int(draw % 3) - 1);
  }
}

std::string hex(uint64_t bits) {
  char text[24];
  std::snprintf(text, sizeof text, "%llx", (unsigned long long)bits);
  return text;
}

} // namespace

Data::Data(const Case &one, int round) : one(one), size(info(one.type).bytes) {
  const TypeInfo &type = info(one.type);
  for (int rank = 0; rank < one.ranks; ++rank) {
    ofRank.emplace_back(period * size);
    for (size_t i = 0; i < period; ++i) {
      uint64_t draw = mix(uint64_t(round) << 48 ^ uint64_t(rank) << 32 ^ i), bits = draw;
      if (one.type == BRAID_BOOL)
        bits = draw & 1;
      else if (type.isFloat && one.reduces() && one.exact)
        bits = encode(one.type, exactValue(one.reduction, draw, i, rank));
      else if (type.isFloat && one.reduces()) // between 1/2 and 2, both signs: sums cancel, products stay in range
        bits = encode(one.type, (0.5 + 1.5 * double(draw >> 11) * 0x1p-53) * (draw & 1 ? -1 : 1));
      store(one.type, &ofRank.back()[i * size], bits);
    }
  }
  if (!one.reduces())
    return;
  reduced.resize(period * size);
  for (size_t i = 0; i < period; ++i) {
    uint64_t bits = load(one.type, &ofRank[0][i * size]);
    long double value = type.isFloat ? decode(one.type, bits) : 0, magnitude = std::fabs(value); // wider than any type
    for (int rank = 1; rank < one.ranks; ++rank) {
      uint64_t next = load(one.type, &ofRank[size_t(rank)][i * size]);
      bits = combineBits(one.type, one.reduction, bits, next);
      if (!one.exact) {
        long double x = decode(one.type, next);
        value = one.reduction == BRAID_PRODUCT ? value * x : value + x;
        magnitude = one.reduction == BRAID_PRODUCT ? std::fabs(value) : magnitude + std::fabs(x);
      }
    }
    if (one.reduction == BRAID_AVERAGE) {
      bits = quotient(one.type, bits, one.ranks);
      value /= one.ranks;
      magnitude /= one.ranks;
    }
    store(one.type, &reduced[i * size], bits);
    if (!one.exact) { // n roundings of relative size 2^-(M+1), on partial sums that are at most the sum of magnitudes
      double unit = std::ldexp(1.0, -(type.mantissaBits + 1)), n = one.ranks + 1;
      double least =
          std::ldexp(1.0, 2 - (1 << (type.exponentBits - 1)) - type.mantissaBits); // subnormals round by this
      middle.push_back(value);
      slack.push_back(double(magnitude * n * unit * 1.2L + n * least)); // 1.2: (1 + unit)^n, and small floats' own f32
    }
  }
}

void Data::copy(const Table &table, size_t from, size_t count, unsigned char *to) const {
  while (count) {
    size_t start = from % period, some = std::min(count, period - start);
    std::memcpy(to, &table[start * size], some * size);
    from += some;
    count -= some;
    to += some * size;
  }
}

std::string Data::compare(const Table &table, size_t from, size_t count, const unsigned char *got) const {
  while (count) {
    size_t start = from % period, some = std::min(count, period - start);
    if (std::memcmp(got, &table[start * size], some * size) != 0)
      for (size_t i = 0; i < some; ++i)
        if (uint64_t is = load(one.type, got + i * size), expected = load(one.type, &table[(start + i) * size]);
            is != expected)
          return "element " + std::to_string(from + i) + ": expected bits " + hex(expected) + ", got " + hex(is);
    from += some;
    count -= some;
    got += some * size;
  }
  return {};
}

std::string Data::expectReduced(size_t from, size_t count, const unsigned char *got) const {
  if (one.exact)
    return compare(reduced, from, count, got);
  for (size_t i = 0; i < count; ++i) {
    size_t at = (from + i) % period;
    double value = decode(one.type, load(one.type, got + i * size));
    if (!(std::fabs(value - middle[at]) <= slack[at])) {
      char text[160];
      std::snprintf(text, sizeof text, "element %zu: expected %.17Lg within %.3g, got %.17g", from + i, middle[at],
                    slack[at], value);
      return text;
    }
  }
  return {};
}

} // namespace braid::test
