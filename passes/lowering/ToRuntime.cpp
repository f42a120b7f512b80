//===- ToRuntime.cpp - launch and finish as calls of the runtime ------------------------------------------------===//
//
// A launch:   call = braid_module_begin(site, algorithm, name)
//             braid_module_tensor(call, send, receive, send count, receive count, send outer, receive outer)   each
//             braid_module_launch(call)
// A finish:   braid_module_finish(call)
// A compute:  braid_module_compute(seconds, the bits of a double; name)
// An assert:  braid_module_require(condition, what does not hold where); upstream's lowering aborts without a word on where
// A token is the call, an i64, wherever it is passed on.
//
// "Outer" is the product of the dimensions before the one that is cut or concatenated: the runtime copies blocks to one
// piece where it is more than 1.
//
// Entered for the first time, a program tells the runtime all its sites, so that the ranks can compare them:
//             if (braid_module_open(key)) { braid_module_site(site, algorithm, name) each; braid_module_agree() }
//
// Memory: all buffers are the runtime's; those that a launch may touch are memory that its peers can reach.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "analysis/ModuleFacts.h"
#include "analysis/ModuleRanks.h"
#include "braid/passes/Passes.h"
#include "lowering/InOnePiece.h"
#include "lowering/RuntimeCalls.h"
#include "lowering/Site.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::braid {

#define GEN_PASS_DEF_BRAIDTORUNTIME
#include "braid/passes/Passes.h.inc"

namespace {

/// What the runtime is told of one launch.
struct LoweredSite {
  SmallVector<int64_t> words;
  std::string algorithm, name;
  Location loc;
};

class Lowering {
public:
  explicit Lowering(ModuleOp module) : calls(module), ranks(readModuleRanks(module)) {}

  LogicalResult lower(LaunchOp launch);
  void lower(FinishOp finish);
  void lower(RankOp op);
  void lower(ComputeOp op);
  void lower(cf::AssertOp op);
  /// Before the launches: which of them touch which buffers; the type of tokens.
  void findBuffers();
  void lowerTokens();
  /// After the launches: buffers, and what is called when a program is entered.
  LogicalResult lowerBuffers();
  void announceSites();

private:
  LogicalResult checkCut(LaunchOp launch, size_t tensor);
  FailureOr<Value> address(OpBuilder &builder, LaunchOp launch, Value buffer);
  /// The product of the dimensions [from, to).
  Value product(OpBuilder &builder, Location loc, Value buffer, int64_t from, int64_t to);
  SmallVector<Value> operandsOf(OpBuilder &builder, Location loc, const LoweredSite &site) {
    return {calls.words(builder, loc, site.words), calls.text(builder, loc, site.algorithm),
            calls.text(builder, loc, site.name)};
  }

  RuntimeCalls calls;
  ProgramRanks ranks;
  std::vector<LoweredSite> sites;
  llvm::MapVector<Operation *, LaunchOp> toucher; ///< allocation -> the first launch that may touch it
  llvm::DenseMap<LaunchOp, size_t> siteOf;
};

void Lowering::findBuffers() {
  for (Operation &op : *calls.module.getBody()) {
    SmallVector<LaunchOp> launches;
    op.walk([&](LaunchOp launch) { launches.push_back(launch); });
    op.walk([&](memref::AllocOp alloc) { toucher[alloc] = LaunchOp(); });
    if (launches.empty())
      continue;
    BufferViewFlowAnalysis views(&op);
    for (LaunchOp launch : launches)
      for (Value buffer : llvm::concat<Value>(launch.getInputs(), launch.getInits())) {
        if (!isa<BaseMemRefType>(buffer.getType()))
          continue;
        for (Value source : views.resolveReverse(buffer))
          if (auto alloc = source.getDefiningOp<memref::AllocOp>())
            if (LaunchOp &first = toucher[alloc]; !first)
              first = launch;
      }
  }
}

FailureOr<Value> Lowering::address(OpBuilder &builder, LaunchOp launch, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  Location loc = launch.getLoc();
  Value base = calls.toWord(builder, loc, memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer));
  if (type.getLayout().isIdentity())
    return base;
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  std::optional<int64_t> bytes = elementBytes(type.getElementType());
  if (!bytes)
    return launch.emitOpError("element type, expected one of known size, got ") << type.getElementType();
  Value offset = calls.toWord(builder, loc, metadata.getOffset());
  Value scaled = arith::MulIOp::create(builder, loc, offset, calls.constant(builder, loc, *bytes));
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
    Value size = calls.toWord(builder, loc, memref::DimOp::create(builder, loc, buffer, dim));
    dynamic = dynamic ? arith::MulIOp::create(builder, loc, dynamic, size).getResult() : size;
  }
  Value result = calls.constant(builder, loc, fixed);
  return dynamic ? arith::MulIOp::create(builder, loc, dynamic, result).getResult() : result;
}

