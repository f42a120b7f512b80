//===- Sweep.cpp - one key of a cluster file over several values -------------------------------------------------===//
#include "Sweep.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace mlir::braid::sim {

using ::braid::cost::Error;
using ::braid::cost::Result;

namespace {
/// "1.5us": 1.5 and " us".
struct Quantity {
  double number = 0;
  std::string unit;
  bool whole = false;
};
} // namespace

static bool readQuantity(llvm::StringRef text, Quantity &quantity) {
  text = text.trim();
  llvm::StringRef digits = text.take_while([](char c) { return llvm::isDigit(c) || c == '.'; });
  if (digits.empty() || digits.getAsDouble(quantity.number))
    return false;
  quantity.unit = text.drop_front(digits.size()).trim().str();
  quantity.whole = quantity.unit.empty() && !digits.contains('.');
  return true;
}

static std::string write(double number, const Quantity &like) {
  std::string text = like.whole ? std::to_string(std::llround(number)) : llvm::formatv("{0:f6}", number).str();
  if (!like.whole && number >= 1)
    text = llvm::formatv("{0:f3}", number).str();
  if (llvm::StringRef(text).contains('.'))
    text = llvm::StringRef(text).rtrim('0').rtrim('.').str();
  return like.unit.empty() ? text : text + " " + like.unit;
}

Result<Sweep> parseSweep(const std::string &text) {
  Sweep sweep;
  if (text.empty())
    return sweep;
  auto [knob, list] = llvm::StringRef(text).split('=');
  sweep.knob = knob.trim().str();
  sweep.values.clear();
  Error wrong{"expected KEY=LOW..HIGH:COUNT or KEY=VALUE,VALUE,..., got '" + text + "'", ""};
  if (sweep.knob.empty() || list.trim().empty())
    return wrong;
  if (!list.contains("..")) {
    llvm::SmallVector<llvm::StringRef> values;
    list.split(values, ',');
    for (llvm::StringRef value : values) {
      if (value.trim().empty())
        return wrong;
      sweep.values.push_back(value.trim().str());
    }
    return sweep;
  }
  auto [ends, countText] = list.split(':');
  auto [lowText, highText] = ends.split("..");
  Quantity low, high;
  unsigned count = 5;
  if (!readQuantity(lowText, low) || !readQuantity(highText, high) ||
      (!countText.empty() && countText.trim().getAsInteger(10, count)))
    return wrong;
  if (low.unit != high.unit)
    return Error{"expected one unit at both ends, got '" + low.unit + "' and '" + high.unit + "'", ""};
  if (!(low.number < high.number) || count < 2 || count > 100)
    return Error{"expected LOW < HIGH and 2 to 100 values, got '" + text + "'", ""};
  low.whole = low.whole && high.whole;
  for (unsigned i = 0; i < count; ++i) {
    double part = double(i) / (count - 1);
    double number = low.number > 0 ? low.number * std::pow(high.number / low.number, part) : high.number * part;
    std::string value = write(number, low);
    if (sweep.values.empty() || sweep.values.back() != value) // whole numbers may repeat
      sweep.values.push_back(value);
  }
  return sweep;
}

} // namespace mlir::braid::sim
