//===- ReductionRegion.cpp - reduction regions matched by meaning ----------===//

#include "ReductionRegion.h"

#include "braid/passes/StablehloOp.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::braid;

static bool isOp(Operation *op, StringRef name) {
  return op && op->getName().stripDialect() == name &&
         (op->getName().getDialectNamespace() == "stablehlo" || op->getName().getDialectNamespace() == "mhlo");
}

Type mlir::braid::combinedElementType(Region &region) {
  if (!region.hasOneBlock() || region.front().getNumArguments() != 2)
    return {};
  auto lhs = dyn_cast<RankedTensorType>(region.getArgument(0).getType());
  auto rhs = dyn_cast<RankedTensorType>(region.getArgument(1).getType());
  return lhs && lhs == rhs && lhs.getRank() == 0 ? lhs.getElementType() : Type();
}

/// The value behind annotations: a partly manual program puts shardings on the scalars of its regions.
static Value lookThroughAnnotations(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (op->getNumOperands() != 1 || op->getNumResults() != 1 || op->getOperand(0).getType() != value.getType())
      break;
    StringRef name = op->getName().getStringRef();
    bool call = isOp(op, "custom_call") && factsOf(op).cheap; // Sharding and its like
    if (name != "sdy.sharding_constraint" && !isOp(op, "optimization_barrier") && !call)
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The value behind a conversion, and the type it was converted to.
static Value lookThroughConvert(Value value, Type &convertedTo) {
  value = lookThroughAnnotations(value);
  Operation *op = value.getDefiningOp();
  if (!isOp(op, "convert") || op->getNumOperands() != 1)
    return value;
  convertedTo = getElementTypeOrSelf(value.getType());
  return lookThroughAnnotations(op->getOperand(0));
}

static std::optional<ReductionKind> kindOf(Operation *op, Type type) {
  StringRef name = op->getName().stripDialect();
  if (type.isInteger(1)) // a boolean
    return llvm::StringSwitch<std::optional<ReductionKind>>(name)
        .Cases({"add", "or", "maximum"}, ReductionKind::Or)
        .Cases({"multiply", "and", "minimum"}, ReductionKind::And)
        .Case("xor", ReductionKind::Xor)
        .Default(std::nullopt);
  bool ordered = isa<FloatType, IntegerType>(type), bits = isa<IntegerType>(type);
  if (!ordered && !isa<ComplexType>(type))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<ReductionKind>>(name)
      .Case("add", ReductionKind::Sum)
      .Case("multiply", ReductionKind::Product)
      .Case("maximum", ordered ? std::optional(ReductionKind::Max) : std::nullopt)
      .Case("minimum", ordered ? std::optional(ReductionKind::Min) : std::nullopt)
      .Case("and", bits ? std::optional(ReductionKind::And) : std::nullopt)
      .Case("or", bits ? std::optional(ReductionKind::Or) : std::nullopt)
      .Case("xor", bits ? std::optional(ReductionKind::Xor) : std::nullopt)
      .Default(std::nullopt);
}

/// Converting from `narrow` to `wide` and back loses nothing of a value of `narrow`.
static bool widens(Type narrow, Type wide) {
  if (auto from = dyn_cast<FloatType>(narrow))
    if (auto to = dyn_cast<FloatType>(wide))
      return to.getWidth() > from.getWidth();
  if (auto from = dyn_cast<IntegerType>(narrow))
    if (auto to = dyn_cast<IntegerType>(wide))
      return to.getWidth() > from.getWidth() && to.getSignedness() == from.getSignedness();
  return false;
}

std::optional<Reduction> mlir::braid::matchReduction(Region &region, Type elementType, std::string &why) {
  why = "the reduction region computes no reduction that is known";
  if (combinedElementType(region) != elementType)
    return std::nullopt;
  Block &block = region.front();
  if (block.empty() || !isOp(&block.back(), "return") || block.back().getNumOperands() != 1)
    return std::nullopt;

  // return [convert] op([convert] a, [convert] b), where all conversions are there or none is
  Type back, left, right;
  Operation *op = lookThroughConvert(block.back().getOperand(0), back).getDefiningOp();
  if (!op || op->getNumOperands() != 2 || op->getNumResults() != 1 || !isOp(op, op->getName().stripDialect()))
    return std::nullopt;
  Value a = lookThroughConvert(op->getOperand(0), left), b = lookThroughConvert(op->getOperand(1), right);
  bool bothArguments = (a == block.getArgument(0) && b == block.getArgument(1)) ||
                       (a == block.getArgument(1) && b == block.getArgument(0));
  Type computedIn = getElementTypeOrSelf(op->getResult(0).getType());
  if (!bothArguments || getElementTypeOrSelf(op->getOperand(0).getType()) != computedIn ||
      getElementTypeOrSelf(op->getOperand(1).getType()) != computedIn)
    return std::nullopt;

  Reduction reduction;
  if (computedIn != elementType) {
    if (left != computedIn || right != computedIn || back != elementType || !widens(elementType, computedIn))
      return std::nullopt;
    reduction.accumulate = computedIn;
  } else if (left || right || back) {
    return std::nullopt;
  }
  std::optional<ReductionKind> kind = kindOf(op, computedIn);
  if (!kind)
    return std::nullopt;
  reduction.kind = *kind;
  return reduction;
}
