//===- PipelineLoops.cpp - braid-pipeline-loops: a collective completes in the next trip ------------------------===//
#include "transforms/PipelineLoops.h"

#include "analysis/FusedKernels.h"
#include "analysis/LoopCuts.h"
#include "analysis/LoopTrips.h"
#include "analysis/RankSets.h"
#include "analysis/Remarks.h"
#include "analysis/TripGraph.h"
#include "braid/passes/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "transforms/LoopRotation.h"
#include "llvm/ADT/SetVector.h"
#include <functional>

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDPIPELINELOOPS
#include "braid/passes/Passes.h.inc"

namespace {

/// What starts a collective: its braid.start, or itself.
Operation *issuedBy(const LateCollective &one) {
  auto wait = dyn_cast<WaitOp>(one.op);
  return wait ? wait.getStart().getOperation() : one.op;
}

class LoopPipeliner {
public:
  LoopPipeliner(ModuleOp module, const PipelineForm &form, StringRef category)
      : module(module), form(form), category(category), sets(readModuleRanks(module)) {}

  PipelinedLoops run() {
    SmallVector<Operation *> loops; // inner ones first
    module->walk([&](Operation *op) {
      if (isLoop(op))
        loops.push_back(op);
    });
    for (Operation *op : loops)
      pipeline(op);
    return std::move(result);
  }

private:
  void missed(Operation *op, const Twine &why) {
    remarkMissed(op->getLoc(), category, "pipeline", "stays in its trip of the loop: " + why);
  }

  void pipeline(Operation *op) {
    ModuleFacts facts(module); // anew: what was erased before may share its address with what was made
    if (!facts.communicates(op))
      return;
    std::optional<CarryingLoop> loop = CarryingLoop::of(op);
    if (!loop)
      return remarkMissed(
          op->getLoc(), category, "pipeline",
          "not pipelined: it is no scf.for, and no while whose trips are counted by a number that is known");
    if ((loop->trips && *loop->trips < 2) || (form.knownTrips && !loop->trips))
      return remarkMissed(op->getLoc(), category, "pipeline", "not pipelined: it is not known to make two trips");
    if (form.shift != LoopShift::Late)
      return cut(*loop, facts);
    SmallVector<LateCollective> chosen = choose(*loop, facts);
    if (chosen.empty())
      return;
    ++result.loops;
    result.collectives += int(chosen.size());
    for (const LateCollective &one : chosen)
      result.chained += one.chained != nullptr;
    for (const LateCollective &one : chosen)
      result.remarks.emplace_back(one.op->getLoc(), describe(one));
    bool token = form.carry == LoopCarry::Token;
    if (token)
      for (LateCollective &one : chosen)
        startApart(one);
    llvm::DenseSet<Operation *> late;
    for (const LateCollective &one : chosen) {
      late.insert(one.op);
      late.insert(one.followers.begin(), one.followers.end());
      if (!token)
        late.insert(issuedBy(one));
    }
    ModuleFacts now(module);
    for (Operation &inner : bodyOf(*loop->body))
      now.classify(&inner);
    rotateLoop(*loop, token ? waitsWhereNeeded(*loop, chosen, late, now) : lateFirst(*loop, late), late, now);
  }

