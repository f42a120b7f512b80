//===- FusedKernels.cpp - levels, connected components, a topological order -------------------------------------===//
#include "analysis/FusedKernels.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include <queue>

namespace mlir::braid {

void forEachValueRead(Operation *op, llvm::function_ref<void(Value)> visit) {
  for (Value operand : op->getOperands())
    visit(operand);
  if (op->getNumRegions() == 0 || op->hasTrait<OpTrait::IsIsolatedFromAbove>())
    return;
  op->walk([&](Operation *inner) {
    if (inner == op)
      return;
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        visit(operand);
  });
}

namespace {

struct Grouping {
  Grouping(Block &block, ModuleFacts &facts) : block(block), facts(facts) {}

  Block &block;
  ModuleFacts &facts;
  llvm::DenseMap<Operation *, int> position, level;
  std::vector<Operation *> ops;
  std::vector<int> parent; // union-find over positions

  int find(int index) {
    while (parent[index] != index)
      index = parent[index] = parent[parent[index]];
    return index;
  }

  /// The operation of this block that defines `value`, unless it is free.
  Operation *source(Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == &block && facts.classify(op) != OpClass::Free ? op : nullptr;
  }

  void levels() {
    int base = 0, highest = 0;
    for (Operation &op : bodyOf(block)) {
      OpClass kind = facts.classify(&op);
      if (kind == OpClass::Free)
        continue;
      position[&op] = int(ops.size());
      ops.push_back(&op);
      parent.push_back(int(parent.size()));
      bool fusible = kind == OpClass::Fusible;
      int own = base;
      forEachValueRead(&op, [&](Value value) {
        if (Operation *from = source(value))
          own = std::max(own, level[from] + (fusible && facts.classify(from) == OpClass::Fusible ? 0 : 1));
      });
      bool stops = facts.stopsCollectives(&op);
      if (stops)
        own = highest + 1;
      level[&op] = own;
      highest = std::max(highest, own);
      if (stops)
        base = highest + 1;
    }
  }

  void connect() {
    for (Operation *op : ops) {
      if (facts.classify(op) != OpClass::Fusible)
        continue;
      forEachValueRead(op, [&](Value value) {
        Operation *from = source(value);
        if (from && facts.classify(from) == OpClass::Fusible && level[from] == level[op])
          parent[find(position[op])] = find(position[from]);
      });
    }
  }
};

} // namespace

std::string nameOf(const Unit &unit) {
  Operation *first = unit.ops.front();
  std::string what =
      unit.ops.size() == 1 ? first->getName().stripDialect().str() : std::to_string(unit.ops.size()) + " fused";
  return what + " at " + locationText(first->getLoc());
}

BlockUnits groupOperations(Block &block, ModuleFacts &facts) {
  Grouping grouping(block, facts);
  grouping.levels();
  grouping.connect();

  // Units in the order of their first operation, then their edges.
  std::vector<Unit> units;
  std::vector<int> segment; // counts barriers before
  llvm::DenseMap<int, int> unitOfRoot;
  std::vector<int> unitAt(grouping.ops.size());
  int barriers = 0;
  for (auto [index, op] : llvm::enumerate(grouping.ops)) {
    OpClass kind = facts.classify(op);
    auto [it, inserted] = unitOfRoot.try_emplace(grouping.find(int(index)), int(units.size()));
    if (inserted) {
      units.emplace_back();
      units.back().kind = kind;
      segment.push_back(facts.stopsCollectives(op) ? 2 * barriers++ + 1 : 2 * barriers);
    }
    unitAt[index] = it->second;
    units[it->second].ops.push_back(op);
  }
  std::vector<SmallVector<int>> readers(units.size());
  std::vector<int> missing(units.size(), 0);
  for (size_t index = 0; index < units.size(); ++index) {
    Unit &unit = units[index];
    for (Operation *op : unit.ops)
      forEachValueRead(op, [&](Value value) {
        if (Operation *from = grouping.source(value))
          if (int source = unitAt[grouping.position[from]]; source != int(index))
            unit.operands.push_back(source);
      });
    llvm::sort(unit.operands);
    unit.operands.erase(llvm::unique(unit.operands), unit.operands.end());
    for (int source : unit.operands)
      readers[source].push_back(int(index));
    missing[index] = int(unit.operands.size());
  }

  // Kahn's algorithm; of the ready ones the first in program order goes first. A unit's operands are never behind a
  // later barrier, so one of the earliest segment is always ready.
  using Key = std::pair<int, int>;
  std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
  for (size_t index = 0; index < units.size(); ++index)
    if (missing[index] == 0)
      ready.emplace(segment[index], int(index));
  BlockUnits result;
  std::vector<int> newIndex(units.size());
  while (!ready.empty()) {
    int index = ready.top().second;
    ready.pop();
    newIndex[index] = int(result.units.size());
    Unit unit = units[index];
    for (int &source : unit.operands)
      source = newIndex[source];
    llvm::sort(unit.operands);
    for (Operation *op : unit.ops)
      result.unitOf[op] = newIndex[index];
    result.units.push_back(std::move(unit));
    for (int reader : readers[index])
      if (--missing[reader] == 0)
        ready.emplace(segment[reader], reader);
  }
  return result;
}

} // namespace mlir::braid
