//===- Units.cpp - quantities to text and back ------------------------------------------------------------------===//
//
// settings: all numbers here are units and digits.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Units.h"
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

namespace braid::cost {

//===- to text --------------------------------------------------------------------------------------------------===//

/// Three significant digits, never in exponent form: "1.23", "12.3", "123", "1234".
static std::string threeDigits(double value) {
  double magnitude = std::fabs(value);
  int decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

struct Scale {
  double factor;
  const char *unit;
};

/// `scales` from small to large. The unit is the largest that leaves at least one (after rounding) before the point.
static std::string scaled(double value, const std::vector<Scale> &scales) {
  size_t i = 0;
  while (i + 1 < scales.size() && std::fabs(value) >= 0.9995 * scales[i + 1].factor)
    ++i;
  return threeDigits(value / scales[i].factor) + " " + scales[i].unit;
}

std::string toString(Seconds s) {
  if (s.value == 0)
    return "0 s";
  if (!std::isfinite(s.value))
    return std::isnan(s.value) ? "nan s" : s.value < 0 ? "-inf s" : "inf s";
  return scaled(s.value, {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}});
}

std::string toString(Bytes b) {
  double magnitude = std::fabs(double(b.value));
  if (magnitude < 1024)
    return std::to_string(b.value) + " B";
  static const std::vector<Scale> scales = {{1024.0, "KiB"},
                                            {1024.0 * 1024, "MiB"},
                                            {1024.0 * 1024 * 1024, "GiB"},
                                            {1024.0 * 1024 * 1024 * 1024, "TiB"},
                                            {1024.0 * 1024 * 1024 * 1024 * 1024, "PiB"}};
  size_t i = 0;
  while (i + 1 < scales.size() && magnitude >= scales[i + 1].factor)
    ++i;
  double value = double(b.value) / scales[i].factor;
  char text[64];
  std::snprintf(text, sizeof text, "%.1f %s", value, scales[i].unit);
  return text;
}

std::string toString(BytesPerSecond r) {
  return scaled(r.value, {{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}});
}

std::string toString(FlopsPerSecond r) {
  return scaled(
      r.value,
      {{1, "FLOP/s"}, {1e3, "kFLOP/s"}, {1e6, "MFLOP/s"}, {1e9, "GFLOP/s"}, {1e12, "TFLOP/s"}, {1e15, "PFLOP/s"}});
}

//===- digits ---------------------------------------------------------------------------------------------------===//

bool beginsWithZero(const std::string &numeral) {
  size_t first = numeral.find_first_not_of("+-");
  return first != std::string::npos && first + 1 < numeral.size() && numeral[first] == '0' &&
         std::isdigit((unsigned char)numeral[first + 1]);
}

bool vanishes(const std::string &numeral, double value) {
  std::string mantissa = numeral.substr(0, numeral.find_first_of("eE"));
  return std::fabs(value) < std::numeric_limits<double>::min() &&
         mantissa.find_first_of("123456789") != std::string::npos;
}

//===- from text ------------------------------------------------------------------------------------------------===//

static const std::vector<Scale> timeUnits = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
static const std::vector<Scale> byteUnits = {{1, "B"},
                                             {1e3, "kB"},
                                             {1e6, "MB"},
                                             {1e9, "GB"},
                                             {1e12, "TB"},
                                             {1024.0, "KiB"},
                                             {1024.0 * 1024, "MiB"},
                                             {1024.0 * 1024 * 1024, "GiB"},
                                             {1024.0 * 1024 * 1024 * 1024, "TiB"}};
static const std::vector<Scale> rateUnits = {{1, "B/s"},
                                             {1e3, "kB/s"},
                                             {1e6, "MB/s"},
                                             {1e9, "GB/s"},
                                             {1e12, "TB/s"},
                                             {1024.0, "KiB/s"},
                                             {1024.0 * 1024, "MiB/s"},
                                             {1024.0 * 1024 * 1024, "GiB/s"},
                                             {1024.0 * 1024 * 1024 * 1024, "TiB/s"},
                                             {0.125, "b/s"},
                                             {0.125e3, "kb/s"},
                                             {0.125e6, "Mb/s"},
                                             {0.125e9, "Gb/s"},
                                             {0.125e12, "Tb/s"}};
static const std::vector<Scale> flopUnits = {{1, "FLOP/s"},    {1e3, "kFLOP/s"},  {1e6, "MFLOP/s"},
                                             {1e9, "GFLOP/s"}, {1e12, "TFLOP/s"}, {1e15, "PFLOP/s"}};

/// A number then one of `units`. `what` and `example` make the error: "expected a time with a unit, like "1.3 us", got
/// ...".
static Result<double> parse(const std::string &text, const std::vector<Scale> &units, const char *what,
                            const char *example, bool unitOptional = false) {
  auto fail = [&](const std::string &got) {
    return Error{std::string("expected ") + what + " with a unit, like \"" + example + "\", got " + got, {}};
  };
  std::string quoted = "\"" + text + "\"";
  // strtod would also take "0x10", "inf" and "nan", which nobody means in a cluster file.
  size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos)
    return fail("an empty text");
  size_t end = text.find_last_not_of(" \t") + 1;
  size_t number = begin;
  if (number < end && (text[number] == '-' || text[number] == '+'))
    ++number;
  size_t digits = number;
  while (digits < end && (std::isdigit((unsigned char)text[digits]) || text[digits] == '.'))
    ++digits;
  if (digits == number)
    return fail(quoted + ", which does not begin with a number");
  if (digits < end && (text[digits] == 'e' || text[digits] == 'E')) {
    size_t exponent = digits + 1;
    if (exponent < end && (text[exponent] == '-' || text[exponent] == '+'))
      ++exponent;
    size_t first = exponent;
    while (exponent < end && std::isdigit((unsigned char)text[exponent]))
      ++exponent;
    if (exponent > first)
      digits = exponent;
  }
  std::string numeral = text.substr(begin, digits - begin);
  if (beginsWithZero(numeral))
    return fail(quoted + ", whose leading zero may mean octal: write it without");
  char *stop = nullptr;
  double value = std::strtod(numeral.c_str(), &stop);
  if (*stop != '\0')
    return fail(quoted + ", in which \"" + numeral + "\" is not a number");
  if (!std::isfinite(value))
    return fail(quoted + ", which is too large");
  if (vanishes(numeral, value))
    return fail(quoted + ", which is too small to be a number (0 means none at all)");
  if (value < 0 || numeral[0] == '-')
    return Error{std::string("expected ") + what + " that is not negative, got " + quoted, {}};
  size_t unitBegin = text.find_first_not_of(" \t", digits);
  if (unitBegin == std::string::npos || unitBegin >= end) {
    if (unitOptional)
      return value;
    return fail(quoted + ", which has no unit");
  }
  std::string unit = text.substr(unitBegin, end - unitBegin);
  std::string known;
  for (const Scale &scale : units) {
    if (unit == scale.unit) {
      if (!std::isfinite(value * scale.factor))
        return fail(quoted + ", which is too large");
      if (vanishes(numeral, value * scale.factor))
        return fail(quoted + ", which is too small to be a number (0 means none at all)");
      return value * scale.factor;
    }
    known += std::string(known.empty() ? "" : ", ") + scale.unit;
  }
  return fail(quoted + " with the unit \"" + unit + "\" (known: " + known + ")");
}

