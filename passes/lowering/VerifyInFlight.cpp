//===- VerifyInFlight.cpp - nobody touches a buffer in flight ---------------------------------------------------===//
//
// Walks every path from a launch to its finishes and looks at the memory effects of what lies between.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/dialect/BraidOps.h"
#include "braid/passes/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::braid {

#define GEN_PASS_DEF_BRAIDVERIFYINFLIGHT
#include "braid/passes/Passes.h.inc"

namespace {

using Values = llvm::SmallPtrSet<Value, 16>;

class Flight {
public:
  Flight(LaunchOp launch, BufferViewFlowAnalysis &views) : launch(launch), views(views) {
    for (Value sent : launch.getSent())
      addSources(sent, read);
    for (Value init : launch.getInits())
      addSources(init, written);
  }

  LogicalResult verify() {
    for (Operation *user : launch.getToken().getUsers())
      if (auto finish = dyn_cast<FinishOp>(user))
        if (failed(sameBuffers(finish)))
          return failure();
    scan(launch->getBlock(), std::next(Block::iterator(launch)));
    return success(!broken);
  }

private:
  void addSources(Value buffer, Values &sources) {
    for (Value source : views.resolveReverse(buffer))
      sources.insert(source);
  }

  bool touches(Value buffer, const Values &flying) {
    if (!isa<BaseMemRefType>(buffer.getType()))
      return false;
    return llvm::any_of(views.resolveReverse(buffer), [&](Value source) { return flying.contains(source); });
  }

  LogicalResult sameBuffers(FinishOp finish) { // F4
    for (auto [index, before, after] : llvm::enumerate(launch.getInits(), finish.getInits())) {
      Values sources;
      addSources(before, sources);
      if (!touches(after, sources)) {
        auto diagnostic = finish.emitOpError("destination ") << index << ", expected the buffer of the launch";
        diagnostic.attachNote(launch.getLoc()) << "the launch is here";
        return diagnostic;
      }
    }
    return success();
  }

  void complain(Operation *op, StringRef what) {
    broken = true;
    auto diagnostic = op->emitError("buffer in flight, expected ") << what;
    diagnostic.attachNote(launch.getLoc()) << "the collective was launched here";
    for (Operation *user : launch.getToken().getUsers())
      diagnostic.attachNote(user->getLoc()) << "and is finished here";
  }

  void inspect(Operation *op) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects) {
      if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || op->hasTrait<OpTrait::IsTerminator>())
        return; // what it holds is inspected; what it passes on is followed as a view
      for (Value operand : op->getOperands())
        if (touches(operand, read) || touches(operand, written)) // F3
          return complain(op, "no operation of unknown effects to get it");
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    for (MemoryEffects::EffectInstance &effect : instances) {
      Value buffer = effect.getValue();
      if (!buffer)
        continue;
      if (touches(buffer, written)) // F2
        return complain(op, isa<MemoryEffects::Read>(effect.getEffect()) ? "nobody to read what the collective writes"
                            : isa<MemoryEffects::Write>(effect.getEffect())
                                ? "nobody to write what the collective writes"
                                : "nobody to free what the collective writes");
      if (!isa<MemoryEffects::Read>(effect.getEffect()) && touches(buffer, read)) // F1
        return complain(op, isa<MemoryEffects::Write>(effect.getEffect()) ? "nobody to write what the collective reads"
                                                                          : "nobody to free what the collective reads");
    }
  }

  bool finishesHere(Operation *op) {
    auto finish = dyn_cast<FinishOp>(op);
    return finish && finish.getToken() == launch.getToken();
  }
  bool finishesInside(Operation *op) {
    return op
        ->walk([&](FinishOp finish) {
          return finish.getToken() == launch.getToken() ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// From `begin` to the finish, in this block and, where it ends without one, in the blocks after it. Whether every path
  /// from here finishes.
  bool scan(Block *block, Block::iterator begin) {
    if (begin == block->begin() && !seen.insert(block).second)
      return true; // another path was here
    for (Operation &op : llvm::make_range(begin, block->end())) {
      if (finishesHere(&op))
        return true;
      if (!finishesInside(&op)) {
        op.walk([&](Operation *inner) { inspect(inner); });
        continue;
      }
      inspect(&op);
      bool everywhere = true;
      for (Region &region : op.getRegions())
        everywhere &= !region.empty() && scan(&region.front(), region.front().begin());
      if (everywhere)
        return true;
      // A path that did not finish inside must do so later, and what is done until then is in flight all the same.
    }
    bool everywhere = block->getNumSuccessors() > 0;
    for (Block *next : block->getSuccessors())
      everywhere &= scan(next, next->begin());
    return everywhere;
  }

  LaunchOp launch;
  BufferViewFlowAnalysis &views;
  Values read, written;
  llvm::SmallPtrSet<Block *, 8> seen;
  bool broken = false;
};

struct VerifyInFlight : public impl::BraidVerifyInFlightBase<VerifyInFlight> {
  void runOnOperation() override {
    bool failedOnce = false;
    for (Operation &op : *getOperation().getBody()) {
      SmallVector<LaunchOp> launches;
      op.walk([&](LaunchOp launch) { launches.push_back(launch); });
      if (launches.empty())
        continue;
      BufferViewFlowAnalysis views(&op);
      for (LaunchOp launch : launches)
        failedOnce |= failed(Flight(launch, views).verify());
    }
    if (failedOnce)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace mlir::braid
