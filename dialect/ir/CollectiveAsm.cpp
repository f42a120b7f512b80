//===- CollectiveAsm.cpp - the text of collectives that have groups ---------------------------------------------===//
//
//   [reduction] operands [dims = ...] [split = ... concat = ...] [root = N] groups = G [combiner {...}] [{...}] : types
//
// Written by hand, and not as a declarative format, because of what TrailingType.h describes.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "TrailingType.h"
#include "braid/dialect/BraidOps.h"

using namespace mlir;
using namespace mlir::braid;

namespace {
/// Whether an operation writes only the types of its operands, which are those of its results, or both as a function
/// type.
enum class TypeForm { OperandsOnly, Function };

/// Reads the pieces in the order in which the operation calls for them.
struct CollectiveParser {
  OpAsmParser &parser;
  OperationState &result;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc operandsLoc;
  Type trailing; // read too early, behind the groups

  CollectiveParser(OpAsmParser &parser, OperationState &result) : parser(parser), result(result) {}

  ParseResult parseReduction(ReductionKindAttr &attr) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (failed(parser.parseOptionalKeyword(&word)))
      return parser.emitError(loc, "reduction, expected sum, product, min, max, average, and, or, xor");
    std::optional<ReductionKind> kind = symbolizeReductionKind(word);
    if (!kind)
      return parser.emitError(loc, "reduction, expected sum, product, min, max, average, and, or, xor, got ") << word;
    attr = ReductionKindAttr::get(parser.getContext(), *kind);
    return success();
  }

  ParseResult parseOperands() {
    operandsLoc = parser.getCurrentLocation();
    if (parser.parseOperandList(operands))
      return failure();
    if (operands.empty())
      return parser.emitError(operandsLoc, "operands, expected at least one, got none");
    return success();
  }

  /// The inits of a rooted collective stand behind its operands.
  ParseResult parseInits() {
    SMLoc loc = parser.getCurrentLocation();
    size_t sent = operands.size();
    if (parser.parseKeyword("init") || parser.parseOperandList(operands))
      return failure();
    if (operands.size() != 2 * sent)
      return parser.emitError(loc, "inits, expected one for each of ")
             << sent << " operands, got " << operands.size() - sent;
    return success();
  }

  ParseResult parseDims(StringRef keyword, DenseI64ArrayAttr &dims) {
    if (parser.parseKeyword(keyword) || parser.parseEqual())
      return failure();
    dims = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, Type()));
    return success(bool(dims));
  }

  ParseResult parseRoot(IntegerAttr &root) {
    int64_t index;
    if (parser.parseKeyword("root") || parser.parseEqual() || parser.parseInteger(index))
      return failure();
    root = parser.getBuilder().getI64IntegerAttr(index);
    return success();
  }

  ParseResult parseGroups(GroupsAttrInterface &groups) {
    if (parser.parseKeyword("groups") || parser.parseEqual())
      return failure();
    SMLoc loc = parser.getCurrentLocation();
    Attribute attr;
    if (parser.parseAttribute(attr))
      return failure();
    attr = braid::detail::takeTrailingType(attr, trailing);
    groups = dyn_cast<GroupsAttrInterface>(attr);
    if (!groups)
      return parser.emitError(loc, "groups, expected #braid.groups, #braid.iota, #braid.mesh_axes or another attribute "
                                   "that says who takes part, got ")
             << attr;
    return success();
  }

  ParseResult parseCombiner() {
    Region *region = result.addRegion();
    if (!trailing && succeeded(parser.parseOptionalKeyword("combiner")))
      return parser.parseRegion(*region);
    return success();
  }

  template <typename OpT> ParseResult parseDictAndTypes(TypeForm form) {
    if (!trailing) {
      SMLoc loc = parser.getCurrentLocation();
      auto emitError = [&] { return parser.emitError(loc, "'") << result.name << "' op "; };
      if (parser.parseOptionalAttrDict(result.attributes) ||
          failed(OpT::verifyInherentAttrs(result.name, result.attributes, emitError)) || parser.parseColon() ||
          parser.parseType(trailing))
        return failure();
    }
    SmallVector<Type> types;
    if (form == TypeForm::Function) {
      auto function = dyn_cast<FunctionType>(trailing);
      if (!function)
        return parser.emitError(operandsLoc, "types, expected (operands) -> results, got ") << trailing;
      llvm::append_range(types, function.getInputs());
      result.addTypes(function.getResults());
    } else {
      types.push_back(trailing);
      if (succeeded(parser.parseOptionalComma()) && parser.parseTypeList(types))
        return failure();
      result.addTypes(types);
    }
    return parser.resolveOperands(operands, types, operandsLoc, result.operands);
  }
};
} // namespace

/// What precedes the groups is printed by the operation itself.
static void printRest(OpAsmPrinter &printer, CollectiveOpInterface op, Region *combiner, TypeForm form) {
  printer << " groups = " << op.getGroupsAttr();
  if (combiner && !combiner->empty()) {
    printer << " combiner ";
    printer.printRegion(*combiner);
  }
  SmallVector<StringRef> elided = {"reduction", "groups", "dims", "split_dims", "concat_dims", "root"};
  if (op.getIdSpace() == IdSpace::Flattened)
    elided.push_back("id_space");
  printer.printOptionalAttrDict(op->getAttrs(), elided);
  printer << " : ";
  if (form == TypeForm::Function)
    printer.printFunctionalType(op);
  else
    llvm::interleaveComma(op->getOperandTypes(), printer);
}

