//===- Simplify.cpp - braid-simplify: collectives that do nothing, and sums of sums -----------------------------===//
//
// Modest on purpose: each rewrite is exact on every rank, except the last, which changes the order of additions and so
// needs `reassociate`.
//===------------------------------------------------------------------------------------------------------------===//
#include "analysis/ModuleFacts.h"
#include "analysis/RankSets.h"
#include "analysis/Remarks.h"
#include "braid/passes/Passes.h"
#include "braid/passes/StablehloOp.h"
#include "mlir/IR/Builders.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDSIMPLIFY
#include "braid/passes/Passes.h.inc"

namespace {

struct Simplify : impl::BraidSimplifyBase<Simplify> {
  using Base::Base;

  void runOnOperation() override {
    RankSets known(readModuleRanks(getOperation()));
    sets = &known;
    SmallVector<CollectiveOpInterface> collectives;
    getOperation()->walk([&](CollectiveOpInterface op) {
      if (isPlannable(op.getCollectiveKind()) && !op->getParentOfType<StartOp>() && !op.getPlanAttr())
        collectives.push_back(op);
    });
    // Backwards, so that a collective that only feeds dropped ones is dropped too.
    SmallVector<CollectiveOpInterface> kept;
    for (CollectiveOpInterface op : llvm::reverse(collectives))
      if (!dropUnread(op))
        kept.push_back(op);
    for (CollectiveOpInterface op : llvm::reverse(kept)) {
      FailureOr<RankSet> set = sets->of(op);
      if (failed(set))
        return signalPassFailure();
      if (dropAlone(op, *set) || dropRepeated(op, *set))
        continue;
      addFirst(op, *set);
    }
    for (Operation *op : erased)
      op->erase();
  }

private:
  void replace(CollectiveOpInterface op, ValueRange values, StringRef name, const Twine &why) {
    remarkPassed(op->getLoc(), getArgumentName(), name, stringifyCollectiveKind(op.getCollectiveKind()) + why);
    op->replaceAllUsesWith(values);
    erased.push_back(op);
  }

  bool dropUnread(CollectiveOpInterface op) {
    if (!op->use_empty())
      return false;
    remarkPassed(op->getLoc(), getArgumentName(), "unread",
                 stringifyCollectiveKind(op.getCollectiveKind()) + " dropped: nobody reads its results");
    op->erase();
    return true;
  }

  /// Groups of one rank each: the result is the operand.
  bool dropAlone(CollectiveOpInterface op, const RankSet &set) {
    bool alone = false;
    if (set.groups->pairs.empty())
      alone = !set.groups->groups.empty() &&
              llvm::all_of(set.groups->groups, [](const std::vector<int> &row) { return row.size() == 1; });
    else // a rank without a source would get zeros, so every rank must send to itself
      alone = llvm::all_of(set.groups->pairs, [](auto pair) { return pair.first == pair.second; }) &&
              int64_t(set.groups->pairs.size()) == readModuleRanks(getOperation()).ranks();
    if (!alone || op->getOperandTypes() != op->getResultTypes())
      return false;
    replace(op, op->getOperands(), "alone", " dropped: each of its groups is one rank");
    return true;
  }

  static bool idempotent(CollectiveOpInterface op) {
    auto kind = op.getReductionKind();
    return op.getCollectiveKind() == CollectiveKind::AllReduce && kind &&
           llvm::is_contained({ReductionKind::Min, ReductionKind::Max, ReductionKind::And, ReductionKind::Or}, *kind);
  }

  /// max(max(x)) over the same ranks, whatever made them equal before.
  bool dropRepeated(CollectiveOpInterface op, const RankSet &set) {
    if (!idempotent(op))
      return false;
    for (Value operand : op.getCommOperands()) {
      auto inner = operand.getDefiningOp<CollectiveOpInterface>();
      bool equalBefore =
          inner && llvm::is_contained({CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::Broadcast},
                                      inner.getCollectiveKind());
      if (!equalBefore)
        return false;
      FailureOr<RankSet> innerSet = sets->of(inner);
      if (failed(innerSet) || innerSet->meaning != set.meaning)
        return false;
    }
    replace(op, op.getCommOperands(), "repeated", " dropped: its operands are equal on all ranks of the group already");
    return true;
  }

  /// all_reduce(x) + all_reduce(y) -> all_reduce(x + y), where the source allows another order of additions.
  void addFirst(CollectiveOpInterface op, const RankSet &set) {
    auto reduce = dyn_cast<AllReduceOp>(op.getOperation());
    if (!reduce || !reduce.getReassociate() || reduce.getReduction() != ReductionKind::Sum ||
        reduce->getNumResults() != 1)
      return;
    Value result = reduce->getResult(0);
    if (!result.hasOneUse())
      return;
    Operation *add = *result.getUsers().begin();
    StringRef name = add->getName().getStringRef();
    if (name != "stablehlo.add" && name != "mhlo.add")
      return;
    Value otherValue = add->getOperand(0) == result ? add->getOperand(1) : add->getOperand(0);
    auto other = otherValue.getDefiningOp<AllReduceOp>();
    if (!other || other == reduce || !other.getReassociate() || other.getPlanAttr() || !otherValue.hasOneUse() ||
        other->getNumResults() != 1 || other.getReduction() != ReductionKind::Sum ||
        add->getBlock() != reduce->getBlock() || other->getBlock() != reduce->getBlock() ||
        other.getAccumulateAttr() != reduce.getAccumulateAttr() ||
        other.getChannelId().has_value() != reduce.getChannelId().has_value() ||
        other->getDiscardableAttr(BraidDialect::getGroupKeyAttrName()) !=
            reduce->getDiscardableAttr(BraidDialect::getGroupKeyAttrName()) ||
        llvm::is_contained(erased, other.getOperation()))
      return;
    FailureOr<RankSet> otherSet = sets->of(CollectiveOpInterface(other));
    if (failed(otherSet) || otherSet->meaning != set.meaning)
      return;
    // The later of the two stays, behind an addition of the operands; the old addition goes.
    AllReduceOp later = reduce->isBeforeInBlock(other) ? other : reduce;
    AllReduceOp earlier = later == reduce ? other : reduce;
    remarkPassed(later->getLoc(), getArgumentName(), "reassociate",
                 "two all_reduces that are added became one of the sum, with the one at " + locationOf(earlier));
    OpBuilder builder(later);
    Operation *sum = builder.clone(*add);
    sum->setOperands({add->getOperand(0) == earlier->getResult(0) ? earlier->getOperand(0) : later->getOperand(0),
                      add->getOperand(0) == earlier->getResult(0) ? later->getOperand(0) : earlier->getOperand(0)});
    later->setOperand(0, sum->getResult(0));
    add->getResult(0).replaceAllUsesWith(later->getResult(0));
    add->erase();
    erased.push_back(earlier);
  }

  static std::string locationOf(Operation *op) {
    std::string text;
    llvm::raw_string_ostream(text) << op->getLoc();
    return text;
  }

  RankSets *sets = nullptr;
  SmallVector<Operation *> erased;
};

} // namespace
} // namespace mlir::braid
