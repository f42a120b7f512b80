//===- UnrollShifted.cpp - loops that hand a token on in the place of another -----------------------------------===//
#include "lowering/UnrollShifted.h"

#include "braid/dialect/BraidOps.h"
#include "lowering/Incoming.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallSet.h"

namespace mlir::braid {

namespace {

constexpr unsigned most = 8;

/// For each place that a loop carries: the places whose tokens it may be after some trips. A new token is in none.
using Places = SmallVector<llvm::SmallSet<unsigned, 4>>;

bool isToken(Value value) { return isa<TokenType>(value.getType()); }

/// The places of the loop that a token may come from within one trip, through what the body nests.
void placesOf(scf::ForOp loop, Value token, llvm::SmallPtrSetImpl<Value> &seen, llvm::SmallSet<unsigned, 4> &places) {
  if (!seen.insert(token).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(token); argument && argument.getOwner() == loop.getBody()) {
    places.insert(argument.getArgNumber() - loop.getNumInductionVars());
    return;
  }
  auto branch = dyn_cast_or_null<RegionBranchOpInterface>(
      isa<BlockArgument>(token) ? token.getParentBlock()->getParentOp() : token.getDefiningOp());
  if (branch && loop->isProperAncestor(branch))
    for (Value value : incomingValues(branch, token))
      placesOf(loop, value, seen, places);
}

Places afterOneTrip(scf::ForOp loop) {
  Places places;
  for (Value value : loop.getYieldedValues()) {
    llvm::SmallSet<unsigned, 4> &from = places.emplace_back();
    llvm::SmallPtrSet<Value, 8> seen;
    if (isToken(value))
      placesOf(loop, value, seen, from);
  }
  return places;
}

bool inPlace(const Places &places) {
  return llvm::all_of(llvm::enumerate(places), [](auto each) {
    return each.value().empty() || (each.value().size() == 1 && each.value().contains(each.index()));
  });
}

/// After how many trips each token is in its place again, or new; 0: not within `most`.
unsigned tripsIntoPlace(scf::ForOp loop) {
  Places one = afterOneTrip(loop), now = one;
  for (unsigned trips = 1; trips <= most; ++trips) {
    if (inPlace(now))
      return trips;
    Places next(now.size());
    for (auto [to, from] : llvm::zip(next, one))
      for (unsigned place : from)
        for (unsigned before : now[place])
          to.insert(before);
    now = std::move(next);
  }
  return 0;
}

/// A loop that makes no trip may end before it begins, which upstream's arithmetic of trips does not expect.
void startNoLaterThanEnd(scf::ForOp loop) {
  if (getConstantIntValue(loop.getLowerBound()) && getConstantIntValue(loop.getUpperBound()))
    return;
  OpBuilder builder(loop);
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  loop.setUpperBound(loop.getUnsignedCmp() ? arith::MaxUIOp::create(builder, loop.getLoc(), lower, upper).getResult()
                                           : arith::MaxSIOp::create(builder, loop.getLoc(), lower, upper).getResult());
}

/// What is left over, `trips` trips at most: branches instead of a loop, which carry nothing.
void branchOff(scf::ForOp loop, unsigned trips) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value place = loop.getLowerBound();
  SmallVector<Value> values(loop.getInitArgs());
  auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  for (unsigned trip = 0; trip < trips; ++trip) {
    if (trip > 0)
      place = arith::AddIOp::create(builder, loc, place, loop.getStep());
    Value isLeft = arith::CmpIOp::create(builder, loc, predicate, place, loop.getUpperBound());
    auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), isLeft, /*withElseRegion=*/true);
    IRMapping map;
    map.map(loop.getInductionVar(), place);
    map.map(loop.getRegionIterArgs(), values);
    OpBuilder inside = OpBuilder::atBlockBegin(branch.thenBlock());
    for (Operation &op : loop.getBody()->getOperations()) // with the yield
      inside.clone(op, map);
    OpBuilder outside = OpBuilder::atBlockBegin(branch.elseBlock());
    scf::YieldOp::create(outside, loc, values);
    values.assign(branch.result_begin(), branch.result_end());
  }
  loop->replaceAllUsesWith(values);
  loop->erase();
}

} // namespace

llvm::DenseSet<Operation *> unrollShiftedTokens(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  SmallVector<scf::WhileOp> counting;
  module.walk([&](scf::WhileOp loop) {
    if (llvm::any_of(loop.getBeforeArguments(), isToken))
      counting.push_back(loop);
  });
  for (scf::WhileOp loop : counting) {
    rewriter.setInsertionPoint(loop);
    (void)scf::upliftWhileToForLoop(rewriter, loop);
  }
  auto carriers = [&] { // inner ones first
    SmallVector<scf::ForOp> loops;
    module.walk([&](scf::ForOp loop) {
      if (llvm::any_of(loop.getRegionIterArgs(), isToken))
        loops.push_back(loop);
    });
    return loops;
  };
  for (scf::ForOp loop : carriers()) {
    unsigned trips = tripsIntoPlace(loop);
    if (trips <= 1)
      continue;
    startNoLaterThanEnd(loop);
    FailureOr<UnrolledLoopInfo> unrolled = loopUnrollByFactor(loop, trips);
    if (succeeded(unrolled) && unrolled->epilogueLoopOp)
      branchOff(*unrolled->epilogueLoopOp, trips - 1);
  }
  llvm::DenseSet<Operation *> left;
  for (scf::ForOp loop : carriers())
    if (tripsIntoPlace(loop) != 1)
      left.insert(loop);
  return left;
}

} // namespace mlir::braid
