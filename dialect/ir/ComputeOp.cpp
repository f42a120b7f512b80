//===- ComputeOp.cpp - timed computation: its duration, effects and constraints -----------------------------------===//
#include "DestinationForm.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace mlir::braid;

namespace {
struct Unit {
  StringRef name;
  double perSecond; ///< exact, so that a quotient is the nearest number to what the text says
};
constexpr Unit units[] = {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}};
} // namespace

/// "3.2 us"; none if it is not a duration.
static std::optional<double> parseDuration(StringRef text) {
  auto [number, unit] = text.split(' ');
  double value;
  if (number.getAsDouble(value) || !std::isfinite(value) || value < 0)
    return std::nullopt;
  for (const Unit &known : units)
    if (unit == known.name)
      return value / known.perSecond;
  return std::nullopt;
}

double ComputeOp::getSeconds() { return parseDuration(getDuration()).value_or(0); }

std::string ComputeOp::durationText(double seconds) {
  const Unit *unit = &units[0];
  for (const Unit &larger : units)
    if (seconds * larger.perSecond >= 1)
      unit = &larger;
  std::string text;
  for (int digits = 3; digits <= 17; ++digits) {
    text.clear();
    llvm::raw_string_ostream(text) << llvm::format("%.*g ", digits, seconds * unit->perSecond) << unit->name;
    if (parseDuration(text) == seconds)
      break;
  }
  return text;
}

void ComputeOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), TimeResource::get());
  addEffect<MemoryEffects::Read>(effects, getInputsMutable());
  addEffect<MemoryEffects::Read>(effects, getInitsMutable());
  addEffect<MemoryEffects::Write>(effects, getInitsMutable());
}

LogicalResult ComputeOp::verify() {
  if (!parseDuration(getDuration())) // C1
    return emitOpError(
               "duration, expected a number that is not negative and one of ns, us, ms, s, as in \"3.2 us\", got \"")
           << getDuration() << "\"";
  return verifyDestinationForm(*this, getInits(), getResults()); // C2
}
