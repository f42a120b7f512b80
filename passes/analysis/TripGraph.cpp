//===- TripGraph.cpp - what of a loop's body reads what, by numbers -------------------------------------------===//
#include "analysis/TripGraph.h"

#include "analysis/FusedKernels.h"

namespace mlir::braid {

TripGraph::TripGraph(const CarryingLoop &loop, ModuleFacts &facts) : loop(loop), facts(facts) {
  for (Operation &op : bodyOf(*loop.body)) {
    OpClass kind = facts.classify(&op);
    if (kind == OpClass::Free)
      continue;
    places[&op] = size();
    ops.push_back(&op);
    kinds.push_back(kind);
  }
  kernels = stops = none();
  llvm::DenseMap<Value, int> carried;
  for (auto [index, argument] : llvm::enumerate(loop.carried)) {
    carried[argument] = int(index);
    Operation *maker = loop.producer(unsigned(index));
    makers.push_back(maker ? placeOf(maker) : -1);
  }
  for (int op = 0; op < size(); ++op) {
    OpClass kind = kinds[size_t(op)];
    if (kind == OpClass::Kernel || kind == OpClass::Fusible)
      kernels.set(unsigned(op));
    if (kind == OpClass::Barrier || kind == OpClass::Nested)
      stops.set(unsigned(op));
    if (isa<CollectiveOpInterface>(ops[size_t(op)]))
      collectives.push_back(op);
    forEachValueRead(ops[size_t(op)], [&](Value value) {
      if (Operation *source = value.getDefiningOp()) {
        if (int place = placeOf(source); place >= 0)
          sourcesOf.values.push_back(place);
      } else if (auto found = carried.find(value); found != carried.end()) {
        carriedOf.values.push_back(found->second);
      }
    });
    sourcesOf.close();
    carriedOf.close();
  }
  readersOf = sourcesOf.turned(size());
  carriedReaders = carriedOf.turned(int(loop.carried.size()));
}

TripGraph::Lists TripGraph::Lists::turned(int count) const {
  Lists result;
  result.begins.assign(size_t(count) + 1, 0);
  result.values.resize(values.size());
  for (int value : values)
    ++result.begins[size_t(value) + 1];
  for (int number = 0; number < count; ++number)
    result.begins[size_t(number) + 1] += result.begins[size_t(number)];
  std::vector<int> next(result.begins.begin(), result.begins.end() - 1);
  for (int list = 0; list + 1 < int(begins.size()); ++list)
    for (int value : of(list))
      result.values[size_t(next[size_t(value)]++)] = list;
  return result;
}

TripGraph::Marks TripGraph::after(Marks late) const {
  for (int op = late.find_first(); op >= 0; op = late.find_next(unsigned(op))) // readers stand behind
    for (int reader : readers(op))
      late.set(unsigned(reader));
  return late;
}

TripGraph::Marks TripGraph::afterInNext(const Marks &late) const {
  Marks waiting = none();
  for (int value = 0; value < int(makers.size()); ++value)
    if (maker(value) >= 0 && late.test(unsigned(maker(value))))
      for (int reader : readersOfCarried(value))
        waiting.set(unsigned(reader));
  return after(std::move(waiting));
}

} // namespace mlir::braid
