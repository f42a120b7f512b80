//===- SourceShape.cpp - numbers of operands, results and regions by name ---------------------------------------===//
#include "analysis/SourceShape.h"

#include "braid/passes/StablehloOp.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::braid {

namespace {

/// The fewest operands, and the number of results if it is always the same. What no analysis reads by position has no
/// row.
struct Arity {
  unsigned operands = 0;
  int results = -1;
};

Arity arityOf(StringRef name) {
  return llvm::StringSwitch<Arity>(name)
      .Cases({"add", "subtract", "multiply", "compare", "dot", "dot_general", "convolution", "gather", "dynamic_gather",
              "torch_index_select", "dynamic_update_slice"},
             {2, 1})
      .Cases({"reshape", "bitcast_convert", "broadcast_in_dim", "broadcast", "convert", "slice", "dynamic_slice",
              "real_dynamic_slice"},
             {1, 1})
      .Cases({"case", "if"}, {1, -1})
      .Default({});
}

std::string counted(size_t count, StringRef what) {
  return std::to_string(count) + " " + what.str() + (count == 1 ? "" : "s");
}

LogicalResult wrong(Operation *op, const Twine &expected, const Twine &got) {
  return op->emitOpError() << "expected " << expected << ", got " << got;
}

/// A region that runs, with so many arguments and values returned (-1: any number).
LogicalResult checkRegion(Operation *op, Region &region, int arguments, int returned) {
  std::string which = "region " + std::to_string(region.getRegionNumber());
  if (!region.hasOneBlock() || region.front().empty() || !factsOf(&region.front().back()).terminator)
    return wrong(op, which + " to have one block that ends with a return", "another");
  Block &block = region.front();
  if (arguments >= 0 && block.getNumArguments() != unsigned(arguments))
    return wrong(op, which + " to take " + counted(arguments, "value"), counted(block.getNumArguments(), "value"));
  if (returned >= 0 && block.back().getNumOperands() != unsigned(returned))
    return wrong(op, which + " to return " + counted(returned, "value"),
                 counted(block.back().getNumOperands(), "value"));
  return success();
}

LogicalResult checkRegions(Operation *op, StringRef name) {
  int operands = int(op->getNumOperands()), results = int(op->getNumResults());
  if (name == "while") {
    if (op->getNumRegions() != 2)
      return wrong(op, "2 regions", counted(op->getNumRegions(), "region"));
    if (operands != results)
      return wrong(op, counted(operands, "result") + ", one for each operand", counted(results, "result"));
    if (failed(checkRegion(op, op->getRegion(0), operands, 1)))
      return failure();
    return checkRegion(op, op->getRegion(1), operands, operands);
  }
  if (name == "case" || name == "if") {
    if (op->getNumRegions() == 0 || (name == "if" && op->getNumRegions() != 2))
      return wrong(op, name == "if" ? "2 regions" : "at least one region", counted(op->getNumRegions(), "region"));
    for (Region &region : op->getRegions())
      if (failed(checkRegion(op, region, 0, results)))
        return failure();
    return success();
  }
  if (name == "manual_computation" || name == "named_computation") {
    if (op->getNumRegions() != 1)
      return wrong(op, "1 region", counted(op->getNumRegions(), "region"));
    return checkRegion(op, op->getRegion(0), operands, results);
  }
  OpFacts facts = factsOf(op);
  if (facts.known && !facts.hasRegions && !facts.collective && op->getNumRegions() != 0 && name != "custom_call" &&
      name != "composite")
    return wrong(op, "no regions", counted(op->getNumRegions(), "region"));
  return success();
}

/// A composite runs its decomposition on its own operands.
LogicalResult checkComposite(Operation *op, SymbolTable &symbols) {
  auto symbol = getSourceAttr<SymbolRefAttr>(op, "decomposition");
  auto callee = symbol ? symbols.lookup<FunctionOpInterface>(symbol.getRootReference()) : FunctionOpInterface();
  if (!callee || (TypeRange(callee.getArgumentTypes()) == TypeRange(op->getOperandTypes()) &&
                  TypeRange(callee.getResultTypes()) == TypeRange(op->getResultTypes())))
    return success();
  return wrong(op, "the operands and results of its decomposition @" + callee.getName(), "others");
}

LogicalResult check(Operation *op, SymbolTable &symbols) {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("stablehlo.") && !name.consume_front("mhlo.") && !name.consume_front("sdy."))
    return success();
  Arity arity = arityOf(name);
  if (op->getNumOperands() < arity.operands)
    return wrong(op, "at least " + counted(arity.operands, "operand"), counted(op->getNumOperands(), "operand"));
  if (arity.results >= 0 && op->getNumResults() != unsigned(arity.results))
    return wrong(op, counted(arity.results, "result"), counted(op->getNumResults(), "result"));
  // One result for each operand, or for the first of them.
  if (name == "optimization_barrier" && op->getNumOperands() != op->getNumResults())
    return wrong(op, counted(op->getNumOperands(), "result") + ", one for each operand",
                 counted(op->getNumResults(), "result"));
  if (name == "scatter" && op->getNumOperands() < op->getNumResults())
    return wrong(op, "at least " + counted(op->getNumResults(), "operand"), counted(op->getNumOperands(), "operand"));
  if (name == "custom_call" && factsOf(op).cheap && (op->getNumOperands() == 0 || op->getNumResults() == 0))
    return wrong(op, "an operand and a result of an annotation", counted(op->getNumOperands(), "operand"));
  if (name == "composite" && failed(checkComposite(op, symbols)))
    return failure();
  return checkRegions(op, name);
}

} // namespace

LogicalResult checkSourceShapes(ModuleOp module) {
  SymbolTable symbols(module);
  WalkResult walked = module->walk([&](Operation *op) {
    // A registered dialect has verified its operations itself.
    if (op->isRegistered())
      return WalkResult::advance();
    return failed(check(op, symbols)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

} // namespace mlir::braid
