//===- Findings.h - what is wrong with buffers in flight --------------------------------------------------*- C++ -*-===//
//
// A function may be followed once for each path of calls that leads to it, and a loop until nothing new is learned. Findings
// belong to an operation on one such path; what is learned again replaces what was found before on the same path.
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWERING_FINDINGS_H
#define BRAID_PASSES_LOWERING_FINDINGS_H

#include "lowering/BufferState.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::braid {

class Findings {
public:
  /// The path of calls on which operations are looked at now; null: none.
  const void *path = nullptr;

  void add(Operation *op, const Flight &flight, const Twine &what) {
    auto &known = found[{op, path}];
    for (Operation *launch : flight.launches)
      if (!llvm::any_of(known, [&](auto &each) { return each.second.contains(launch); }))
        entry(known, what).insert(launch);
  }
  void add(Operation *op, const Twine &what) { entry(found[{op, path}], what); }
  /// The operation is looked at again, knowing more.
  void forget(Operation *op) {
    if (auto known = found.find({op, path}); known != found.end())
      known->second.clear();
  }

  /// Whether there was something. In the order in which it was found, each thing once, however many paths lead to it.
  bool report() {
    llvm::MapVector<Operation *, Entries> merged;
    for (auto &[where, all] : found)
      for (auto &[what, launches] : all)
        entry(merged[where.first], what).insert_range(launches);
    for (auto &[op, all] : merged)
      for (auto &[what, launches] : all) {
        auto diagnostic = op->emitError(what);
        for (Operation *launch : launches) {
          diagnostic.attachNote(launch->getLoc()) << "the collective was launched here";
          for (Operation *user : launch->getResult(0).getUsers())
            diagnostic.attachNote(user->getLoc())
                << (isa<FinishOp>(user) ? "and is finished here" : "and is passed on here");
        }
      }
    return !merged.empty();
  }

private:
  using Entries = SmallVector<std::pair<std::string, llvm::SmallSetVector<Operation *, 2>>, 1>;
  static llvm::SmallSetVector<Operation *, 2> &entry(Entries &entries, const Twine &what) {
    std::string text = what.str();
    for (auto &[known, launches] : entries)
      if (known == text)
        return launches;
    return entries.emplace_back(text, llvm::SmallSetVector<Operation *, 2>()).second;
  }
  llvm::MapVector<std::pair<Operation *, const void *>, Entries> found;
};

} // namespace mlir::braid

#endif // BRAID_PASSES_LOWERING_FINDINGS_H