  /// Another place where trips begin (analysis/LoopCuts.h).
  void cut(const CarryingLoop &loop, ModuleFacts &facts) {
    TripGraph trip(loop, facts);
    result.tooLarge += tooLargeToCut(trip);
    SmallVector<CutCollective> chosen = cutCollectives(trip, form.shift, [&](Operation *op, const Twine &why) {
      remarkMissed(op->getLoc(), category, "pipeline",
                   (form.shift == LoopShift::Ahead ? "does not run a trip ahead: " : "does not run between trips: ") +
                       why);
    });
    if (form.shift == LoopShift::Around) {
      auto bytes = [](const CutCollective &one) {
        return CollectiveOpInterface(one.collective).getOperandBytes().value_or(0);
      };
      llvm::stable_sort(chosen, [&](const CutCollective &a, const CutCollective &b) { return bytes(a) > bytes(b); });
      chosen.erase(chosen.begin(), chosen.begin() + std::min(form.pick, int(chosen.size())));
      if (chosen.size() > 1)
        chosen.truncate(1);
    } else if (form.pick && int(chosen.size()) > form.pick) {
      chosen.truncate(size_t(form.pick));
    }
    if (chosen.empty())
      return;
    ++result.loops;
    result.collectives += int(chosen.size());
    TripGraph::Marks behind(unsigned(trip.size()), true);
    for (const CutCollective &one : chosen) {
      behind.reset(one.early);
      result.remarks.emplace_back(one.collective->getLoc(), describe(one));
    }
    llvm::DenseSet<Operation *> late;
    for (unsigned op : behind.set_bits())
      late.insert(trip.ops[op]);
    rotateLoop(loop, orderOfCut(trip, form.shift, behind), late, facts);
  }

  std::string describe(const CutCollective &one) const {
    std::string text = stringifyCollectiveKind(CollectiveOpInterface(one.collective).getCollectiveKind()).str();
    std::string kernels = std::to_string(one.beside) + (one.beside == 1 ? " kernel" : " kernels");
    if (form.shift == LoopShift::Ahead)
      return text + " runs a trip ahead, beside " + kernels + " of the trip before that it does not need";
    return text + " runs between trips, beside what follows in its own and " + kernels + " of the next";
  }

  std::string describe(const LateCollective &one) const {
    CollectiveOpInterface collective = one.collective;
    std::string text = stringifyCollectiveKind(collective.getCollectiveKind()).str();
    text +=
        form.carry == LoopCarry::Token ? " is awaited in the next trip, behind " : " runs in the next trip, beside ";
    int kernels = form.carry == LoopCarry::Token ? one.before : one.beside;
    text += std::to_string(kernels) + (kernels == 1 ? " kernel that does not need it" : " kernels that do not need it");
    if (!one.followers.empty())
      text += ", with " + std::to_string(one.followers.size()) +
              (one.followers.size() == 1 ? " operation that reads it" : " operations that read it");
    return text;
  }

  SmallVector<LateCollective> choose(const CarryingLoop &loop, ModuleFacts &facts) {
    SmallVector<LateCollective> able =
        lateCollectives(loop, facts, [&](Operation *op, const Twine &why) { missed(op, why); });
    bool chains = form.chains && form.carry == LoopCarry::Operand;
    llvm::DenseSet<Operation *> follow; // another one
    for (const LateCollective &one : able)
      if (chains)
        follow.insert(one.followers.begin(), one.followers.end());
    llvm::erase_if(able, [&](const LateCollective &one) {
      if (one.chained && !chains)
        missed(one.op, "another operation of its trip waits for it: " + one.chained->getName().getStringRef());
      return (one.chained && !chains) || follow.contains(one.op);
    });
    SmallVector<LateCollective> chosen;
    if (form.carry == LoopCarry::Operand) {
      int stay = std::min(form.stay, int(able.size()));
      chosen.append(able.begin() + stay, able.end());
      return chosen;
    }
    // In the order in which they start: of two that must not be in flight together the first one is carried.
    llvm::sort(able, [](const LateCollective &a, const LateCollective &b) {
      return issuedBy(a)->isBeforeInBlock(issuedBy(b));
    });
    for (LateCollective &one : able) {
      if (one.before == 0) {
        missed(one.op, "the next trip needs it at once");
        continue;
      }
      Operation *other = conflictBehind(loop, one);
      for (const LateCollective &carried : chosen)
        if (!other && conflict(carried.collective, one.collective))
          other = issuedBy(carried);
      if (other)
        missed(one.op, "it shares two ranks or more with " + other->getName().getStringRef() + " at " +
                           locationText(other->getLoc()) + ", so that the two must not be in flight together");
      else
        chosen.push_back(std::move(one));
    }
    return chosen;
  }

