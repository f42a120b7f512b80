//===- Data.cpp - fills and prints tensors ----------------------------------------------------------------------===//
#include "Data.h"

#include "Compile.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cerrno>
#include <cstring>
#include <fstream>

using namespace mlir;

namespace braid::run {

namespace {

/// SplitMix64: the value at a place needs no values before it.
uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15ull;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

void store(char *to, Type element, double value) {
  if (auto floating = dyn_cast<FloatType>(element)) {
    llvm::APFloat number(value);
    bool lost;
    number.convert(floating.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
    uint64_t bits = number.bitcastToAPInt().getZExtValue();
    memcpy(to, &bits, llvm::divideCeil(floating.getWidth(), 8));
    return;
  }
  int64_t whole = int64_t(value);
  if (element.isInteger(1))
    whole = whole != 0;
  memcpy(to, &whole, element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

std::string fillUniform(llvm::MutableArrayRef<char> bytes, RankedTensorType type, llvm::StringRef parameters,
                        uint64_t stream) {
  auto [seedText, range] = parameters.split(':');
  uint64_t seed;
  double most = 1;
  if (seedText.getAsInteger(10, seed) || (!range.empty() && (range.getAsDouble(most) || !(most > 0))))
    return "expected seed:NUMBER or seed:NUMBER:RANGE, got " + parameters.str();
  int64_t size = elementBytesOf(type), count = type.getNumElements();
  bool isFloat = isa<FloatType>(type.getElementType());
  uint64_t start = mixed(mixed(seed) + stream);
  for (int64_t index = 0; index < count; ++index) {
    double unit = double(mixed(start + uint64_t(index)) >> 11) * 0x1p-53;
    double value = (2 * unit - 1) * most;
    store(bytes.data() + index * size, type.getElementType(), isFloat ? value : std::floor(value));
  }
  return "";
}

} // namespace

std::string expandPath(std::string path, int rank, int ranks) {
  std::string expanded;
  for (size_t at = 0; at < path.size(); ++at) {
    if (path[at] == '%' && at + 1 < path.size() && (path[at + 1] == 'r' || path[at + 1] == 'n'))
      expanded += std::to_string(path[++at] == 'r' ? rank : ranks);
    else
      expanded += path[at];
  }
  return expanded;
}

std::string fill(llvm::MutableArrayRef<char> bytes, RankedTensorType type, const std::string &spec, int rank,
                 int ranks) {
  auto [kind, rest] = llvm::StringRef(spec).split(':');
  int64_t size = elementBytesOf(type), count = type.getNumElements();
  auto everywhere = [&](auto valueAt) {
    for (int64_t index = 0; index < count; ++index)
      store(bytes.data() + index * size, type.getElementType(), valueAt(index));
    return std::string();
  };
  if (kind == "zeros" || spec.empty())
    return everywhere([](int64_t) { return 0.0; });
  if (kind == "ones")
    return everywhere([](int64_t) { return 1.0; });
  if (kind == "iota")
    return everywhere([](int64_t index) { return double(index); });
  if (kind == "rank")
    return everywhere([&](int64_t) { return double(rank); });
  if (kind == "const") {
    double value;
    if (rest.getAsDouble(value))
      return "expected const:NUMBER, got " + spec;
    return everywhere([&](int64_t) { return value; });
  }
  if (kind == "seed")
    return fillUniform(bytes, type, rest, 0);
  if (kind == "rank-seed")
    return fillUniform(bytes, type, rest, uint64_t(rank) + 1);
  if (kind == "file") {
    std::string path = expandPath(rest.str(), rank, ranks);
    std::ifstream file(path, std::ios::binary);
    if (!file)
      return path + ": " + std::strerror(errno);
    file.read(bytes.data(), std::streamsize(bytes.size()));
    size_t got = size_t(file.gcount());
    // One byte more than there should be tells that there is more; a device may have no end.
    bool more = got == bytes.size() && file.get() != std::ifstream::traits_type::eof();
    return got == bytes.size() && !more ? ""
                                        : path + ": expected " + std::to_string(bytes.size()) + " bytes, got " +
                                              (more ? "more" : std::to_string(got));
  }
  return "expected zeros, ones, iota, rank, const:V, seed:S, rank-seed:S or file:PATH, got " + spec;
}

std::string show(const char *data, RankedTensorType type, int64_t most) {
  Type element = type.getElementType();
  int64_t size = elementBytesOf(type), count = type.getNumElements();
  auto one = [&](int64_t index) -> std::string {
    uint64_t bits = 0;
    memcpy(&bits, data + index * size, std::min<int64_t>(size, 8));
    if (auto floating = dyn_cast<FloatType>(element)) {
      llvm::APFloat number(floating.getFloatSemantics(), llvm::APInt(floating.getWidth(), bits));
      bool lost;
      number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
      char text[40];
      snprintf(text, sizeof(text), "%.9g", number.convertToDouble());
      return text;
    }
    unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    if (width == 1)
      return std::to_string(bits & 1);
    if (element.isUnsignedInteger())
      return std::to_string(bits);
    return std::to_string(llvm::SignExtend64(bits, width));
  };
  if (type.getRank() == 0)
    return one(0);
  std::string text = "[";
  for (int64_t index = 0; index < std::min(count, most); ++index)
    text += (index ? ", " : "") + one(index);
  return text + (count > most ? ", ...]" : "]");
}

} // namespace braid::run
