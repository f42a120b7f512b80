//===- LoopRotation.cpp - a loop in two stages ------------------------------------------------------------------===//
#include "transforms/LoopRotation.h"

#include "analysis/FusedKernels.h"
#include "braid/passes/StablehloOp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::braid {

namespace {

class Rotation {
public:
  Rotation(const CarryingLoop &loop, ArrayRef<Operation *> order, const llvm::DenseSet<Operation *> &late,
           ModuleFacts &facts)
      : loop(loop), order(order), late(late), facts(facts), builder(loop.op) {
    for (unsigned index = 0; index < loop.carried.size(); ++index)
      (isLate(index) ? lateResults : early).push_back(index);
    for (Operation *op : order)
      if (late.contains(op))
        forEachValueRead(op, [&](Value value) {
          if (!ofTrip(value) || isFree(value.getDefiningOp()))
            return;
          auto same = llvm::find_if(early, [&](unsigned index) { return loop.yields()[index] == value; });
          if (same == early.end())
            kept.insert(value);
          else // handed on already, and there under another name
            handed[value] = unsigned(same - early.begin());
        });
  }

  void run() {
    scf::IfOp guard;
    if (!loop.trips) {
      guard = guarded();
      builder.setInsertionPointToStart(guard.thenBlock());
    }
    SmallVector<Value> results = rotated();
    if (guard) {
      scf::YieldOp::create(builder, loop.op->getLoc(), results);
      results.assign(guard.result_begin(), guard.result_end());
    }
    loop.op->replaceAllUsesWith(results);
    loop.op->erase();
  }

private:
  bool isLate(unsigned index) const {
    Operation *source = loop.producer(index);
    return source && late.contains(source);
  }
  bool isFree(Operation *op) const { return op && facts.classify(op) == OpClass::Free; }
  /// An early value of the loop's trip: an argument, or what an early operation makes.
  bool ofTrip(Value value) const {
    return value.getParentBlock() == loop.body && !(value.getDefiningOp() && late.contains(value.getDefiningOp()));
  }

  /// Made of constants only: again wherever it is read, rather than carried.
  void remake(Operation *reader, IRMapping &map) {
    forEachValueRead(reader, [&](Value value) {
      Operation *source = value.getDefiningOp();
      if (source && source->getBlock() == loop.body && isFree(source) && !map.contains(value)) {
        remake(source, map);
        builder.clone(*source, map);
      }
    });
  }
  void cloneLate(Operation *op, IRMapping &map) {
    remake(op, map);
    builder.clone(*op, map);
  }
  void cloneEarly(Operation *op, IRMapping &map) {
    Operation *clone = builder.clone(*op, map);
    if (isFree(op))
      constants.push_back(clone);
  }

  scf::IfOp guarded() {
    auto counted = cast<scf::ForOp>(loop.op);
    auto predicate = counted.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value runs =
        arith::CmpIOp::create(builder, counted.getLoc(), predicate, counted.getLowerBound(), counted.getUpperBound());
    auto guard = scf::IfOp::create(builder, counted.getLoc(), counted.getResultTypes(), runs, /*withElseRegion=*/true);
    OpBuilder none = OpBuilder::atBlockEnd(guard.elseBlock());
    scf::YieldOp::create(none, counted.getLoc(), loop.inits);
    return guard;
  }

  SmallVector<Value> rotated() {
    IRMapping first;
    first.map(loop.carried, loop.inits);
    if (auto counted = dyn_cast<scf::ForOp>(loop.op))
      first.map(counted.getInductionVar(), counted.getLowerBound());
    for (Operation *op : order)
      if (!late.contains(op))
        cloneEarly(op, first);
    Operation *kernel = makeKernel(handedOn(first));
    builder.setInsertionPointAfter(kernel);
    IRMapping last;
    mapBefore(last, kernel->getResults());
    for (Operation &op : *loop.body)
      if (late.contains(&op))
        cloneLate(&op, last);
    SmallVector<Value> results(loop.carried.size());
    for (auto [index, result] : llvm::zip(early, kernel->getResults()))
      results[index] = result;
    for (unsigned index : lateResults)
      results[index] = last.lookup(loop.yields()[index]);
    for (Operation *op : llvm::reverse(constants))
      if (op->use_empty())
        op->erase();
    return results;
  }

