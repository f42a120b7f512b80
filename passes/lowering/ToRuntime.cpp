//===- ToRuntime.cpp - launch and finish as calls of the runtime ------------------------------------------------===//
//
// A launch:   call = braid_module_begin(site, algorithm, name)
//             braid_module_tensor(call, send, receive, send count, receive count, send outer, receive outer)   each
//             braid_module_launch(call)
// A finish:   braid_module_finish(call)
//
// Everything is an i64, so that upstream's lowerings of func, memref and arith do the rest. "Outer" is the product of the
// dimensions before the one that is cut or concatenated: the runtime copies blocks to one piece where it is more than 1.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "analysis/ModuleFacts.h"
#include "analysis/ModuleRanks.h"
#include "braid/passes/Passes.h"
#include "lowering/Site.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace mlir::braid {

#define GEN_PASS_DEF_BRAIDTORUNTIME
#include "braid/passes/Passes.h.inc"

namespace {

class Lowering {
public:
  explicit Lowering(ModuleOp module)
      : module(module), ranks(readModuleRanks(module)), word(IntegerType::get(module.getContext(), 64)) {}

  LogicalResult lower(LaunchOp launch);
  void lower(RankOp op);

private:
  Value constant(OpBuilder &builder, Location loc, int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  }
  Value toWord(OpBuilder &builder, Location loc, Value index) {
    return arith::IndexCastOp::create(builder, loc, word, index);
  }
  func::CallOp call(OpBuilder &builder, Location loc, StringRef name, ValueRange operands, bool returns);
  Value globalAddress(OpBuilder &builder, Location loc, StringRef prefix, DenseElementsAttr data);
  Value text(OpBuilder &builder, Location loc, StringRef content);
  FailureOr<Value> address(OpBuilder &builder, LaunchOp launch, Value buffer);
  /// The product of the dimensions [from, to).
  Value product(OpBuilder &builder, Location loc, Value buffer, int64_t from, int64_t to);

  ModuleOp module;
  ProgramRanks ranks;
  Type word;
  int64_t sites = 0;
  llvm::DenseMap<Attribute, memref::GlobalOp> globals;
};

func::CallOp Lowering::call(OpBuilder &builder, Location loc, StringRef name, ValueRange operands, bool returns) {
  SmallVector<Type> results;
  if (returns)
    results.push_back(word);
  auto type = builder.getFunctionType(operands.getTypes(), results);
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    function = func::FuncOp::create(top, module.getLoc(), name, type);
    function.setPrivate();
  }
  return func::CallOp::create(builder, loc, function, operands);
}

Value Lowering::globalAddress(OpBuilder &builder, Location loc, StringRef prefix, DenseElementsAttr data) {
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

/// A zero-terminated string; the empty one is a null pointer.
Value Lowering::text(OpBuilder &builder, Location loc, StringRef content) {
  if (content.empty())
    return constant(builder, loc, 0);
  SmallVector<int8_t> bytes(content.begin(), content.end());
  bytes.push_back(0);
  auto type = RankedTensorType::get({int64_t(bytes.size())}, builder.getI8Type());
  return globalAddress(builder, loc, "__braid_text", DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes)));
}

FailureOr<Value> Lowering::address(OpBuilder &builder, LaunchOp launch, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.getLayout().isIdentity() && !memref::isStaticShapeAndContiguousRowMajor(type))
    return launch.emitOpError("buffer, expected one that is known to be contiguous, got ") << type;
  Location loc = launch.getLoc();
  Value base = toWord(builder, loc, memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer));
  if (type.getLayout().isIdentity())
    return base;
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  std::optional<int64_t> bytes = elementBytes(type.getElementType());
  if (!bytes)
    return launch.emitOpError("element type, expected one of known size, got ") << type.getElementType();
  Value offset = toWord(builder, loc, metadata.getOffset());
  Value scaled = arith::MulIOp::create(builder, loc, offset, constant(builder, loc, *bytes));
  return arith::AddIOp::create(builder, loc, base, scaled).getResult();
}

Value Lowering::product(OpBuilder &builder, Location loc, Value buffer, int64_t from, int64_t to) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t fixed = 1;
  Value dynamic;
  for (int64_t dim = from; dim < to; ++dim) {
    if (!type.isDynamicDim(dim)) {
      fixed *= type.getDimSize(dim);
      continue;
    }
    Value size = toWord(builder, loc, memref::DimOp::create(builder, loc, buffer, dim));
    dynamic = dynamic ? arith::MulIOp::create(builder, loc, dynamic, size).getResult() : size;
  }
  Value result = constant(builder, loc, fixed);
  return dynamic ? arith::MulIOp::create(builder, loc, dynamic, result).getResult() : result;
}

