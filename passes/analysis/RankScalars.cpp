//===- RankScalars.cpp - StableHLO's integer arithmetic on one element, rank by rank ----------------------------===//
#include "analysis/RankScalars.h"

#include "braid/passes/StablehloOp.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::braid {

/// setting: longer chains of arithmetic are no rank's number.
static constexpr int mostSteps = 64;

/// The type of an integer tensor's elements, if it has `count` of them (0: any number).
static IntegerType integerOf(Value value, int64_t count) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || (count && type.getNumElements() != count))
    return {};
  auto element = dyn_cast<IntegerType>(type.getElementType());
  return element && element.getWidth() <= 64 ? element : IntegerType();
}

static bool isUnsigned(IntegerType type) { return type.isUnsigned() || type.getWidth() == 1; }

/// What is left of a number in a type of so many bits.
static int64_t wrapped(int64_t value, IntegerType type) {
  APInt bits(64, uint64_t(value));
  bits = bits.trunc(type.getWidth());
  return isUnsigned(type) ? int64_t(bits.getZExtValue()) : bits.getSExtValue();
}

static DenseElementsAttr constantOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getName().stripDialect() != "constant")
    return {};
  return getSourceAttr<DenseElementsAttr>(op, "value");
}

static int64_t elementOf(DenseElementsAttr constant, IntegerType type, int64_t index) {
  APInt bits = constant.isSplat() ? constant.getSplatValue<APInt>() : constant.getValues<APInt>()[index];
  return isUnsigned(type) ? int64_t(bits.getZExtValue()) : bits.getSExtValue();
}

/// One operation on two numbers; nothing where it has no meaning here.
static std::optional<int64_t> combine(Operation *op, StringRef name, int64_t a, int64_t b) {
  if (name == "add")
    return int64_t(uint64_t(a) + uint64_t(b));
  if (name == "subtract")
    return int64_t(uint64_t(a) - uint64_t(b));
  if (name == "multiply")
    return int64_t(uint64_t(a) * uint64_t(b));
  if (name == "minimum")
    return std::min(a, b);
  if (name == "maximum")
    return std::max(a, b);
  if (name == "and")
    return a & b;
  if (name == "or")
    return a | b;
  if (name == "xor")
    return a ^ b;
  if (name == "divide" || name == "remainder") {
    if (b == 0 || b == -1)
      return std::nullopt;
    return name == "divide" ? a / b : a % b;
  }
  if (name == "compare") {
    Attribute attr = getSourceAttr(op, "comparison_direction");
    if (!attr)
      return std::nullopt;
    std::string spelled = spellingOf(attr);
    StringRef direction = StringRef(spelled).rtrim("> ");
    bool holds = direction.ends_with("EQ")   ? a == b
                 : direction.ends_with("NE") ? a != b
                 : direction.ends_with("LT") ? a < b
                 : direction.ends_with("LE") ? a <= b
                 : direction.ends_with("GT") ? a > b
                                             : a >= b;
    return holds;
  }
  return std::nullopt;
}

RankValues RankScalars::each(llvm::function_ref<int64_t(int64_t)> value) const {
  RankValues values;
  for (int64_t rank = 0; rank < ranks.ranks(); ++rank)
    values.push_back(value(rank));
  return values;
}

const RankValues *RankScalars::of(Value scalar, int depth) {
  if (!known.contains(scalar)) {
    std::optional<RankValues> computed = compute(scalar, depth); // may itself add to `known`
    known[scalar] = std::move(computed);
  }
  std::optional<RankValues> &values = known[scalar];
  return values ? &*values : nullptr;
}

/// dynamic_slice of one element out of a constant. Indices beyond the table are clamped, as StableHLO says.
std::optional<RankValues> RankScalars::lookUp(Operation *slice, int depth) {
  DenseElementsAttr table = constantOf(slice->getOperand(0));
  IntegerType type = integerOf(slice->getOperand(0), 0);
  if (!table || !type)
    return std::nullopt;
  ArrayRef<int64_t> shape = cast<ShapedType>(table.getType()).getShape();
  if (slice->getNumOperands() != shape.size() + 1 || llvm::is_contained(shape, 0))
    return std::nullopt;
  RankValues places(ranks.ranks(), 0);
  for (auto [size, index] : llvm::zip(shape, llvm::drop_begin(slice->getOperands()))) {
    const RankValues *at = of(index, depth + 1);
    if (!at)
      return std::nullopt;
    for (auto [place, one] : llvm::zip(places, *at))
      place = place * size + std::clamp<int64_t>(one, 0, size - 1);
  }
  return each([&](int64_t rank) { return elementOf(table, type, places[rank]); });
}

std::optional<RankValues> RankScalars::compute(Value scalar, int depth) {
  Operation *op = scalar.getDefiningOp();
  IntegerType type = integerOf(scalar, 1);
  StringRef dialect = op ? op->getName().getDialectNamespace() : "";
  if (!type || depth > mostSteps || (dialect != "stablehlo" && dialect != "mhlo"))
    return std::nullopt;
  StringRef name = op->getName().stripDialect();
  if (name == "partition_id")
    return each([&](int64_t rank) { return rank % ranks.partitions; });
  if (name == "replica_id")
    return each([&](int64_t rank) { return rank / ranks.partitions; });
  if (DenseElementsAttr constant = constantOf(scalar))
    return each([&](int64_t) { return elementOf(constant, type, 0); });
  if (name == "dynamic_slice")
    return lookUp(op, depth);

  SmallVector<RankValues, 3> operands;
  for (Value operand : op->getOperands()) {
    const RankValues *values = integerOf(operand, 1) ? of(operand, depth + 1) : nullptr;
    if (!values)
      return std::nullopt;
    if (integerOf(operand, 1).isUnsigned() && llvm::any_of(*values, [](int64_t value) { return value < 0; }))
      return std::nullopt; // beyond 63 bits
    operands.push_back(*values);
  }
  if (operands.size() == 1 && (name == "reshape" || name == "convert" || name == "broadcast_in_dim"))
    return each([&](int64_t rank) { return wrapped(operands[0][rank], type); });
  if (operands.size() == 3 && name == "select")
    return each([&](int64_t rank) { return operands[operands[0][rank] ? 1 : 2][rank]; });
  if (operands.size() == 3 && name == "clamp")
    return each(
        [&](int64_t rank) { return std::min(std::max(operands[0][rank], operands[1][rank]), operands[2][rank]); });
  if (operands.size() != 2)
    return std::nullopt;
  bool all = true;
  RankValues values = each([&](int64_t rank) {
    std::optional<int64_t> value = combine(op, name, operands[0][rank], operands[1][rank]);
    all &= value.has_value();
    return wrapped(value.value_or(0), type);
  });
  return all ? std::optional(values) : std::nullopt;
}

} // namespace mlir::braid