/// The runtime brings blocks into one piece on the host; it can't on a device.
LogicalResult Lowering::checkCut(LaunchOp launch, size_t tensor) {
  FailureOr<int64_t> memory = runtimeMemory(launch);
  if (failed(memory) || *memory == hostMemory)
    return memory;
  for (std::optional<ArrayRef<int64_t>> dims : {launch.getDims(), launch.getConcatDims()}) {
    if (!dims || tensor >= dims->size())
      continue;
    for (ValueRange buffers : {ValueRange(launch.getSent()), ValueRange(launch.getInits())})
      for (int64_t dim = 0; tensor < buffers.size() && dim < (*dims)[tensor]; ++dim)
        if (cast<MemRefType>(buffers[tensor].getType()).getDimSize(dim) != 1)
          return launch.emitOpError("dimension, expected the first for buffers of a device, got ") << (*dims)[tensor];
  }
  return success();
}

/// An algorithm as the runtime reads it: the path is the last of what it takes. Of another engine: "ring/LL128".
static std::string spelled(PlanAttr plan) {
  if (plan && plan.getAlgorithm() == "none") // nothing is sent: no engine has an algorithm of that name
    return "";
  if (plan && plan.getEngine() != EngineKind::Braid)
    return (plan.getAlgorithm() + (plan.getProtocol().empty() ? "" : "/") + plan.getProtocol()).str();
  if (!plan || plan.getPath().empty())
    return plan ? plan.getAlgorithm().str() : "";
  StringRef algorithm = plan.getAlgorithm();
  bool takes = algorithm.consume_back(")");
  return (algorithm + (takes ? " " : "(") + "path=" + plan.getPath() + ")").str();
}

LogicalResult Lowering::lower(LaunchOp launch) {
  OpBuilder builder(launch);
  Location loc = launch.getLoc();
  CollectiveKind kind = launch.getCollective();
  FailureOr<SmallVector<int64_t>> words = siteWords(launch, ranks, sites.size());
  if (failed(words))
    return failure();
  siteOf[launch] = sites.size();
  sites.push_back(
      {*words, spelled(launch.getPlanAttr()), (stringifyCollectiveKind(kind) + " at " + locationText(loc)).str(), loc});
  Value handle = calls.call(builder, loc, "begin", operandsOf(builder, loc, sites.back()), true).getResult(0);

  OperandRange sent = launch.getSent(), received = launch.getInits();
  Value one = calls.constant(builder, loc, 1), zero = calls.constant(builder, loc, 0);
  bool bytes = movesBytes(launch);
  auto elements = [&](Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    Value count = product(builder, loc, buffer, 0, type.getRank());
    if (!bytes)
      return count;
    Value size = calls.constant(builder, loc, elementBytes(type.getElementType()).value_or(0));
    return arith::MulIOp::create(builder, loc, count, size).getResult();
  };
  for (size_t index = 0; index < std::max(sent.size(), received.size()); ++index) {
    if (failed(checkCut(launch, index)))
      return failure();
    Value send = zero, receive = zero, sendCount = zero, receiveCount = zero, sendOuter = one, receiveOuter = one;
    if (index < sent.size()) {
      FailureOr<Value> pointer = address(builder, launch, sent[index]);
      if (failed(pointer))
        return failure();
      send = *pointer;
      sendCount = elements(sent[index]);
      if (kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::Scatter || kind == CollectiveKind::AllToAll)
        sendOuter = product(builder, loc, sent[index], 0, (*launch.getDims())[index]);
    }
    if (index < received.size()) {
      FailureOr<Value> pointer = address(builder, launch, received[index]);
      if (failed(pointer))
        return failure();
      receive = *pointer;
      receiveCount = elements(received[index]);
      if (kind == CollectiveKind::AllGather || kind == CollectiveKind::Gather)
        receiveOuter = product(builder, loc, received[index], 0, (*launch.getDims())[index]);
      if (kind == CollectiveKind::AllToAll)
        receiveOuter = product(builder, loc, received[index], 0, (*launch.getConcatDims())[index]);
    }
    calls.call(builder, loc, "tensor", {handle, send, receive, sendCount, receiveCount, sendOuter, receiveOuter});
  }
  calls.call(builder, loc, "launch", handle);
  launch.getToken().replaceAllUsesWith(handle);
  return success(); // erased when its buffers have been lowered
}

void Lowering::lower(FinishOp finish) {
  OpBuilder builder(finish);
  calls.call(builder, finish.getLoc(), "finish", finish.getToken());
  finish->erase();
}

