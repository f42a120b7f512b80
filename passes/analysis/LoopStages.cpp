//===- LoopStages.cpp - what of a loop's trip can run in the next one -------------------------------------------===//
#include "analysis/LoopStages.h"

#include "analysis/FusedKernels.h"
#include "analysis/LoopTrips.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::braid {

Operation *CarryingLoop::producer(unsigned index) const {
  Operation *source = yields()[index].getDefiningOp();
  return source && source->getBlock() == body ? source : nullptr;
}

std::optional<CarryingLoop> CarryingLoop::of(Operation *op) {
  CarryingLoop loop;
  loop.op = op;
  loop.trips = loopTrips(op);
  if (auto counted = dyn_cast<scf::ForOp>(op)) {
    loop.body = counted.getBody();
    llvm::append_range(loop.carried, counted.getRegionIterArgs());
    llvm::append_range(loop.inits, counted.getInitArgs());
    // The first trip goes in front: the counter must be able to step past it.
    Type counter = counted.getInductionVar().getType();
    if (!isa<IndexType>(counter) && counter.getIntOrFloatBitWidth() < 64 && loop.trips.value_or(1) < 2)
      return std::nullopt;
    return loop;
  }
  if (!isLoop(op) || op->getNumRegions() != 2 || !loop.trips) // a while: which loopTrips knows
    return std::nullopt;
  for (Region &region : op->getRegions())
    if (!llvm::hasSingleElement(region) || region.getNumArguments() != op->getNumOperands())
      return std::nullopt;
  loop.condition = &op->getRegion(0).front();
  loop.body = &op->getRegion(1).front();
  if (loop.terminator()->getNumOperands() != op->getNumOperands() || op->getNumResults() != op->getNumOperands())
    return std::nullopt;
  llvm::append_range(loop.carried, loop.body->getArguments());
  llvm::append_range(loop.inits, op->getOperands());
  return loop;
}

namespace {

class Stages {
public:
  Stages(const CarryingLoop &loop, ModuleFacts &facts) : loop(loop), facts(facts) {
    for (Operation &op : bodyOf(*loop.body)) {
      OpClass kind = facts.classify(&op);
      if (isa<StartOp, WaitOp>(op))
        kind = OpClass::Collective;
      if (kind == OpClass::Barrier || kind == OpClass::Nested)
        lastStop = &op;
      place[&op] = int(body.size());
      body.push_back(&op);
      kinds.push_back(kind);
    }
  }

  SmallVector<LateCollective> find(llvm::function_ref<void(Operation *, const Twine &)> missed) {
    SmallVector<LateCollective> found;
    for (Operation *op : body) {
      LateCollective late;
      late.op = op;
      if (auto wait = dyn_cast<WaitOp>(op)) {
        StartOp start = wait.getStart();
        if (!start || start->getBlock() != loop.body)
          continue;
        late.collective = start.getCollective();
      } else if (!(late.collective = dyn_cast<CollectiveOpInterface>(op))) {
        continue;
      }
      if (std::string why = refuse(late); why.empty())
        found.push_back(std::move(late));
      else if (missed)
        missed(op, why);
    }
    llvm::stable_sort(found, [](const LateCollective &a, const LateCollective &b) { return a.need < b.need; });
    return found;
  }

private:
  bool computes(int index) const { return kinds[index] == OpClass::Kernel || kinds[index] == OpClass::Fusible; }

  /// Why it cannot complete in the next trip; empty: it can.
  std::string refuse(LateCollective &late) {
    if (!isPlannable(late.collective.getCollectiveKind()))
      return "no planner moves a collective of this kind";
    Operation *issued = isa<WaitOp>(late.op) ? cast<WaitOp>(late.op).getStart().getOperation() : late.op;
    if (kinds[place[late.op]] == OpClass::Barrier)
      return facts.barrierReason(late.op).str();
    if (lastStop && place[lastStop] > place[issued])
      return ("nothing is in flight across " + lastStop->getName().getStringRef() +
              ", which stands behind it in the loop")
          .str();
    llvm::SmallPtrSet<Operation *, 16> cone;
    SmallVector<Operation *> work{late.op};
    bool handedOn = false;
    while (!work.empty())
      for (Operation *user : work.pop_back_val()->getUsers()) {
        Operation *here = loop.body->findAncestorOpInBlock(*user);
        if (!here)
          return "its result is read outside of the body of the loop";
        if (here == loop.terminator()) {
          handedOn = true;
          continue;
        }
        if (!cone.insert(here).second)
          continue;
        bool follows = isa<CollectiveOpInterface>(here) && kinds[place[here]] == OpClass::Collective;
        if (!computes(place[here]) && !follows)
          return ("another operation of its trip waits for it: " + here->getName().getStringRef()).str();
        work.push_back(here);
      }
    if (!handedOn)
      return "the next trip does not get what it gives";
    for (Operation *op : body)
      if (cone.contains(op)) {
        late.followers.push_back(op);
        if (!late.chained && isa<CollectiveOpInterface>(op))
          late.chained = op;
      }
    cone.insert(late.op);
    return readersOf(late, cone);
  }

  /// What of the next trip waits for it.
  std::string readersOf(LateCollective &late, const llvm::SmallPtrSet<Operation *, 16> &cone) {
    llvm::DenseSet<Value> needed;
    for (unsigned index = 0; index < loop.carried.size(); ++index)
      if (Operation *source = loop.producer(index); source && cone.contains(source)) {
        if (loop.condition && !loop.condition->getArgument(index).use_empty())
          return "the condition of the loop waits for it";
        needed.insert(loop.carried[index]);
      }
    late.need = int(body.size());
    for (int index = 0; index < int(body.size()); ++index) {
      if (cone.contains(body[index])) // of its own trip later, whatever it reads
        continue;
      bool reads = false;
      forEachValueRead(body[index], [&](Value value) { reads |= needed.contains(value); });
      if (reads) {
        late.need = std::min(late.need, index);
        needed.insert(body[index]->result_begin(), body[index]->result_end());
      } else if (computes(index)) {
        late.before += late.need == int(body.size());
        ++late.beside;
      }
    }
    return late.beside ? "" : "all computation of the next trip waits for it";
  }

  const CarryingLoop &loop;
  ModuleFacts &facts;
  std::vector<Operation *> body;
  std::vector<OpClass> kinds;
  llvm::DenseMap<Operation *, int> place;
  Operation *lastStop = nullptr;
};

} // namespace

SmallVector<LateCollective> lateCollectives(const CarryingLoop &loop, ModuleFacts &facts,
                                            llvm::function_ref<void(Operation *, const Twine &)> missed) {
  return Stages(loop, facts).find(missed);
}

} // namespace mlir::braid
