//===- RuntimeCalls.cpp - calls of the runtime's module interface -----------------------------------------------===//
#include "lowering/RuntimeCalls.h"
#include "lowering/Site.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::braid {

func::CallOp RuntimeCalls::call(OpBuilder &builder, Location loc, StringRef name, ValueRange operands, bool returns) {
  SmallVector<Type> results;
  if (returns)
    results.push_back(word);
  auto type = builder.getFunctionType(operands.getTypes(), results);
  std::string symbol = ("braid_module_" + name).str();
  auto function = module.lookupSymbol<func::FuncOp>(symbol);
  if (!function) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    function = func::FuncOp::create(top, module.getLoc(), symbol, type);
    function.setPrivate();
  }
  return func::CallOp::create(builder, loc, function, operands);
}

Value RuntimeCalls::constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}

Value RuntimeCalls::toWord(OpBuilder &builder, Location loc, Value index) {
  return arith::IndexCastOp::create(builder, loc, word, index);
}

Value RuntimeCalls::address(OpBuilder &builder, Location loc, StringRef prefix, DenseElementsAttr data) {
  memref::GlobalOp &global = globals[data];
  auto tensor = cast<RankedTensorType>(data.getType());
  auto type = MemRefType::get(tensor.getShape(), tensor.getElementType());
  if (!global) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    std::string name;
    for (unsigned number = globals.size() - 1; name.empty() || module.lookupSymbol(name); ++number)
      name = (prefix + "_" + Twine(number)).str();
    global = memref::GlobalOp::create(top, module.getLoc(), name, top.getStringAttr("private"), type, data,
                                      /*constant=*/true, top.getI64IntegerAttr(8));
  }
  Value buffer = memref::GetGlobalOp::create(builder, loc, type, global.getSymName());
  return toWord(builder, loc, memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer));
}

Value RuntimeCalls::words(OpBuilder &builder, Location loc, ArrayRef<int64_t> content) {
  auto type = RankedTensorType::get({int64_t(content.size())}, word);
  return address(builder, loc, "__braid_site", DenseElementsAttr::get(type, content));
}

Value RuntimeCalls::text(OpBuilder &builder, Location loc, StringRef content) {
  if (content.empty())
    return constant(builder, loc, 0);
  SmallVector<int8_t> bytes(content.begin(), content.end());
  bytes.push_back(0);
  auto type = RankedTensorType::get({int64_t(bytes.size())}, builder.getI8Type());
  return address(builder, loc, "__braid_text", DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes)));
}

//===------------------------------------------------------------------------------------------------------------===//
// Memory
//===------------------------------------------------------------------------------------------------------------===//

static LLVM::LLVMFuncOp declare(ModuleOp module, StringRef name, Type result, ArrayRef<Type> arguments) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::LLVMFuncOp::create(top, module.getLoc(), name, LLVM::LLVMFunctionType::get(result, arguments));
}

LogicalResult RuntimeCalls::lower(memref::AllocOp alloc, ArrayRef<int64_t> site) {
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity())
    return alloc.emitOpError("layout, expected a buffer in one piece, got ") << type;
  OpBuilder builder(alloc);
  Location loc = alloc.getLoc();
  LLVMTypeConverter converter(builder.getContext());
  Type element = converter.convertType(type.getElementType()), structure = converter.convertType(type);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  if (!element || !structure)
    return alloc.emitOpError("expected a type that LLVM has, got ") << type;

  // Sizes and, from the last dimension on, strides; the stride before the first is the number of elements.
  int64_t rank = type.getRank();
  SmallVector<Value> sizes, strides(rank);
  auto dynamic = alloc.getDynamicSizes().begin();
  for (int64_t dim = 0; dim < rank; ++dim)
    sizes.push_back(type.isDynamicDim(dim) ? toWord(builder, loc, *dynamic++)
                                           : constant(builder, loc, type.getDimSize(dim)));
  Value count = constant(builder, loc, 1);
  for (int64_t dim = rank; dim-- > 0;) {
    strides[dim] = count;
    count = dim == rank - 1 ? sizes[dim] : arith::MulIOp::create(builder, loc, count, sizes[dim]).getResult();
  }
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  Value end = LLVM::GEPOp::create(builder, loc, pointer, element, null, ArrayRef<LLVM::GEPArg>{count});
  Value bytes = LLVM::PtrToIntOp::create(builder, loc, word, end);
  bool device = runtimeMemory(type) == deviceMemory;
  SmallVector<Value> arguments = {bytes};
  if (!device)
    arguments.push_back(site.empty() ? constant(builder, loc, 0) : words(builder, loc, site));
  LLVM::LLVMFuncOp function = declare(module, device ? "braid_module_alloc_device" : "braid_module_alloc", pointer,
                                      SmallVector<Type>(arguments.size(), word));
  function.setResultAttr(0, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  Value memory = LLVM::CallOp::create(builder, loc, function, arguments).getResult();
  if (auto wanted = cast<LLVM::LLVMPointerType>(cast<LLVM::LLVMStructType>(structure).getBody()[0]); wanted != pointer)
    memory = LLVM::AddrSpaceCastOp::create(builder, loc, wanted, memory);

  MemRefDescriptor descriptor = MemRefDescriptor::poison(builder, loc, structure);
  descriptor.setAllocatedPtr(builder, loc, memory);
  descriptor.setAlignedPtr(builder, loc, memory);
  descriptor.setOffset(builder, loc, constant(builder, loc, 0));
  for (int64_t dim = 0; dim < rank; ++dim) {
    descriptor.setSize(builder, loc, dim, sizes[dim]);
    descriptor.setStride(builder, loc, dim, strides[dim]);
  }
  auto cast = UnrealizedConversionCastOp::create(builder, loc, type, Value(descriptor));
  alloc->replaceAllUsesWith(cast);
  alloc->erase();
  return success();
}

LogicalResult RuntimeCalls::lower(memref::DeallocOp dealloc) {
  OpBuilder builder(dealloc);
  Location loc = dealloc.getLoc();
  LLVMTypeConverter converter(builder.getContext());
  auto type = dyn_cast<MemRefType>(dealloc.getMemref().getType());
  Type structure = type ? converter.convertType(type) : Type();
  if (!structure)
    return dealloc.emitOpError("expected a ranked buffer, got ") << dealloc.getMemref().getType();
  Value descriptor = UnrealizedConversionCastOp::create(builder, loc, structure, dealloc.getMemref()).getResult(0);
  Value memory = MemRefDescriptor(descriptor).allocatedPtr(builder, loc);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  if (memory.getType() != pointer)
    memory = LLVM::AddrSpaceCastOp::create(builder, loc, pointer, memory);
  LLVM::LLVMFuncOp function = declare(module, "braid_module_free", LLVM::LLVMVoidType::get(builder.getContext()),
                                      {LLVM::LLVMPointerType::get(builder.getContext())});
  LLVM::CallOp::create(builder, loc, function, memory);
  dealloc->erase();
  return success();
}

} // namespace mlir::braid