LogicalResult Lowering::lower(LaunchOp launch) {
  FailureOr<SmallVector<int64_t>> words = siteWords(launch, ranks, sites++);
  if (failed(words))
    return failure();
  OpBuilder builder(launch);
  Location loc = launch.getLoc();
  CollectiveKind kind = launch.getCollective();
  auto wordType = RankedTensorType::get({int64_t(words->size())}, word);
  Value site = globalAddress(builder, loc, "__braid_site", DenseElementsAttr::get(wordType, ArrayRef<int64_t>(*words)));
  Value algorithm = text(builder, loc, launch.getPlanAttr() ? launch.getPlanAttr().getAlgorithm() : StringRef());
  Value name = text(builder, loc, (stringifyCollectiveKind(kind) + " at " + locationText(loc)).str());
  Value handle = call(builder, loc, "braid_module_begin", {site, algorithm, name}, true).getResult(0);

  OperandRange sent = launch.getSent(), received = launch.getInits();
  Value one = constant(builder, loc, 1), zero = constant(builder, loc, 0);
  for (size_t index = 0; index < std::max(sent.size(), received.size()); ++index) {
    Value send = zero, receive = zero, sendCount = zero, receiveCount = zero, sendOuter = one, receiveOuter = one;
    if (index < sent.size()) {
      FailureOr<Value> pointer = address(builder, launch, sent[index]);
      if (failed(pointer))
        return failure();
      send = *pointer;
      sendCount = product(builder, loc, sent[index], 0, cast<MemRefType>(sent[index].getType()).getRank());
      if (kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::Scatter || kind == CollectiveKind::AllToAll)
        sendOuter = product(builder, loc, sent[index], 0, (*launch.getDims())[index]);
    }
    if (index < received.size()) {
      FailureOr<Value> pointer = address(builder, launch, received[index]);
      if (failed(pointer))
        return failure();
      receive = *pointer;
      receiveCount = product(builder, loc, received[index], 0, cast<MemRefType>(received[index].getType()).getRank());
      if (kind == CollectiveKind::AllGather || kind == CollectiveKind::Gather)
        receiveOuter = product(builder, loc, received[index], 0, (*launch.getDims())[index]);
      if (kind == CollectiveKind::AllToAll)
        receiveOuter = product(builder, loc, received[index], 0, (*launch.getConcatDims())[index]);
    }
    call(builder, loc, "braid_module_tensor", {handle, send, receive, sendCount, receiveCount, sendOuter, receiveOuter},
         false);
  }
  call(builder, loc, "braid_module_launch", handle, false);
  for (Operation *user : llvm::make_early_inc_range(launch.getToken().getUsers())) {
    builder.setInsertionPoint(user);
    call(builder, user->getLoc(), "braid_module_finish", handle, false);
    user->erase();
  }
  launch->erase();
  return success();
}

void Lowering::lower(RankOp op) {
  OpBuilder builder(op);
  Value rank = call(builder, op.getLoc(), "braid_module_rank", {}, true).getResult(0);
  op.replaceAllUsesWith(arith::IndexCastOp::create(builder, op.getLoc(), builder.getIndexType(), rank).getResult());
  op->erase();
}

struct ToRuntime : public impl::BraidToRuntimeBase<ToRuntime> {
  void runOnOperation() override {
    SmallVector<Operation *> work;
    getOperation()->walk([&](Operation *op) {
      if (isa<LaunchOp, RankOp, CollectiveOpInterface, StartOp>(op))
        work.push_back(op);
    });
    Lowering lowering(getOperation());
    for (Operation *op : work) {
      if (auto launch = dyn_cast<LaunchOp>(op)) {
        if (!launch.getResults().empty()) {
          launch.emitOpError("operands, expected buffers, got tensors: bufferize first");
          return signalPassFailure();
        }
        if (failed(lowering.lower(launch)))
          return signalPassFailure();
      } else if (auto rank = dyn_cast<RankOp>(op)) {
        lowering.lower(rank);
      } else {
        op->emitOpError("expected launch and finish on buffers: run braid-to-destination and bufferize first");
        return signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace mlir::braid
