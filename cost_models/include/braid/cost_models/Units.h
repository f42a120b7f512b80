//===- Units.h - quantities that carry their unit ---------------------------------------------------------------===//
//
// A bare double never says whether it is microseconds or seconds; these types do. Text forms: "1.3 us", "400 Gb/s", "80
// GiB".
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_UNITS_H
#define BRAID_COST_MODELS_UNITS_H

#include "braid/cost_models/Result.h"
#include <cstdint>
#include <string>

namespace braid::cost {

struct Seconds {
  double value = 0;
  friend Seconds operator+(Seconds a, Seconds b) { return {a.value + b.value}; }
  friend Seconds operator-(Seconds a, Seconds b) { return {a.value - b.value}; }
  friend Seconds operator*(Seconds a, double f) { return {a.value * f}; }
  friend Seconds operator*(double f, Seconds a) { return {a.value * f}; }
  friend Seconds operator/(Seconds a, double f) { return {a.value / f}; }
  friend double operator/(Seconds a, Seconds b) { return a.value / b.value; }
  Seconds &operator+=(Seconds b) {
    value += b.value;
    return *this;
  }
  friend bool operator<(Seconds a, Seconds b) { return a.value < b.value; }
  friend bool operator>(Seconds a, Seconds b) { return a.value > b.value; }
  friend bool operator<=(Seconds a, Seconds b) { return a.value <= b.value; }
  friend bool operator>=(Seconds a, Seconds b) { return a.value >= b.value; }
  friend bool operator==(Seconds a, Seconds b) { return a.value == b.value; }
};
inline Seconds microseconds(double us) { return {us * 1e-6}; }

struct Bytes {
  int64_t value = 0;
  friend Bytes operator+(Bytes a, Bytes b) { return {a.value + b.value}; }
  friend Bytes operator-(Bytes a, Bytes b) { return {a.value - b.value}; }
  Bytes &operator+=(Bytes b) {
    value += b.value;
    return *this;
  }
  Bytes &operator-=(Bytes b) {
    value -= b.value;
    return *this;
  }
  friend bool operator<(Bytes a, Bytes b) { return a.value < b.value; }
  friend bool operator>(Bytes a, Bytes b) { return a.value > b.value; }
  friend bool operator<=(Bytes a, Bytes b) { return a.value <= b.value; }
  friend bool operator>=(Bytes a, Bytes b) { return a.value >= b.value; }
  friend bool operator==(Bytes a, Bytes b) { return a.value == b.value; }
};

struct BytesPerSecond {
  double value = 0;
  friend bool operator<(BytesPerSecond a, BytesPerSecond b) { return a.value < b.value; }
  friend bool operator>(BytesPerSecond a, BytesPerSecond b) { return a.value > b.value; }
  friend BytesPerSecond operator*(BytesPerSecond a, double f) { return {a.value * f}; }
};
inline Seconds operator/(Bytes b, BytesPerSecond r) { return {double(b.value) / r.value}; }

struct FlopsPerSecond {
  double value = 0;
};

/// "12.3 us", "4.56 ms", "1.2 s": three significant digits.
std::string toString(Seconds s);
/// "25.0 MiB", "512 B".
std::string toString(Bytes b);
/// "50.0 GB/s".
std::string toString(BytesPerSecond r);
/// "989 TFLOP/s".
std::string toString(FlopsPerSecond r);

/// Bytes of one element, by MLIR's spelling of its type: f32 4, bf16 2, f8E4M3FN 1.
int64_t elementBytes(const std::string &type);

/// The inverse: a number, an optional space and a unit. Errors: no unit, another quantity's unit, negative, not finite.
/// Decimal prefixes are powers of 1000 (kB, MB), binary ones of 1024 (KiB, MiB); b is bits, B is bytes.
Result<Seconds> parseSeconds(const std::string &text);                        ///< s, ms, us, ns
Result<Bytes> parseBytes(const std::string &text, bool unitOptional = false); ///< B, kB .. TB, KiB .. TiB
Result<BytesPerSecond> parseBytesPerSecond(const std::string &text); ///< b/s .. Tb/s, B/s .. TB/s, KiB/s .. TiB/s
Result<FlopsPerSecond> parseFlopsPerSecond(const std::string &text); ///< FLOP/s, kFLOP/s .. PFLOP/s

/// "010": eight to some readers, ten to others.
bool beginsWithZero(const std::string &numeral);
/// Whether the numeral's value is so near to zero that a double holds it as none, or with digits missing: "1e-400".
bool vanishes(const std::string &numeral, double value);

} // namespace braid::cost

#endif
