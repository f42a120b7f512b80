//===- IssueOrder.cpp - the order of collectives as hashes ------------------------------------------------------===//
#include "analysis/IssueOrder.h"

#include "analysis/LoopTrips.h"
#include "analysis/ModuleRanks.h"
#include "analysis/RankSets.h"
#include "braid/dialect/BraidOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"

namespace mlir::braid {

static std::string hashOf(StringRef text) {
  std::string hex;
  llvm::raw_string_ostream(hex) << llvm::format_hex_no_prefix(llvm::xxh3_64bits(text), 16);
  return hex;
}

static std::string communicatorOf(CollectiveOpInterface op, int64_t ranks) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << stringifyIdSpace(op.getIdSpace()) << ';';
  if (auto permute = dyn_cast<PermuteOp>(op.getOperation())) {
    auto pairs = permute.getPairList();
    for (auto [source, target] : pairs)
      os << source << '>' << target << ',';
    return "pairs" + std::to_string(pairs.size()) + "-" + hashOf(text).substr(0, 8);
  }
  SmallVector<SmallVector<int64_t>> rows;
  GroupsAttrInterface groups = op.getGroupsAttr();
  if (!groups)
    return "messages"; // each concerns two ranks only
  groups.expand(rows);
  if (rows.empty()) { // one group of all
    rows.emplace_back();
    for (int64_t rank = 0; rank < ranks; ++rank)
      rows.back().push_back(rank);
  }
  if (!orderMatters(op.getCollectiveKind()))
    for (SmallVector<int64_t> &row : rows)
      llvm::sort(row);
  llvm::sort(rows);
  size_t largest = 0;
  for (ArrayRef<int64_t> row : rows) {
    llvm::interleave(row, os, ",");
    os << '|';
    largest = std::max(largest, row.size());
  }
  return std::to_string(rows.size()) + "x" + std::to_string(largest) + "-" + hashOf(text).substr(0, 8);
}

namespace {

struct Walker {
  int64_t ranks;
  std::string all;
  std::map<std::string, std::string> texts;
  IssueOrder order;
  llvm::DenseMap<std::pair<Attribute, int>, std::string> communicators; ///< by groups and whether order matters

  /// Collectives of `op` and its regions in text order. Loops and calls, which decide how often something is issued,
  /// are marked in the hash over everything.
  void visit(Operation *op) {
    if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      record(collective);
      return;
    }
    bool loop = isLoop(op) && op->getNumRegions();
    if (loop)
      mark("loop " + std::to_string(loopTrips(op).value_or(-1)) + "{");
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          visit(&inner);
    if (loop)
      mark("}");
    if (auto call = dyn_cast<CallOpInterface>(op))
      if (auto symbol = dyn_cast<SymbolRefAttr>(call.getCallableForCallee()))
        mark("call " + symbol.getLeafReference().str() + ";");
  }

  void mark(const std::string &text) { all += text; }

  void record(CollectiveOpInterface op) {
    Attribute key = op.getGroupsAttr();
    std::string communicator;
    if (key && op.getIdSpace() == IdSpace::Flattened) {
      auto [it, inserted] = communicators.try_emplace({key, int(orderMatters(op.getCollectiveKind()))});
      if (inserted)
        it->second = communicatorOf(op, ranks);
      communicator = it->second;
    } else {
      communicator = communicatorOf(op, ranks);
    }
    std::string text;
    llvm::raw_string_ostream os(text);
    os << stringifyCollectiveKind(op.getCollectiveKind()) << ',';
    for (Value operand : op.getCommOperands())
      os << operand.getType() << ',';
    os << op.getOperandBytes().value_or(-1) << ',' << communicator << ',';
    for (StringRef name : {"peer", "tag"})
      if (auto number = op->getAttrOfType<IntegerAttr>(name))
        os << name << number.getInt() << ',';
    if (PlanAttr plan = op.getPlanAttr())
      os << plan.getAlgorithm() << '/' << plan.getProtocol() << '/' << plan.getChunks()
         << (plan.getPath().empty() ? "" : "/") << plan.getPath();
    os << ';';
    all += text;
    texts[communicator] += text;
    ++order.collectives;
  }
};

} // namespace

IssueOrder issueOrder(ModuleOp module) {
  Walker walker;
  walker.ranks = readModuleRanks(module).ranks();
  walker.visit(module);
  walker.order.all = hashOf(walker.all);
  for (auto &[communicator, text] : walker.texts)
    walker.order.communicators[communicator] = hashOf(text);
  return std::move(walker.order);
}

} // namespace mlir::braid
