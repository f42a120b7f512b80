//===- Fold.cpp - a collective among single ranks is no communication -------------------------------------------===//
//
// Only a collective in which nobody communicates on any rank may fold: what all ranks can see in the attributes alone,
// so all of them fold it or none does. A collective with an unused result is never dropped.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/dialect/BraidOps.h"
#include "braid/dialect/Groups.h"

using namespace mlir;
using namespace mlir::braid;

/// Whether every rank is paired with itself: then nobody is left to get zeros.
static bool isIdentity(PermuteOp permute) {
  ModuleRanks ranks = moduleRanksAround(permute);
  SmallVector<std::pair<int64_t, int64_t>> pairs = permute.getPairList();
  return ranks.stated && int64_t(pairs.size()) == ranks.idsIn(permute.getIdSpace()) &&
         llvm::all_of(pairs, [](auto pair) { return pair.first == pair.second; });
}

bool mlir::braid::isLocalIdentity(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective || TypeRange(collective.getCommOperands()) != TypeRange(collective.getCommResults()))
    return false;
  if (auto permute = dyn_cast<PermuteOp>(op))
    return isIdentity(permute);
  GroupsAttrInterface groups = collective.getGroupsAttr();
  if (!groups || groups.getGroupSize() != 1)
    return false;
  // One replica may still be several ranks.
  if (collective.getIdSpace() != IdSpace::ReplicaAndPartition)
    return true;
  ModuleRanks ranks = moduleRanksAround(op);
  return ranks.stated && ranks.partitions == 1;
}

static LogicalResult foldLocal(Operation *op, SmallVectorImpl<OpFoldResult> &results) {
  // The body of a start must keep its collective; StartOp::canonicalize takes both away.
  if (isa_and_nonnull<StartOp>(op->getParentOp()) || !isLocalIdentity(op))
    return failure();
  llvm::append_range(results, cast<CollectiveOpInterface>(op).getCommOperands());
  return success();
}

LogicalResult AllReduceOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  return foldLocal(*this, results);
}
LogicalResult ReduceScatterOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  return foldLocal(*this, results);
}
LogicalResult AllGatherOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  return foldLocal(*this, results);
}
LogicalResult AllToAllOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  return foldLocal(*this, results);
}
LogicalResult PermuteOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) { return foldLocal(*this, results); }
LogicalResult BroadcastOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  return foldLocal(*this, results);
}
LogicalResult ReduceOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) { return foldLocal(*this, results); }
LogicalResult GatherOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) { return foldLocal(*this, results); }
LogicalResult ScatterOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) { return foldLocal(*this, results); }

LogicalResult StartOp::canonicalize(StartOp op, PatternRewriter &rewriter) {
  CollectiveOpInterface collective = op.getCollective();
  if (!collective || !isLocalIdentity(collective))
    return failure();
  // The token must not escape: every wait has to be seen.
  if (!llvm::all_of(op.getToken().getUsers(), llvm::IsaPred<WaitOp>))
    return failure();
  for (Operation *user : llvm::make_early_inc_range(op.getToken().getUsers()))
    rewriter.replaceOp(user, cast<WaitOp>(user).getInputs().take_front(user->getNumResults()));
  rewriter.eraseOp(op);
  return success();
}
