//===- LoopTrips.cpp - trip counts of counter loops -------------------------------------------------------------===//
#include "analysis/LoopTrips.h"

#include "braid/passes/StablehloOp.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <limits>

namespace mlir::braid {

static bool isWhile(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "stablehlo.while" || name == "mhlo.while";
}

bool isLoop(Operation *op) { return isWhile(op) || isa<LoopLikeOpInterface>(op); }

/// The name of an operation without its dialect, for the dialects read by name.
static StringRef plainName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name.consume_front("stablehlo.") || name.consume_front("mhlo."))
    return name;
  return {};
}

static std::optional<int64_t> scalarOf(Attribute attr) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!elements || !elements.getElementType().isIntOrIndex() || !elements.isSplat())
    return std::nullopt;
  APInt value = elements.getSplatValue<APInt>();
  return elements.getElementType().isUnsignedInteger() ? int64_t(value.getZExtValue()) : value.getSExtValue();
}

static std::optional<int64_t> constantInteger(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 8)
    return std::nullopt;
  APInt folded;
  if (matchPattern(value, m_ConstantInt(&folded)))
    return folded.getSExtValue();
  StringRef name = plainName(op);
  if (name == "constant")
    return scalarOf(getSourceAttr(op, "value"));
  auto operand = [&](unsigned index) { return constantInteger(op->getOperand(index), depth + 1); };
  if (name == "convert" || name == "reshape" || name == "broadcast_in_dim")
    return operand(0);
  if (name == "add" || name == "subtract" || name == "multiply") {
    auto a = operand(0), b = operand(1);
    if (!a || !b)
      return std::nullopt;
    return name == "add" ? *a + *b : name == "subtract" ? *a - *b : *a * *b;
  }
  return std::nullopt;
}

std::optional<int64_t> constantInteger(Value value) { return constantInteger(value, 0); }

/// A carried value that every trip passes on unchanged has its initial value throughout.
static std::optional<int64_t> invariantInteger(Operation *loop, Value value) {
  if (auto constant = constantInteger(value))
    return constant;
  auto argument = dyn_cast<BlockArgument>(value);
  Block &body = loop->getRegion(1).front();
  if (!argument || argument.getOwner()->getParentOp() != loop)
    return std::nullopt;
  unsigned index = argument.getArgNumber();
  if (body.getTerminator()->getOperand(index) != body.getArgument(index))
    return std::nullopt;
  return constantInteger(loop->getOperand(index));
}

/// A loop that counts further runs until somebody ends it: as good as one whose trips are not known.
constexpr int64_t mostTrips = int64_t(1) << 53; ///< setting: up to there a double counts

static std::optional<int64_t> countedTrips(int64_t start, int64_t limit, int64_t step, StringRef direction) {
  bool up = direction == "LT" || direction == "LE", exact = direction == "NE";
  if (step == 0 || (!up && !exact && direction != "GT" && direction != "GE"))
    return std::nullopt;
  std::optional<int64_t> distance = up || exact ? llvm::checkedSub(limit, start) : llvm::checkedSub(start, limit);
  if (!distance || *distance > mostTrips || step == std::numeric_limits<int64_t>::min())
    return std::nullopt;
  if (exact)
    return *distance % step == 0 && *distance / step >= 0 ? std::optional<int64_t>(*distance / step) : std::nullopt;
  int64_t stride = up ? step : -step;
  if (direction == "LE" || direction == "GE")
    ++*distance;
  if (*distance <= 0)
    return 0;
  if (stride <= 0)
    return std::nullopt; // runs away from the limit
  return *distance / stride + (*distance % stride != 0);
}

static StringRef mirrored(StringRef direction) {
  return direction == "LT"   ? "GT"
         : direction == "GT" ? "LT"
         : direction == "LE" ? "GE"
         : direction == "GE" ? "LE"
                             : direction;
}

static std::optional<int64_t> whileTrips(Operation *loop) {
  if (loop->getNumRegions() != 2 || loop->getRegion(0).empty() || loop->getRegion(1).empty())
    return std::nullopt;
  Block &condition = loop->getRegion(0).front(), &body = loop->getRegion(1).front();
  Operation *terminator = condition.getTerminator();
  Operation *compare = terminator->getNumOperands() == 1 ? terminator->getOperand(0).getDefiningOp() : nullptr;
  if (!compare || plainName(compare) != "compare")
    return std::nullopt;
  // "stablehlo<comparison_direction LT>" and "stablehlo.comparison_direction<LT>" end in the same word.
  Attribute attr = getSourceAttr(compare, "comparison_direction");
  if (!attr)
    return std::nullopt;
  std::string text = spellingOf(attr);
  StringRef word = StringRef(text).rtrim(">\" ");
  StringRef direction = word.take_back(2);
  auto counter = dyn_cast<BlockArgument>(compare->getOperand(0));
  auto limit = invariantInteger(loop, compare->getOperand(1));
  if (!counter || !limit) {
    counter = dyn_cast<BlockArgument>(compare->getOperand(1));
    limit = invariantInteger(loop, compare->getOperand(0));
    direction = mirrored(direction);
  }
  if (!counter || !limit || counter.getOwner() != &condition)
    return std::nullopt;
  unsigned index = counter.getArgNumber();
  auto start = constantInteger(loop->getOperand(index));
  Operation *next = body.getTerminator()->getOperand(index).getDefiningOp();
  if (!start || !next)
    return std::nullopt;
  StringRef name = plainName(next);
  if (name != "add" && name != "subtract")
    return std::nullopt;
  Value previous = next->getOperand(0), amount = next->getOperand(1);
  if (name == "add" && amount == body.getArgument(index))
    std::swap(previous, amount);
  auto step = invariantInteger(loop, amount);
  if (previous != body.getArgument(index) || !step)
    return std::nullopt;
  return countedTrips(*start, *limit, name == "add" ? *step : -*step, direction);
}

std::optional<int64_t> loopTrips(Operation *loop) {
  if (isWhile(loop))
    return whileTrips(loop);
  auto upstream = dyn_cast<LoopLikeOpInterface>(loop);
  if (!upstream)
    return std::nullopt;
  auto lower = upstream.getLoopLowerBounds(), upper = upstream.getLoopUpperBounds(), steps = upstream.getLoopSteps();
  if (!lower || !upper || !steps || lower->size() != upper->size() || lower->size() != steps->size())
    return std::nullopt;
  int64_t trips = 1;
  for (auto [from, to, by] : llvm::zip(*lower, *upper, *steps)) {
    auto start = getConstantIntValue(from), limit = getConstantIntValue(to), step = getConstantIntValue(by);
    if (!start || !limit || !step)
      return std::nullopt;
    if (auto counted = dyn_cast<scf::ForOp>(loop); counted && counted.getUnsignedCmp() && (*start < 0) != (*limit < 0))
      return *start < 0 ? std::optional<int64_t>(0)
                        : std::nullopt; // as unsigned numbers, the negative one is the larger
    auto count = countedTrips(*start, *limit, *step, "LT");
    auto all = count ? llvm::checkedMul(trips, *count) : std::nullopt;
    if (!all || *all > mostTrips)
      return std::nullopt;
    trips = *all;
  }
  return trips;
}

} // namespace mlir::braid