  /// Different groups with two ranks in common. What is not known (another kind, bad groups) counts as such.
  bool conflict(CollectiveOpInterface a, CollectiveOpInterface b) {
    if (!isPlannable(a.getCollectiveKind()) || !isPlannable(b.getCollectiveKind()))
      return true;
    FailureOr<RankSet> one = sets.of(a), other = sets.of(b);
    if (failed(one) || failed(other))
      return true;
    return one->communicator(a.getCollectiveKind()) != other->communicator(b.getCollectiveKind()) &&
           shareTwoRanks(*one->groups, *other->groups);
  }

  static CollectiveOpInterface startedBy(Operation *op) {
    if (auto start = dyn_cast<StartOp>(op))
      return start.getCollective();
    return dyn_cast<CollectiveOpInterface>(op);
  }

  /// What starts, or is still awaited, behind a collective in its trip and must not be in flight with it.
  Operation *conflictBehind(const CarryingLoop &loop, const LateCollective &one) {
    for (Operation *op = issuedBy(one)->getNextNode(); op; op = op->getNextNode()) {
      auto wait = dyn_cast<WaitOp>(op);
      CollectiveOpInterface other = wait && wait.getStart() ? wait.getStart().getCollective() : startedBy(op);
      if (other && other != one.collective && conflict(other, one.collective))
        return op;
    }
    return nullptr;
  }

  void startApart(LateCollective &one) {
    if (isa<WaitOp>(one.op))
      return;
    OpBuilder builder(one.op);
    SmallVector<Value> results(one.op->getResults());
    StartOp start = StartOp::wrap(builder, one.collective);
    builder.setInsertionPointAfter(start);
    auto wait =
        WaitOp::create(builder, start.getLoc(), one.op->getResultTypes(), start.getToken(), start.getOperands());
    Operation *yield = start.getYield();
    for (auto [inner, outer] : llvm::zip(results, wait->getResults()))
      inner.replaceAllUsesExcept(outer, yield);
    one.op = wait;
  }

  /// Operations on values of the trip before come first; whoever plans the body moves them on.
  SmallVector<Operation *> lateFirst(const CarryingLoop &loop, const llvm::DenseSet<Operation *> &late) {
    SmallVector<Operation *> order;
    for (bool first : {true, false})
      for (Operation &op : bodyOf(*loop.body))
        if (late.contains(&op) == first)
          order.push_back(&op);
    return order;
  }

  /// Each wait before the first operation that needs it, that nothing may be in flight across, or that starts what must not be in
  /// flight with it.
  SmallVector<Operation *> waitsWhereNeeded(const CarryingLoop &loop, ArrayRef<LateCollective> chosen,
                                            const llvm::DenseSet<Operation *> &late, ModuleFacts &facts) {
    llvm::SetVector<Operation *> order;
    std::function<void(Operation *)> emit = [&](Operation *op) {
      if (order.contains(op))
        return;
      forEachValueRead(op, [&](Value value) {
        Operation *source = value.getDefiningOp();
        if (source && source->getBlock() == loop.body && late.contains(source))
          emit(source);
      });
      order.insert(op);
    };
    auto emitAll = [&] {
      for (Operation &op : bodyOf(*loop.body))
        if (late.contains(&op))
          emit(&op);
    };
    llvm::DenseMap<Value, Operation *> makers;
    for (auto [index, argument] : llvm::enumerate(loop.carried))
      if (Operation *source = loop.producer(index); source && late.contains(source))
        makers[argument] = source;
    for (Operation &op : bodyOf(*loop.body)) {
      if (late.contains(&op))
        continue;
      forEachValueRead(&op, [&](Value value) {
        if (Operation *maker = makers.lookup(value))
          emit(maker);
      });
      CollectiveOpInterface started = startedBy(&op);
      OpClass kind = facts.classify(&op);
      if (!started && !isa<WaitOp>(op) && (kind == OpClass::Barrier || kind == OpClass::Nested))
        emitAll();
      for (const LateCollective &one : chosen)
        if (started && (started == one.collective || conflict(started, one.collective)))
          emit(one.op);
      order.insert(&op);
    }
    emitAll();
    return order.takeVector();
  }

