//===- LoopCuts.cpp - where else a loop's trip may begin --------------------------------------------------------===//
#include "analysis/LoopCuts.h"

#include "analysis/TripGraph.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::braid {

namespace {

using Marks = TripGraph::Marks;

constexpr size_t mostSteps = 20'000'000; ///< setting: collectives times operations of a body whose cuts are looked for

class Cuts {
public:
  explicit Cuts(const TripGraph &trip) : trip(trip), counting(trip.none()), counters(trip.none()) {
    findCounting();
    for (int value = 0; trip.loop.condition && value < int(trip.loop.carried.size()); ++value)
      if (trip.maker(value) >= 0 && !trip.loop.condition->getArgument(unsigned(value)).use_empty())
        counters.set(unsigned(trip.maker(value)));
  }

  /// With all that lead to them within the trip. Nothing stays behind what nothing is in flight across: then all before that is early, too.
  Marks before(Marks early) const {
    int last = early.find_last();
    for (int op = last; op >= 0; op = early.find_prev(unsigned(op))) // sources stand in front
      for (int source : trip.sources(op))
        early.set(unsigned(source));
    int stop = last < 0 || trip.stops.test(unsigned(last)) ? last : trip.stops.find_prev(unsigned(last));
    if (stop >= 0)
      early.set(0, unsigned(stop) + 1);
    return early;
  }

  /// With the counters that they read, so that they need nothing of the trip before; and those that decide whether a trip is made.
  Marks withCounters(Marks early) const {
    for (size_t size = size_t(-1); size != early.count();) {
      size = early.count();
      Marks read = makersFor(early);
      read &= counting;
      early |= read;
      early |= counters;
      early = before(std::move(early));
    }
    return early;
  }

  /// What makes the carried values that these read, in the trip before.
  Marks makersFor(const Marks &readers) const {
    Marks makers = trip.none();
    for (unsigned reader : readers.set_bits())
      for (int value : trip.carriedTo(int(reader)))
        if (trip.maker(value) >= 0)
          makers.set(unsigned(trip.maker(value)));
    return makers;
  }

  /// Why a collective runs beside no more computation if the trip is cut at it; empty: it does.
  std::string ahead(int place, CutCollective &cut) const {
    Marks with = before(one(place));
    cut.early = withCounters(with);
    // In the trip before its own: what it waits for there, and what stays in front of the last stop.
    Marks beside = trip.kernels, stops = trip.stops;
    stops.reset(cut.early);
    if (int stop = stops.find_last(); stop >= 0)
      beside.reset(0, unsigned(stop));
    beside.reset(cut.early);
    beside.reset(before(makersFor(with)));
    cut.beside = int(beside.count());
    return cut.beside ? "" : "it waits for all computation of the trip before";
  }
  std::string around(int place, CutCollective &cut) const {
    Marks leading = before(one(place));
    leading.reset(unsigned(place));
    cut.early = withCounters(std::move(leading));
    Marks waiting = trip.after(one(place)), tail = trip.kernels, head = trip.kernels;
    tail.reset(cut.early);
    tail.reset(waiting);
    head &= cut.early;
    head.reset(trip.afterInNext(waiting));
    Marks behind = trip.stops, stops = trip.stops; // of its own trip, of the next
    behind.reset(cut.early);
    stops &= cut.early;
    if (int stop = stops.find_first(); stop >= 0)
      head.reset(unsigned(stop), unsigned(trip.size()));
    if (behind.any())
      head.reset();
    cut.beside = tail.any() ? int(head.count()) : 0;
    if (cut.beside)
      return "";
    return tail.any() ? "all computation of the next trip that leads to it waits for it"
                      : "nothing of its own trip runs beside it";
  }

private:
  Marks one(int op) const {
    Marks marks = trip.none();
    marks.set(unsigned(op));
    return marks;
  }

