//===- LocatedTasks.h - tasks by the names and source lines of their operations ---------------------------------===//
//
// A compute profile, and a profiler's trace, call computation by where it comes from. A key is, in this order,
//
//   "model.py:12:3"           every operation with this position in its location, callers included
//   "jit(step)/mlp/dot"       every operation of this name, scopes included
//   "NAME at model.py:12"     operations of this name that stand on this line
//   "model.py:12"             operations that stand on this line: whose innermost position it is; else all that are called there
//   "jit(step)/a/b/dot"       operations called by the longest tail of the name: "a/b/dot", else "b/dot", else "dot". Compilers put
//                             the names of callers and regions before a name.
//
// Files are the same if one path is the end of the other. Operations in regions and functions that a task runs are the
// task's; names inside of a function have the call's before them, and operations without a line there have the call's.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_LOCATEDTASKS_H
#define BRAID_PASSES_ANALYSIS_LOCATEDTASKS_H

#include "analysis/ModuleFacts.h"
#include "braid/passes/MeasuredOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::braid {

class LocatedTasks {
public:
  explicit LocatedTasks(const ModuleFacts &facts) : facts(facts) {}

  /// `op` runs in `task`.
  void add(int task, Operation *op);

  /// Sorted; empty: nobody carries the key.
  SmallVector<int> find(StringRef key) const;
  /// The key by which find() knows what a profiler means by a place, or "". A name with a line must stand on it, unless the
  /// program has exactly this name and no line for it; a line on which no such name stands means all that stands there.
  std::string keyOf(const SourcePlace &place) const;

private:
  struct Located {
    int task;
    SmallVector<std::string> lines; ///< innermost first
  };
  using Ids = SmallVector<int, 2>;
  void addNamed(int task, Operation *op, StringRef scope, ArrayRef<std::string> callLines);
  /// Of `ids`, those that stand on the line.
  Ids onLine(ArrayRef<int> ids, StringRef line, bool innermost) const;
  /// By the longest tail of a name that anyone has, standing on a line if one is given. `tail` is what was found.
  Ids byTail(StringRef name, StringRef line, StringRef &tail) const;
  Ids byLine(StringRef line, bool innermost) const;
  SmallVector<int> tasksOf(ArrayRef<int> ids) const;

  const ModuleFacts &facts;
  std::vector<Located> located;
  llvm::StringMap<Ids> keys;  ///< every position and name
  llvm::StringMap<Ids> names; ///< what operations are called
  llvm::StringMap<Ids> lines; ///< "model.py:12", without folders
};

} // namespace mlir::braid

#endif
