//===- LoopCuts.cpp - where else a loop's trip may begin --------------------------------------------------------===//
#include "analysis/LoopCuts.h"

#include "analysis/FusedKernels.h"

namespace mlir::braid {

namespace {

using Operations = llvm::SetVector<Operation *>;

constexpr size_t mostSteps = 500'000; ///< setting: collectives times operations of a body whose cuts are looked for

class Trip {
public:
  Trip(const CarryingLoop &loop, ModuleFacts &facts) : loop(loop), facts(facts) {
    for (Operation &op : bodyOf(*loop.body)) {
      bool free = facts.classify(&op) == OpClass::Free; // made anew wherever it is read
      if (!free)
        body.push_back(&op);
    }
    for (auto [index, argument] : llvm::enumerate(loop.carried))
      numbers[argument] = unsigned(index);
  }

  /// With all that leads to them within the trip. Nothing stays behind what nothing is in flight across: then all before that is early, too.
  Operations before(Operations early) const {
    for (size_t size = 0; size != early.size();) {
      size = early.size();
      lead(early);
      Operation *stop = nullptr, *last = nullptr;
      for (Operation *op : body)
        if (early.contains(op))
          last = op;
      for (Operation *op : body) {
        if (op == last)
          break;
        if (stops(op))
          stop = op;
      }
      if (last && stops(last))
        stop = last;
      for (Operation *op : body) {
        if (!stop)
          break;
        early.insert(op);
        if (op == stop)
          break;
      }
    }
    return sorted(early);
  }

  /// With the counters that they read, so that they need nothing of the trip before; and those that decide whether a trip is made.
  Operations withCounters(Operations early) const {
    for (size_t size = 0; size != early.size();) {
      size = early.size();
      Operations counters;
      for (Operation *maker : makersFor(early))
        if (counts(maker))
          counters.insert(maker);
      for (unsigned index = 0; loop.condition && index < loop.carried.size(); ++index)
        if (Operation *maker = loop.producer(index); maker && !loop.condition->getArgument(index).use_empty())
          counters.insert(maker);
      early.insert(counters.begin(), counters.end());
      early = before(early);
    }
    return early;
  }

  /// What makes the carried values that these read, in the trip before.
  Operations makersFor(const Operations &readers) const {
    Operations makers;
    for (Operation *reader : readers)
      forEachValueRead(reader, [&](Value value) {
        if (auto found = numbers.find(value); found != numbers.end())
          if (Operation *maker = loop.producer(found->second))
            makers.insert(maker);
      });
    return makers;
  }

  /// All that waits for one of these within the trip, with them.
  Operations after(Operations late) const {
    for (Operation *op : body)
      forEachValueRead(op, [&](Value value) {
        if (Operation *source = value.getDefiningOp(); source && late.contains(source))
          late.insert(op);
      });
    return late;
  }
  /// All of the next trip that waits for one of these.
  Operations afterInNext(const Operations &late) const {
    llvm::DenseSet<Value> handed;
    for (unsigned index = 0; index < loop.carried.size(); ++index)
      if (Operation *maker = loop.producer(index); maker && late.contains(maker))
        handed.insert(loop.carried[index]);
    Operations readers;
    for (Operation *op : body)
      forEachValueRead(op, [&](Value value) {
        if (handed.contains(value))
          readers.insert(op);
      });
    return after(readers);
  }

  template <class Predicate> int kernels(Predicate which) const {
    return int(llvm::count_if(body, [&](Operation *op) {
      OpClass kind = facts.classify(op);
      return (kind == OpClass::Kernel || kind == OpClass::Fusible) && which(op);
    }));
  }
  ArrayRef<Operation *> operations() const { return body; }
  bool stops(Operation *op) const {
    OpClass kind = facts.classify(op);
    return kind == OpClass::Barrier || kind == OpClass::Nested;
  }
  Operation *sourceOf(Value value) const {
    Operation *source = value.getDefiningOp();
    return source && source->getBlock() == loop.body && facts.classify(source) != OpClass::Free ? source : nullptr;
  }

private:
  /// Adds what leads to them within the trip.
  void lead(Operations &early) const {
    for (size_t at = 0; at < early.size(); ++at)
      forEachValueRead(early[at], [&](Value value) {
        if (Operation *source = sourceOf(value))
          early.insert(source);
      });
  }
  Operations sorted(const Operations &some) const {
    Operations result;
    for (Operation *op : body)
      if (some.contains(op))
        result.insert(op);
    return result;
  }
  /// Computed in passing from what counts, trip after trip: a counter, an index.
  bool counts(Operation *maker) const {
    Operations cone;
    cone.insert(maker);
    for (size_t size = 0; size != cone.size();) {
      size = cone.size();
      lead(cone);
      Operations more = makersFor(cone);
      cone.insert(more.begin(), more.end());
    }
    return llvm::all_of(cone, [&](Operation *op) { return facts.classify(op) == OpClass::Fusible; });
  }