void Lowering::lower(RankOp op) {
  OpBuilder builder(op);
  Value rank = calls.call(builder, op.getLoc(), "rank", {}, true).getResult(0);
  op.replaceAllUsesWith(arith::IndexCastOp::create(builder, op.getLoc(), builder.getIndexType(), rank).getResult());
  op->erase();
}

LogicalResult Lowering::lowerBuffers() {
  for (auto [alloc, launch] : toucher)
    if (failed(calls.lower(cast<memref::AllocOp>(alloc),
                           launch ? ArrayRef<int64_t>(sites[siteOf.lookup(launch)].words) : ArrayRef<int64_t>())))
      return failure();
  SmallVector<memref::DeallocOp> deallocs;
  calls.module.walk([&](memref::DeallocOp dealloc) { deallocs.push_back(dealloc); });
  for (memref::DeallocOp dealloc : deallocs)
    if (failed(calls.lower(dealloc)))
      return failure();
  for (auto [launch, site] : siteOf)
    launch->erase();
  return success();
}

void Lowering::announceSites() {
  if (sites.empty())
    return;
  Location loc = calls.module.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(calls.module.getBody());
  auto describe = func::FuncOp::create(builder, loc, "__braid_sites", builder.getFunctionType({}, {}));
  describe.setPrivate();
  builder.setInsertionPointToStart(describe.addEntryBlock());
  for (const LoweredSite &site : sites)
    calls.call(builder, site.loc, "site", operandsOf(builder, site.loc, site));
  calls.call(builder, loc, "agree", {});
  func::ReturnOp::create(builder, loc);
  for (auto function : calls.module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isDeclaration())
      continue;
    builder.setInsertionPointToStart(&function.front());
    Value key = calls.words(builder, loc, sites.front().words);
    Value isNew = calls.call(builder, loc, "open", key, true).getResult(0);
    Value zero = calls.constant(builder, loc, 0);
    Value condition = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, isNew, zero);
    scf::IfOp::create(builder, loc, condition, [&](OpBuilder &inside, Location) {
      func::CallOp::create(inside, loc, describe, ValueRange());
      scf::YieldOp::create(inside, loc);
    });
  }
}

void Lowering::lowerTokens() {
  auto lower = [&](Value value) {
    if (isa<TokenType>(value.getType()))
      value.setType(calls.word);
  };
  calls.module.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), lower);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), lower);
  });
}

void Lowering::lower(ComputeOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value seconds = calls.constant(builder, loc, llvm::bit_cast<int64_t>(op.getSeconds()));
  calls.call(builder, loc, "compute", {seconds, calls.text(builder, loc, op.getName())});
  op->erase();
}

void Lowering::lower(cf::AssertOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value holds = arith::ExtUIOp::create(builder, loc, calls.word, op.getArg());
  std::string what = ("cf.assert at " + locationText(loc) + " does not hold: " + op.getMsg()).str();
  calls.call(builder, loc, "require", {holds, calls.text(builder, loc, what)});
  op->erase();
}

struct ToRuntime : public impl::BraidToRuntimeBase<ToRuntime> {
  void runOnOperation() override {
    SmallVector<Operation *> work;
    getOperation()->walk([&](Operation *op) {
      if (isa<LaunchOp, FinishOp, RankOp, ComputeOp, cf::AssertOp, CollectiveOpInterface, StartOp>(op))
        work.push_back(op);
    });
    for (Operation *op : work)
      if (auto launch = dyn_cast<LaunchOp>(op); launch && failed(putInOnePiece(launch)))
        return signalPassFailure();
    Lowering lowering(getOperation());
    lowering.findBuffers();
    lowering.lowerTokens();
    for (Operation *op : work) {
      if (auto launch = dyn_cast<LaunchOp>(op)) {
        if (!launch.getResults().empty()) {
          launch.emitOpError("operands, expected buffers, got tensors: bufferize first");
          return signalPassFailure();
        }
        if (failed(lowering.lower(launch)))
          return signalPassFailure();
      } else if (auto finish = dyn_cast<FinishOp>(op)) {
        lowering.lower(finish);
      } else if (auto rank = dyn_cast<RankOp>(op)) {
        lowering.lower(rank);
      } else if (auto assertion = dyn_cast<cf::AssertOp>(op)) {
        lowering.lower(assertion);
      } else if (auto compute = dyn_cast<ComputeOp>(op)) {
        if (!compute.getResults().empty()) {
          compute.emitOpError("operands, expected buffers, got tensors: bufferize first");
          return signalPassFailure();
        }
        lowering.lower(compute);
      } else {
        op->emitOpError("expected launch and finish on buffers: run braid-to-destination and bufferize first");
        return signalPassFailure();
      }
    }
    if (failed(lowering.lowerBuffers()))
      return signalPassFailure();
    lowering.announceSites();
  }
};

} // namespace
} // namespace mlir::braid
