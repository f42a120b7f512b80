//===- LoopStages.cpp - what of a loop's trip can run in the next one -------------------------------------------===//
#include "analysis/LoopStages.h"

#include "analysis/LoopTrips.h"
#include "analysis/TripGraph.h"
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

using Marks = TripGraph::Marks;

class Stages {
public:
  explicit Stages(const TripGraph &graph) : graph(graph), loop(graph.loop) {
    for (int op = 0; op < graph.size(); ++op)
      if (graph.stops.test(unsigned(op)) && !isAsynchronous(op))
        lastStop = op;
  }

  SmallVector<LateCollective> find(llvm::function_ref<void(Operation *, const Twine &)> missed, size_t most) {
    SmallVector<LateCollective> found;
    for (int place = 0; place < graph.size() && found.size() < most; ++place) {
      Operation *op = graph.ops[size_t(place)];
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
      if (std::string why = refuse(late, place); why.empty())
        found.push_back(std::move(late));
      else if (missed)
        missed(op, why);
    }
    llvm::stable_sort(found, [](const LateCollective &a, const LateCollective &b) { return a.need < b.need; });
    return found;
  }

private:
  bool isAsynchronous(int op) const { return isa<StartOp, WaitOp>(graph.ops[size_t(op)]); }
  bool isCollective(int op) const {
    return isa<CollectiveOpInterface>(graph.ops[size_t(op)]) && graph.kinds[size_t(op)] == OpClass::Collective;
  }

  /// Why it cannot complete in the next trip; empty: it can.
  std::string refuse(LateCollective &late, int place) {
    if (!isPlannable(late.collective.getCollectiveKind()))
      return "no planner moves a collective of this kind";
    auto wait = dyn_cast<WaitOp>(late.op);
    if (!wait && graph.kinds[size_t(place)] == OpClass::Barrier)
      return graph.facts.barrierReason(late.op).str();
    if (lastStop > (wait ? graph.placeOf(wait.getStart()) : place))
      return ("nothing is in flight across " + graph.ops[size_t(lastStop)]->getName().getStringRef() +
              ", which stands behind it in the loop")
          .str();
    Marks cone = graph.none();
    cone.set(unsigned(place));
    for (int op = place; op >= 0; op = cone.find_next(unsigned(op))) { // readers stand behind
      if (op != place && !graph.kernels.test(unsigned(op)) && !isCollective(op))
        return ("another operation of its trip waits for it: " + graph.ops[size_t(op)]->getName().getStringRef()).str();
      for (int reader : graph.readers(op))
        cone.set(unsigned(reader));
    }
    return readersOf(late, place, cone);
  }

  /// What of the next trip waits for it.
  std::string readersOf(LateCollective &late, int place, const Marks &cone) {
    bool handedOn = false;
    Marks waiting = graph.none();
    for (int value = 0; value < int(loop.carried.size()); ++value) {
      int maker = graph.maker(value);
      if (maker < 0 || !cone.test(unsigned(maker)))
        continue;
      handedOn = true;
      if (loop.condition && !loop.condition->getArgument(unsigned(value)).use_empty())
        return "the condition of the loop waits for it";
      for (int reader : graph.readersOfCarried(value))
        waiting.set(unsigned(reader));
    }
    if (!handedOn)
      return "the next trip does not get what it gives";
    waiting.reset(cone); // of its own trip later, whatever it reads
    for (int op = waiting.find_first(); op >= 0; op = waiting.find_next(unsigned(op)))
      for (int reader : graph.readers(op))
        if (!cone.test(unsigned(reader)))
          waiting.set(unsigned(reader));
    Marks beside = graph.kernels;
    beside.reset(cone);
    beside.reset(waiting);
    late.beside = int(beside.count());
    int first = waiting.find_first();
    late.need = first < 0 ? graph.size() : first;
    beside.reset(unsigned(late.need), unsigned(graph.size()));
    late.before = int(beside.count());
    if (!late.beside)
      return "all computation of the next trip waits for it";
    for (int op = cone.find_next(unsigned(place)); op >= 0; op = cone.find_next(unsigned(op))) {
      late.followers.push_back(graph.ops[size_t(op)]);
      if (!late.chained && isa<CollectiveOpInterface>(graph.ops[size_t(op)]))
        late.chained = graph.ops[size_t(op)];
    }
    return "";
  }

  const TripGraph &graph;
  const CarryingLoop &loop;
  int lastStop = -1;
};

} // namespace

SmallVector<LateCollective> lateCollectives(const CarryingLoop &loop, ModuleFacts &facts,
                                            llvm::function_ref<void(Operation *, const Twine &)> missed) {
  return Stages(TripGraph(loop, facts)).find(missed, size_t(-1));
}

bool anyIsLate(const TripGraph &trip) { return !Stages(trip).find(nullptr, 1).empty(); }

} // namespace mlir::braid