ParseResult AllReduceOp::parse(OpAsmParser &asmParser, OperationState &result) {
  CollectiveParser parser(asmParser, result);
  auto &properties = result.getOrAddProperties<Properties>();
  return failure(parser.parseReduction(properties.reduction) || parser.parseOperands() ||
                 parser.parseGroups(properties.groups) || parser.parseCombiner() ||
                 parser.parseDictAndTypes<AllReduceOp>(TypeForm::OperandsOnly));
}
void AllReduceOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyReductionKind(getReduction()) << ' ' << getOperands();
  printRest(printer, *this, &getCombiner(), TypeForm::OperandsOnly);
}

ParseResult ReduceScatterOp::parse(OpAsmParser &asmParser, OperationState &result) {
  CollectiveParser parser(asmParser, result);
  auto &properties = result.getOrAddProperties<Properties>();
  return failure(parser.parseReduction(properties.reduction) || parser.parseOperands() ||
                 parser.parseDims("dims", properties.dims) || parser.parseGroups(properties.groups) ||
                 parser.parseCombiner() || parser.parseDictAndTypes<ReduceScatterOp>(TypeForm::Function));
}
void ReduceScatterOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyReductionKind(getReduction()) << ' ' << getOperands() << " dims = ";
  getDimsAttr().print(printer);
  printRest(printer, *this, &getCombiner(), TypeForm::Function);
}

ParseResult AllGatherOp::parse(OpAsmParser &asmParser, OperationState &result) {
  CollectiveParser parser(asmParser, result);
  auto &properties = result.getOrAddProperties<Properties>();
  return failure(parser.parseOperands() || parser.parseDims("dims", properties.dims) ||
                 parser.parseGroups(properties.groups) || parser.parseDictAndTypes<AllGatherOp>(TypeForm::Function));
}
void AllGatherOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperands() << " dims = ";
  getDimsAttr().print(printer);
  printRest(printer, *this, nullptr, TypeForm::Function);
}

ParseResult AllToAllOp::parse(OpAsmParser &asmParser, OperationState &result) {
  CollectiveParser parser(asmParser, result);
  auto &properties = result.getOrAddProperties<Properties>();
  return failure(parser.parseOperands() || parser.parseDims("split", properties.split_dims) ||
                 parser.parseDims("concat", properties.concat_dims) || parser.parseGroups(properties.groups) ||
                 parser.parseDictAndTypes<AllToAllOp>(TypeForm::Function));
}
void AllToAllOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperands() << " split = ";
  getSplitDimsAttr().print(printer);
  printer << " concat = ";
  getConcatDimsAttr().print(printer);
  printRest(printer, *this, nullptr, TypeForm::Function);
}

ParseResult BroadcastOp::parse(OpAsmParser &asmParser, OperationState &result) {
  CollectiveParser parser(asmParser, result);
  auto &properties = result.getOrAddProperties<Properties>();
  return failure(parser.parseOperands() || parser.parseRoot(properties.root) || parser.parseGroups(properties.groups) ||
                 parser.parseDictAndTypes<BroadcastOp>(TypeForm::OperandsOnly));
}
void BroadcastOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperands() << " root = " << getRootAttr().getInt();
  printRest(printer, *this, nullptr, TypeForm::OperandsOnly);
}

ParseResult ReduceOp::parse(OpAsmParser &asmParser, OperationState &result) {
  CollectiveParser parser(asmParser, result);
  auto &properties = result.getOrAddProperties<Properties>();
  return failure(parser.parseReduction(properties.reduction) || parser.parseOperands() || parser.parseInits() ||
                 parser.parseRoot(properties.root) || parser.parseGroups(properties.groups) ||
                 parser.parseDictAndTypes<ReduceOp>(TypeForm::Function));
}
void ReduceOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyReductionKind(getReduction()) << ' ' << getCommOperands() << " init " << getInits()
          << " root = " << getRootAttr().getInt();
  printRest(printer, *this, nullptr, TypeForm::Function);
}

ParseResult GatherOp::parse(OpAsmParser &asmParser, OperationState &result) {
  CollectiveParser parser(asmParser, result);
  auto &properties = result.getOrAddProperties<Properties>();
  return failure(parser.parseOperands() || parser.parseInits() || parser.parseDims("dims", properties.dims) ||
                 parser.parseRoot(properties.root) || parser.parseGroups(properties.groups) ||
                 parser.parseDictAndTypes<GatherOp>(TypeForm::Function));
}
void GatherOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getCommOperands() << " init " << getInits() << " dims = ";
  getDimsAttr().print(printer);
  printer << " root = " << getRootAttr().getInt();
  printRest(printer, *this, nullptr, TypeForm::Function);
}

ParseResult ScatterOp::parse(OpAsmParser &asmParser, OperationState &result) {
  CollectiveParser parser(asmParser, result);
  auto &properties = result.getOrAddProperties<Properties>();
  return failure(parser.parseOperands() || parser.parseDims("dims", properties.dims) ||
                 parser.parseRoot(properties.root) || parser.parseGroups(properties.groups) ||
                 parser.parseDictAndTypes<ScatterOp>(TypeForm::Function));
}
void ScatterOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperands() << " dims = ";
  getDimsAttr().print(printer);
  printer << " root = " << getRootAttr().getInt();
  printRest(printer, *this, nullptr, TypeForm::Function);
}