  /// What a trip hands on: what early operations make for the next trip, and what late ones read of this.
  SmallVector<Value> handedOn(const IRMapping &trip) const {
    SmallVector<Value> values;
    for (unsigned index : early)
      values.push_back(trip.lookupOrDefault(loop.yields()[index]));
    for (Value value : kept)
      values.push_back(trip.lookupOrDefault(value));
    return values;
  }

  /// What late operations read of the trip before, among all that it handed on.
  void mapBefore(IRMapping &map, ValueRange values) const {
    for (auto [value, from] : llvm::zip(kept, values.drop_front(early.size())))
      map.map(value, from);
    for (auto [value, place] : handed)
      map.map(value, values[place]);
  }

  Operation *makeKernel(ArrayRef<Value> inits) {
    Location loc = loop.op->getLoc();
    if (auto counted = dyn_cast<scf::ForOp>(loop.op)) {
      // A constant where both are: how many trips there are is known then as before.
      Value second = builder.createOrFold<arith::AddIOp>(loc, counted.getLowerBound(), counted.getStep());
      auto kernel = scf::ForOp::create(builder, loc, second, counted.getUpperBound(), counted.getStep(), inits,
                                       /*bodyBuilder=*/nullptr, counted.getUnsignedCmp());
      kernel->setDiscardableAttrs(counted->getDiscardableAttrDictionary());
      if (inits.empty()) // the builder has ended the body of a loop that carries nothing
        kernel.getBody()->getTerminator()->erase();
      fill(*kernel.getBody(), kernel.getInductionVar(), kernel.getRegionIterArgs());
      return kernel;
    }
    SmallVector<std::unique_ptr<Region>> regions;
    SmallVector<Location> locs(inits.size(), loc);
    for (int region = 0; region < 2; ++region) {
      regions.push_back(std::make_unique<Region>());
      regions.back()->emplaceBlock().addArguments(ValueRange(inits).getTypes(), locs);
    }
    Operation *kernel =
        createSourceOp(builder, loc, loop.op->getName().getStringRef(), inits, ValueRange(inits).getTypes(),
                       getSourceAttrs(loop.op).getValue(), encodingOf(loop.op), {}, regions);
    kernel->setDiscardableAttrs(loop.op->getDiscardableAttrDictionary());
    Block &condition = kernel->getRegion(0).front(), &body = kernel->getRegion(1).front();
    IRMapping goesOn; // as before: of the trip that begins
    for (auto [index, argument] : llvm::zip(early, condition.getArguments()))
      goesOn.map(loop.condition->getArgument(index), argument);
    OpBuilder::InsertionGuard inside(builder);
    builder.setInsertionPointToEnd(&condition);
    for (Operation &op : *loop.condition)
      builder.clone(op, goesOn);
    fill(body, Value(), body.getArguments());
    return kernel;
  }

  void fill(Block &body, Value counter, ValueRange arguments) {
    OpBuilder::InsertionGuard inside(builder);
    builder.setInsertionPointToEnd(&body);
    IRMapping trip, before; // early operations are of the trip, late ones of the one before
    if (counter)
      trip.map(cast<scf::ForOp>(loop.op).getInductionVar(), counter);
    for (auto [index, argument] : llvm::zip(early, arguments))
      trip.map(loop.carried[index], argument);
    mapBefore(before, arguments);
    for (Operation *op : order) {
      if (!late.contains(op)) {
        cloneEarly(op, trip);
        continue;
      }
      cloneLate(op, before);
      for (unsigned index : lateResults)
        if (loop.producer(index) == op)
          trip.map(loop.carried[index], before.lookup(loop.yields()[index]));
    }
    builder.clone(*loop.terminator())->setOperands(handedOn(trip));
  }

  const CarryingLoop &loop;
  ArrayRef<Operation *> order;
  const llvm::DenseSet<Operation *> &late;
  ModuleFacts &facts;
  OpBuilder builder;
  SmallVector<unsigned> early,
      lateResults;             ///< of what the loop carries: made by early operations (or none), by late ones
  llvm::SetVector<Value> kept; ///< of a trip's early values: what late operations read
  llvm::DenseMap<Value, unsigned> handed; ///< of what they read: what is handed on anyhow, as which of `early`
  SmallVector<Operation *> constants;     ///< copies that may have no reader
};

} // namespace

void rotateLoop(const CarryingLoop &loop, ArrayRef<Operation *> order, const llvm::DenseSet<Operation *> &late,
                ModuleFacts &facts) {
  Rotation(loop, order, late, facts).run();
}

} // namespace mlir::braid
