//===- LocatedTasks.cpp - from keys of profiles to tasks --------------------------------------------------------===//
#include "analysis/LocatedTasks.h"

#include "llvm/ADT/StringExtras.h"

namespace mlir::braid {

/// What an operation itself is called: not the functions that call sites name.
static void ownNames(Location location, SmallVectorImpl<std::string> &names) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    SmallVector<StringRef> merged; // XLA's: "a;b"
    name.getName().getValue().split(merged, ';', -1, /*KeepEmpty=*/false);
    names.append(merged.begin(), merged.end());
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      ownNames(part, names);
  } else if (auto opaque = dyn_cast<OpaqueLoc>(location)) {
    ownNames(opaque.getFallbackLocation(), names);
  }
}

static bool isLine(StringRef text) {
  auto [file, line] = text.rsplit(':');
  return !file.empty() && !line.empty() && llvm::all_of(line, llvm::isDigit) && !file.contains(" at ");
}

static StringRef withoutFolders(StringRef path) { return path.substr(path.rfind('/') + 1); }

/// One path is the end of the other.
static bool samePath(StringRef a, StringRef b) {
  if (a.size() < b.size())
    std::swap(a, b);
  return a == b || (a.ends_with(b) && (b.starts_with("/") || a[a.size() - b.size() - 1] == '/'));
}

void LocatedTasks::add(int task, Operation *op) { addNamed(task, op, "", {}); }

void LocatedTasks::addNamed(int task, Operation *root, StringRef scope, ArrayRef<std::string> callLines) {
  root->walk([&](Operation *op) {
    Located one{task, {}};
    int id = int(located.size());
    for (const std::string &key : locationKeys(op->getLoc())) {
      keys[key].push_back(id);
      auto [line, column] = StringRef(key).rsplit(':');
      if (isLine(key) && isLine(line) && !llvm::is_contained(one.lines, line))
        one.lines.push_back(line.str());
    }
    if (one.lines.empty()) // JAX drops them inside of functions that it shares
      one.lines.append(callLines.begin(), callLines.end());
    for (const std::string &line : one.lines)
      lines[withoutFolders(line)].push_back(id);
    SmallVector<std::string> own;
    ownNames(op->getLoc(), own);
    for (std::string &name : own) {
      if (!scope.empty())
        name = (scope + "/" + name).str();
      names[name].push_back(id);
    }
    located.push_back(one);
    // Functions that communicate are blocks of their own, with tasks of their own.
    if (FunctionOpInterface callee = facts.calleeOf(op);
        callee && !callee.isExternal() && !facts.communicates(op) && scope.count('/') < 64)
      for (Operation &inner : callee.getFunctionBody().getOps())
        addNamed(task, &inner, own.empty() ? scope : StringRef(own.front()), one.lines);
  });
}

LocatedTasks::Ids LocatedTasks::onLine(ArrayRef<int> ids, StringRef line, bool innermost) const {
  Ids found;
  for (int id : ids) {
    ArrayRef<std::string> mine = located[id].lines;
    if (llvm::any_of(innermost ? mine.take_front() : mine, [&](StringRef l) { return samePath(l, line); }))
      found.push_back(id);
  }
  return found;
}

LocatedTasks::Ids LocatedTasks::byLine(StringRef line, bool innermost) const {
  auto at = lines.find(withoutFolders(line));
  return at == lines.end() ? Ids() : onLine(at->second, line, innermost);
}

LocatedTasks::Ids LocatedTasks::byTail(StringRef name, StringRef line, StringRef &tail) const {
  for (tail = name;; tail = tail.substr(tail.find('/') + 1)) {
    if (auto at = names.find(tail); at != names.end()) {
      Ids ids = line.empty() ? at->second : onLine(at->second, line, /*innermost=*/true);
      if (!ids.empty())
        return ids;
    }
    if (!tail.contains('/'))
      return {};
  }
}

SmallVector<int> LocatedTasks::tasksOf(ArrayRef<int> ids) const {
  SmallVector<int> tasks;
  for (int id : ids)
    tasks.push_back(located[id].task);
  llvm::sort(tasks);
  tasks.erase(llvm::unique(tasks), tasks.end());
  return tasks;
}

SmallVector<int> LocatedTasks::find(StringRef key) const {
  if (auto exact = keys.find(key); exact != keys.end())
    return tasksOf(exact->second);
  StringRef tail;
  if (auto [name, line] = key.rsplit(" at "); isLine(line))
    return tasksOf(byTail(name, line, tail));
  if (!isLine(key))
    return tasksOf(byTail(key, "", tail));
  Ids ids = byLine(key, /*innermost=*/true);
  return tasksOf(ids.empty() ? byLine(key, /*innermost=*/false) : ids);
}

std::string LocatedTasks::keyOf(const SourcePlace &place) const {
  StringRef tail;
  SmallVector<StringRef> merged;
  StringRef(place.name).split(merged, ';', -1, /*KeepEmpty=*/false);
  for (StringRef name : merged)
    if (Ids ids = byTail(name, place.line, tail); !ids.empty())
      return place.line.empty() ? tail.str() : (tail + " at " + located[ids.front()].lines.front()).str();
  for (StringRef name : merged)
    if (auto at = names.find(name); at != names.end())
      if (llvm::all_of(at->second, [&](int id) { return located[id].lines.empty(); }))
        return name.str();
  if (place.line.empty())
    return "";
  Ids ids = byLine(place.line, /*innermost=*/true);
  return ids.empty() ? "" : located[ids.front()].lines.front();
}

} // namespace mlir::braid