Result<Seconds> parseSeconds(const std::string &text) {
  Result<double> value = parse(text, timeUnits, "a time", "1.3 us");
  if (!value)
    return value.error();
  return Seconds{*value};
}

Result<Bytes> parseBytes(const std::string &text, bool unitOptional) {
  Result<double> value = parse(text, byteUnits, "a size", "80 GiB", unitOptional);
  if (!value)
    return value.error();
  if (*value >= 9.2e18) // beyond int64_t
    return Error{"expected a size below 8192 PiB, got \"" + text + "\"", {}};
  // A fraction of a larger unit is rarely a whole number ("82.1 MiB", as toString writes sizes): the bytes that are whole count.
  bool isInBytes = bool(parse(text, {{1, "B"}}, "a size", "8 B", /*unitOptional=*/true));
  if (*value != std::floor(*value) && (isInBytes || *value < 1))
    return Error{"expected a whole number of bytes, got \"" + text + "\"", {}};
  return Bytes{int64_t(*value)};
}

Result<BytesPerSecond> parseBytesPerSecond(const std::string &text) {
  Result<double> value = parse(text, rateUnits, "a bandwidth", "400 Gb/s");
  if (!value)
    return value.error();
  return BytesPerSecond{*value};
}

Result<FlopsPerSecond> parseFlopsPerSecond(const std::string &text) {
  Result<double> value = parse(text, flopUnits, "a rate", "989 TFLOP/s");
  if (!value)
    return value.error();
  return FlopsPerSecond{*value};
}

int64_t elementBytes(const std::string &type) {
  size_t digit = 0;
  while (digit < type.size() && !std::isdigit((unsigned char)type[digit]))
    ++digit;
  int64_t bits = 0;
  for (; digit < type.size() && std::isdigit((unsigned char)type[digit]); ++digit)
    bits = bits * 10 + (type[digit] - '0');
  return std::max<int64_t>(1, bits / 8) * (type.rfind("complex", 0) == 0 ? 2 : 1);
}

} // namespace braid::cost