  /// Computed in passing from what counts, trip after trip: a counter, an index.
  void findCounting() {
    SmallVector<int> work;
    for (int op = 0; op < trip.size(); ++op)
      if (trip.kinds[size_t(op)] == OpClass::Fusible)
        counting.set(unsigned(op));
      else
        work.push_back(op);
    SmallVector<SmallVector<int, 1>> made(trip.size());
    for (int value = 0; value < int(trip.loop.carried.size()); ++value)
      if (trip.maker(value) >= 0)
        made[size_t(trip.maker(value))].push_back(value);
    auto drop = [&](int op) {
      if (!counting.test(unsigned(op)))
        return;
      counting.reset(unsigned(op));
      work.push_back(op);
    };
    while (!work.empty()) {
      int op = work.pop_back_val();
      for (int reader : trip.readers(op))
        drop(reader);
      for (int value : made[size_t(op)])
        for (int reader : trip.readersOfCarried(value))
          drop(reader);
    }
  }

  const TripGraph &trip;
  Marks counting; ///< what is computed from nothing but such
  Marks counters; ///< what the condition of the loop reads
};

} // namespace

bool tooLargeToCut(const TripGraph &trip) { return trip.collectives.size() * trip.ops.size() > mostSteps; }

SmallVector<CutCollective> cutCollectives(const TripGraph &trip, LoopShift shift,
                                          llvm::function_ref<void(Operation *, const Twine &)> missed, size_t most) {
  SmallVector<CutCollective> found;
  if (tooLargeToCut(trip)) {
    if (missed)
      missed(trip.loop.op, "its body is too large to look at all places where a trip could begin");
    return found;
  }
  Cuts cuts(trip);
  for (int place : trip.collectives) {
    if (found.size() == most)
      break;
    if (trip.kinds[size_t(place)] != OpClass::Collective)
      continue;
    CutCollective cut;
    cut.collective = cast<CollectiveOpInterface>(trip.ops[size_t(place)]);
    std::string why = shift == LoopShift::Ahead ? cuts.ahead(place, cut) : cuts.around(place, cut);
    if (cut.early.test(unsigned(place)) != (shift == LoopShift::Ahead))
      why = "what stands behind it in the loop, and nothing is in flight across, goes with what leads to it";
    if (why.empty())
      found.push_back(std::move(cut));
    else if (missed)
      missed(cut.collective, why);
  }
  return found;
}

SmallVector<Operation *> orderOfCut(const TripGraph &trip, LoopShift shift, const Marks &late) {
  Cuts cuts(trip);
  llvm::SetVector<Operation *> order;
  auto append = [&](const Marks &marks) {
    for (unsigned op : marks.set_bits())
      order.insert(trip.ops[op]);
  };
  Marks first = late; // up to the last stop, late ones stay in front
  if (shift != LoopShift::Around)
    first &= trip.stops;
  if (int last = first.find_last(); last >= 0) {
    Marks front = late;
    front.reset(unsigned(last) + 1, unsigned(trip.size()));
    append(front);
  }
  for (Operation &op : bodyOf(*trip.loop.body)) { // constants, too
    int place = trip.placeOf(&op);
    if (place >= 0 && late.test(unsigned(place)))
      continue;
    if (place >= 0)
      for (int value : trip.carriedTo(place)) {
        int maker = trip.maker(value); // of the trip before
        if (maker < 0 || !late.test(unsigned(maker)) || order.contains(trip.ops[size_t(maker)]))
          continue;
        Marks leading = trip.none();
        leading.set(unsigned(maker));
        leading = cuts.before(std::move(leading));
        leading &= late;
        append(leading);
      }
    order.insert(&op);
  }
  for (Operation &op : bodyOf(*trip.loop.body))
    order.insert(&op);
  return order.takeVector();
}

bool tripsMayOverlap(const CarryingLoop &loop, ModuleFacts &facts) {
  TripGraph trip(loop, facts);
  if (tooLargeToCut(trip))
    return false;
  return anyIsLate(trip) || !cutCollectives(trip, LoopShift::Ahead, nullptr, 1).empty() ||
         !cutCollectives(trip, LoopShift::Around, nullptr, 1).empty();
}

} // namespace mlir::braid
