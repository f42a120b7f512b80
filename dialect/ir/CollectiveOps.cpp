//===- CollectiveOps.cpp - sizes, inferred types and the text of pairs ------------------------------------------===//
#include "braid/dialect/BraidOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::braid;

#include "braid/dialect/BraidOpInterfaces.cpp.inc"

//===------------------------------------------------------------------------------------------------------------===//
// Sizes
//===------------------------------------------------------------------------------------------------------------===//

std::optional<int64_t> mlir::braid::elementBytes(Type elementType) {
  if (auto complex = dyn_cast<ComplexType>(elementType)) {
    std::optional<int64_t> part = elementBytes(complex.getElementType());
    return part ? std::optional<int64_t>(2 * *part) : std::nullopt;
  }
  if (elementType.isIndex())
    return 8;
  if (!elementType.isIntOrFloat())
    return std::nullopt;
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

std::optional<int64_t> mlir::braid::operandBytes(Operation *op, ValueRange operands) {
  auto hint = op->getAttrOfType<DenseI64ArrayAttr>(BraidDialect::getSizeHintAttrName());
  int64_t total = 0;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    if (!type)
      return std::nullopt;
    int64_t bytes;
    if (type.hasStaticShape()) {
      std::optional<int64_t> element = elementBytes(type.getElementType());
      if (!element)
        return std::nullopt;
      bytes = *element;
      for (int64_t size : type.getShape())
        if (__builtin_mul_overflow(bytes, size, &bytes))
          return std::nullopt;
    } else if (hint && index < size_t(hint.size())) {
      bytes = hint[index];
    } else {
      return std::nullopt;
    }
    if (__builtin_add_overflow(total, bytes, &total))
      return std::nullopt;
  }
  return total;
}

//===------------------------------------------------------------------------------------------------------------===//
// Results like operands
//===------------------------------------------------------------------------------------------------------------===//

static LogicalResult resultsLikeOperands(ValueRange operands, SmallVectorImpl<Type> &results) {
  llvm::append_range(results, operands.getTypes());
  return success();
}

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                            OpaqueProperties, RegionRange, SmallVectorImpl<Type> &results) {
  return resultsLikeOperands(operands, results);
}
LogicalResult PermuteOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange, SmallVectorImpl<Type> &results) {
  return resultsLikeOperands(operands, results);
}
LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                            OpaqueProperties, RegionRange, SmallVectorImpl<Type> &results) {
  return resultsLikeOperands(operands, results);
}

//===------------------------------------------------------------------------------------------------------------===//
// Pairs
//===------------------------------------------------------------------------------------------------------------===//

DenseIntElementsAttr PermuteOp::pairsAttr(MLIRContext *context, ArrayRef<std::pair<int64_t, int64_t>> pairs) {
  SmallVector<int64_t> flat;
  for (auto [source, target] : pairs)
    flat.append({source, target});
  auto type = RankedTensorType::get({int64_t(pairs.size()), 2}, IntegerType::get(context, 64));
  return DenseIntElementsAttr::get(type, flat);
}

SmallVector<std::pair<int64_t, int64_t>> PermuteOp::getPairList() {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  auto values = getPairs().getValues<int64_t>();
  for (auto value = values.begin(); value != values.end();) {
    int64_t source = *value++;
    pairs.emplace_back(source, *value++);
  }
  return pairs;
}

/// `[[0, 1], [1, 2]]`
static ParseResult parsePairs(OpAsmParser &parser, DenseIntElementsAttr &attr) {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  auto parsePair = [&]() -> ParseResult {
    auto &[source, target] = pairs.emplace_back();
    return failure(parser.parseLSquare() || parser.parseInteger(source) || parser.parseComma() ||
                   parser.parseInteger(target) || parser.parseRSquare());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair, " in pairs"))
    return failure();
  attr = PermuteOp::pairsAttr(parser.getContext(), pairs);
  return success();
}

static void printPairs(OpAsmPrinter &printer, PermuteOp op, DenseIntElementsAttr) {
  printer << '[';
  llvm::interleaveComma(op.getPairList(), printer,
                        [&](auto pair) { printer << '[' << pair.first << ", " << pair.second << ']'; });
  printer << ']';
}

//===------------------------------------------------------------------------------------------------------------===//
// Kinds, by name
//===------------------------------------------------------------------------------------------------------------===//

static ParseResult parseCollective(OpAsmParser &parser, CollectiveKindAttr &attr) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<CollectiveKind> kind = symbolizeCollectiveKind(word);
  if (!kind)
    return parser.emitError(loc, "collective, expected the name of one, got ") << word;
  attr = CollectiveKindAttr::get(parser.getContext(), *kind);
  return success();
}

static void printCollective(OpAsmPrinter &printer, LaunchOp, CollectiveKindAttr attr) {
  printer << stringifyCollectiveKind(attr.getValue());
}

#define GET_OP_CLASSES
#include "braid/dialect/BraidOps.cpp.inc"