  const CarryingLoop &loop;
  ModuleFacts &facts;
  std::vector<Operation *> body;
  llvm::DenseMap<Value, unsigned> numbers;
};

} // namespace

SmallVector<CutCollective> cutCollectives(const CarryingLoop &loop, ModuleFacts &facts, LoopShift shift,
                                          llvm::function_ref<void(Operation *, const Twine &)> missed) {
  Trip trip(loop, facts);
  SmallVector<CutCollective> found;
  size_t count =
      size_t(llvm::count_if(trip.operations(), [](Operation *op) { return isa<CollectiveOpInterface>(op); }));
  if (count * trip.operations().size() > mostSteps) {
    if (missed)
      missed(loop.op, "its body is too large to look at all places where a trip could begin");
    return found;
  }
  for (Operation *op : trip.operations()) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!collective || facts.classify(op) != OpClass::Collective)
      continue;
    CutCollective cut;
    cut.collective = collective;
    Operations self;
    self.insert(op);
    Operations with = trip.before(self);
    Operations waiting = trip.after(self);
    std::string why;
    if (shift == LoopShift::Ahead) {
      cut.early = trip.withCounters(with);
      // In the trip before its own: what it waits for there, and what stays in front of the last stop.
      Operations needed = trip.before(trip.makersFor(with));
      Operation *stop = nullptr;
      for (Operation *other : trip.operations())
        if (trip.stops(other) && !cut.early.contains(other))
          stop = other;
      cut.beside = trip.kernels([&](Operation *k) {
        return !cut.early.contains(k) && !needed.contains(k) && !(stop && k->isBeforeInBlock(stop));
      });
      why = "it waits for all computation of the trip before";
    } else {
      Operations leading;
      for (Operation *other : with)
        if (other != op)
          leading.insert(other);
      cut.early = trip.withCounters(leading);
      Operations next = trip.afterInNext(waiting);
      Operation *stop = nullptr, *behind = nullptr; // the first one of the next trip; one of its own
      for (Operation *other : trip.operations())
        if (trip.stops(other))
          (cut.early.contains(other) ? stop : behind) = stop && cut.early.contains(other) ? stop : other;
      int tail = trip.kernels([&](Operation *k) { return !cut.early.contains(k) && !waiting.contains(k); });
      int head = trip.kernels([&](Operation *k) {
        return !behind && cut.early.contains(k) && !next.contains(k) && !(stop && stop->isBeforeInBlock(k));
      });
      cut.beside = tail && head ? head : 0;
      why = tail ? "all computation of the next trip that leads to it waits for it"
                 : "nothing of its own trip runs beside it";
    }
    if (cut.early.contains(op) != (shift == LoopShift::Ahead)) {
      cut.beside = 0;
      why = "what stands behind it in the loop, and nothing is in flight across, goes with what leads to it";
    }
    if (cut.beside)
      found.push_back(std::move(cut));
    else if (missed)
      missed(op, why);
  }
  return found;
}

SmallVector<Operation *> orderOfCut(const CarryingLoop &loop, ModuleFacts &facts, LoopShift shift,
                                    const llvm::DenseSet<Operation *> &late) {
  Trip trip(loop, facts);
  Operations order;
  Operation *first = nullptr; // up to the last stop, late ones stay in front
  for (Operation &op : bodyOf(*loop.body))
    if (late.contains(&op) && (shift == LoopShift::Around || trip.stops(&op)))
      first = &op;
  for (Operation &op : bodyOf(*loop.body))
    if (first && late.contains(&op) && !first->isBeforeInBlock(&op))
      order.insert(&op);
  for (Operation &op : bodyOf(*loop.body)) {
    if (late.contains(&op))
      continue;
    Operations one;
    one.insert(&op);
    for (Operation *maker : trip.makersFor(one)) // of the trip before
      if (late.contains(maker)) {
        Operations makers;
        makers.insert(maker);
        for (Operation *leading : trip.before(makers))
          if (late.contains(leading))
            order.insert(leading);
      }
    order.insert(&op);
  }
  for (Operation &op : bodyOf(*loop.body))
    order.insert(&op);
  return order.takeVector();
}

bool tripsMayOverlap(const CarryingLoop &loop, ModuleFacts &facts) {
  return !lateCollectives(loop, facts).empty() || !cutCollectives(loop, facts, LoopShift::Ahead).empty() ||
         !cutCollectives(loop, facts, LoopShift::Around).empty();
}

} // namespace mlir::braid
