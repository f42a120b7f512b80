//===- Entry.cpp - the entry function's arguments and results ---------------------------------------------------===//
#include "Entry.h"

#include "braid/dialect/BraidOps.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace braid::run {

namespace {

bool isNumber(Type type) { return type.isIntOrIndexOrFloat(); }

/// Null: not one that can be passed.
Port portOf(Type type) {
  if (isNumber(type))
    return {RankedTensorType::get({}, type)};
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return {tensor};
  auto buffer = dyn_cast<MemRefType>(type);
  if (!buffer || !buffer.getLayout().isIdentity() || buffer.getMemorySpace())
    return {};
  return {RankedTensorType::get(buffer.getShape(), buffer.getElementType()), "", /*isBuffer=*/true};
}

/// Whether addresses reach all of a tensor: bytes, and elements before a 0 among the sizes, fit into 63 bits.
bool isAddressable(RankedTensorType type) {
  int64_t bytes = elementBytesOf(type);
  return llvm::none_of(type.getShape(), [&](int64_t size) { return size && llvm::MulOverflow(bytes, size, bytes); });
}

LogicalResult readPorts(func::FuncOp entry, TypeRange types, StringRef what, std::vector<Port> &ports) {
  for (auto [index, type] : llvm::enumerate(types)) {
    Port port = portOf(type);
    if (!port.type || !port.type.hasStaticShape() || !elementBytesOf(port.type))
      return entry.emitError()
             << what << ' ' << index
             << ": expected a tensor or memref of static shape (a memref in one piece), or a number, of a type of "
                "whole bytes, got "
             << type;
    if (!isAddressable(port.type))
      return entry.emitError() << what << ' ' << index << ": expected less than 2^63 bytes, got " << type;
    ports.push_back(port);
  }
  return success();
}

/// Numbers become tensors of rank 0 in place, so that the function stays the program's main one.
LogicalResult passNumbersAsTensors(func::FuncOp entry) {
  FunctionType type = entry.getFunctionType();
  if (llvm::none_of(type.getInputs(), isNumber) && llvm::none_of(type.getResults(), isNumber))
    return success();
  if (!SymbolTable::symbolKnownUseEmpty(entry, entry->getParentOp()))
    return entry.emitError(
        "entry: expected a function that nobody in the module calls where it takes or gives numbers: let "
        "another function call it, and be the entry");
  auto passed = [](Type type) -> Type { return isNumber(type) ? RankedTensorType::get({}, type) : type; };
  entry.setFunctionType(FunctionType::get(entry.getContext(), llvm::map_to_vector(type.getInputs(), passed),
                                          llvm::map_to_vector(type.getResults(), passed)));
  entry.getContext()->loadDialect<tensor::TensorDialect>(); // the program may hold none of its operations
  OpBuilder builder = OpBuilder::atBlockBegin(&entry.front());
  for (BlockArgument argument : entry.getArguments()) {
    if (!isNumber(argument.getType()))
      continue;
    argument.setType(passed(argument.getType()));
    auto number = tensor::ExtractOp::create(builder, entry.getLoc(), argument, ValueRange());
    argument.replaceAllUsesExcept(number, number);
  }
  entry.walk([&](func::ReturnOp end) {
    builder.setInsertionPoint(end);
    for (OpOperand &operand : end->getOpOperands())
      if (isNumber(operand.get().getType()))
        operand.set(tensor::FromElementsOp::create(
            builder, end.getLoc(), cast<RankedTensorType>(passed(operand.get().getType())), operand.get()));
  });
  return success();
}

} // namespace

LogicalResult prepareEntry(func::FuncOp entry, Program &program) {
  if (entry.isExternal())
    return entry.emitError("entry: expected a function with a body");
  if (failed(readPorts(entry, entry.getArgumentTypes(), "argument", program.arguments)) ||
      failed(readPorts(entry, entry.getResultTypes(), "result", program.results)) ||
      failed(passNumbersAsTensors(entry)))
    return failure();
  OpBuilder builder(entry);
  for (auto [index, port] : llvm::enumerate(program.arguments)) {
    if (auto data = entry.getArgAttrOfType<StringAttr>(index, "braid.data"))
      port.data = data.getValue().str();
    entry.removeArgAttr(index, "braid.data"); // no lowering knows it
    // An argument that the function may overwrite would lose its data for the next step, so it may not.
    if (!port.isBuffer)
      entry.setArgAttr(index, bufferization::BufferizationDialect::kWritableAttrName, builder.getBoolAttr(false));
  }
  entry->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), builder.getUnitAttr());
  // One name for all programs, so that a loader needs no other.
  if (failed(SymbolTable(entry->getParentOfType<ModuleOp>()).rename(entry, "braid_module_entry")))
    return entry.emitError("entry: expected no other use of the name braid_module_entry");
  return success();
}

} // namespace braid::run