  ModuleOp module;
  const PipelineForm &form;
  StringRef category;
  RankSets sets;
  PipelinedLoops result;
};

struct PipelineLoops : impl::BraidPipelineLoopsBase<PipelineLoops> {
  using Base::Base;

  void runOnOperation() override {
    PipelineForm form;
    form.carry = carry;
    form.shift = shift;
    inlineLoopBodies(getOperation(), getArgumentName());
    PipelinedLoops done = pipelineLoops(getOperation(), form, getArgumentName());
    for (const auto &[location, text] : done.remarks)
      remarkPassed(location, getArgumentName(), "pipeline", text);
    if (!done.loops)
      markAllAnalysesPreserved();
  }
};

} // namespace

namespace {

constexpr size_t mostInlined = 20'000; ///< setting: operations that one call may become

/// How large calls become with the calls in them that communicate, and so on.
class InlinedSizes {
public:
  explicit InlinedSizes(const ModuleFacts &facts) : facts(facts) {}

  /// More than `mostInlined` where it is too large, or calls itself.
  size_t of(FunctionOpInterface function) {
    auto [it, inserted] = sizes.try_emplace(function, mostInlined + 1); // of a function that is asked for itself
    if (!inserted)
      return it->second;
    size_t size = 0;
    function->walk([&](Operation *op) {
      FunctionOpInterface callee = isa<CallOpInterface>(op) ? facts.calleeOf(op) : FunctionOpInterface();
      size += callee && facts.communicates(op) ? of(callee) : 1;
      return size > mostInlined ? WalkResult::interrupt() : WalkResult::advance();
    });
    return sizes[function] = size;
  }

private:
  const ModuleFacts &facts;
  llvm::DenseMap<Operation *, size_t> sizes;
};

void inlineCall(Operation *call, FunctionOpInterface callee) {
  Block &body = callee.getFunctionBody().front();
  OpBuilder builder(call);
  IRMapping map;
  map.map(body.getArguments(), call->getOperands());
  for (Operation &op : bodyOf(body))
    builder.clone(op, map);
  for (auto [result, value] : llvm::zip(call->getResults(), body.back().getOperands()))
    result.replaceAllUsesWith(map.lookupOrDefault(value));
  call->erase();
}

} // namespace

int inlineLoopBodies(ModuleOp module, StringRef category) {
  int inlined = 0;
  for (bool more = true; more;) {
    ModuleFacts facts(module);
    InlinedSizes sizes(facts);
    SmallVector<std::pair<Operation *, FunctionOpInterface>> calls;
    llvm::SetVector<Operation *> callees;
    module->walk([&](Operation *op) {
      FunctionOpInterface callee = isa<CallOpInterface>(op) ? facts.calleeOf(op) : FunctionOpInterface();
      std::optional<CarryingLoop> loop = callee ? CarryingLoop::of(op->getParentOp()) : std::nullopt;
      if (!loop || !facts.communicates(op) || op->getBlock() != loop->body || callee.isExternal() ||
          !llvm::hasSingleElement(callee.getFunctionBody()))
        return;
      if (sizes.of(callee) > mostInlined)
        return remarkMissed(op->getLoc(), category, "pipeline",
                            "not put into the body of its loop: it calls itself, or becomes more than " +
                                Twine(mostInlined) + " operations");
      calls.push_back({op, callee});
      callees.insert(callee);
    });
    for (auto [call, callee] : calls)
      inlineCall(call, callee);
    for (Operation *callee : callees)
      if (auto function = cast<FunctionOpInterface>(callee);
          function.isPrivate() && SymbolTable::symbolKnownUseEmpty(function, module))
        function->erase();
    inlined += int(calls.size());
    more = !calls.empty();
  }
  return inlined;
}

PipelinedLoops pipelineLoops(ModuleOp module, const PipelineForm &form, StringRef category) {
  return LoopPipeliner(module, form, category).run();
}

} // namespace mlir::braid
