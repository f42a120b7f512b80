//===- CarriedTokens.cpp - tokens that loops and branches pass on -----------------------------------------------===//
#include "lowering/CarriedTokens.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::braid {

//===------------------------------------------------------------------------------------------------------------===//
// Where tokens go
//===------------------------------------------------------------------------------------------------------------===//

/// The values that a use hands its token to: arguments of regions, results.
LogicalResult CarriedTokens::passOn(OpOperand &use, SmallVectorImpl<Value> &to) {
  Operation *op = use.getOwner();
  auto give = [&](ValueRange operands, RegionSuccessor successor) {
    for (auto [operand, input] : llvm::zip(operands, successor.getSuccessorInputs()))
      if (operand == use.get() && isa<TokenType>(input.getType()))
        to.push_back(input);
  };
  SmallVector<RegionSuccessor> successors;
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op)) {
    auto branch = cast<RegionBranchOpInterface>(op);
    branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    for (RegionSuccessor successor : successors)
      give(branch.getEntrySuccessorOperands(successor), successor);
  } else if (isa<scf::YieldOp, scf::ConditionOp>(op) && isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op->getParentOp())) {
    auto terminator = cast<RegionBranchTerminatorOpInterface>(op);
    terminator.getSuccessorRegions(SmallVector<Attribute>(op->getNumOperands()), successors);
    for (RegionSuccessor successor : successors)
      give(terminator.getSuccessorOperands(successor), successor);
  } else {
    return failure();
  }
  return success();
}

/// How a collective in flight is told in an error: all_reduce of tensor<4xf32>
static std::string describe(StartOp start) {
  CollectiveOpInterface collective = start.getCollective();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << stringifyCollectiveKind(collective.getCollectiveKind()) << " of ";
  llvm::interleaveComma(collective.getCommOperands().getTypes(), os);
  return text;
}

/// Where tokens of several collectives may be one, so are the tensors in flight beside them.
LogicalResult CarriedTokens::meet(StartOp start, Value to) {
  StartOp other = starts.lookup(to);
  if (types.lookup(to) == types.lookup(start.getToken()) &&
      start.getYield().getNumOperands() == other.getYield().getNumOperands())
    return success();
  auto diagnostic =
      start.emitOpError("token, expected to meet only tokens of collectives with the same tensors in flight, got ")
      << describe(start) << ", which meets " << describe(other)
      << ": wait for one of them before, or carry their tokens apart";
  diagnostic.attachNote(other.getLoc()) << "the other collective is started here";
  diagnostic.attachNote(to.getLoc()) << "they meet here";
  return diagnostic;
}

LogicalResult CarriedTokens::follow(StartOp start, SmallVectorImpl<Value> &reached) {
  reached.push_back(start.getToken());
  bool byBuffers = false;
  for (size_t index = 0; index < reached.size(); ++index)
    for (OpOperand &use : reached[index].getUses()) {
      if (auto wait = dyn_cast<WaitOp>(use.getOwner())) {
        if (wait.getResultTypes() == start.getYield().getOperandTypes())
          continue;
        auto diagnostic = wait.emitOpError("results, expected the types of the collective's results: ")
                          << start.getYield().getOperandTypes() << ", got " << wait.getResultTypes();
        diagnostic.attachNote(start.getLoc()) << "the start is here";
        return diagnostic;
      }
      SmallVector<Value> next;
      if (failed(passOn(use, next))) {
        auto diagnostic =
            start.emitOpError("token, expected to be waited for, or passed on by scf.for, scf.while and scf.if, "
                              "got another use");
        diagnostic.attachNote(use.getOwner()->getLoc())
            << "see " << use.getOwner()->getName() << ": inline the function, or wait before it";
        return diagnostic;
      }
      Operation *user = use.getOwner();
      Operation *carrier = user->hasTrait<OpTrait::IsTerminator>() ? user->getParentOp() : user;
      byBuffers |= isa<scf::WhileOp>(carrier) || shifting.contains(carrier);
      for (Value to : next)
        if (!llvm::is_contained(reached, to))
          reached.push_back(to);
    }
  if (byBuffers)
    carriedByBuffers.insert(start);
  return success();
}

LogicalResult CarriedTokens::decideTypes(StartOp start, ArrayRef<Value> reached) {
  SmallVector<Type> inFlight;
  if (!isInPlace(start.getCollective()))
    llvm::append_range(inFlight, start.getCollective().getCommOperands().getTypes());
  llvm::append_range(inFlight, start.getYield().getOperandTypes());
  if (carriedByBuffers.contains(start))
    for (Type &type : inFlight)
      type = bufferOf(type);
  types[start.getToken()] = inFlight;
  starts[start.getToken()] = start;
  for (Value to : reached.drop_front()) {
    if (types.try_emplace(to, inFlight).second)
      starts[to] = start;
    else if (failed(meet(start, to)))
      return failure();
  }
  return success();
}

LogicalResult CarriedTokens::extend(ModuleOp module, llvm::DenseSet<Operation *> shiftingLoops) {
  shifting = std::move(shiftingLoops);
  SmallVector<StartOp> all;
  module.walk([&](StartOp start) {
    if (!llvm::all_of(start.getToken().getUsers(), llvm::IsaPred<WaitOp>))
      all.push_back(start);
  });
  std::vector<SmallVector<Value>> reached(all.size());
  for (auto [start, values] : llvm::zip(all, reached))
    if (failed(follow(start, values)))
      return failure();
  // What goes along with one goes along with all that it meets.
  llvm::DenseSet<Value> byBuffers;
  for (size_t before = ~size_t(0); before != byBuffers.size();) {
    before = byBuffers.size();
    for (auto [start, values] : llvm::zip(all, reached)) {
      if (llvm::any_of(values, [&](Value value) { return byBuffers.contains(value); }))
        carriedByBuffers.insert(start);
      if (carriedByBuffers.contains(start))
        byBuffers.insert(values.begin(), values.end());
    }
  }
  for (auto [start, values] : llvm::zip(all, reached))
    if (failed(decideTypes(start, values)))
      return failure();
  bool foreign =
      module
          .walk([&](WaitOp wait) {
            if (wait.getStart() || types.contains(wait.getToken()))
              return WalkResult::advance();
            wait.emitOpError("token, expected that of a braid.start in this function, got one from a caller: "
                             "inline the function, or wait where the collective was started");
            return WalkResult::interrupt();
          })
          .wasInterrupted();
  if (foreign)
    return failure();
  // Outer ones first: then what an inner one is given is there.
  SmallVector<Operation *> carriers;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto isToken = [&](Value value) { return types.contains(value); };
    bool inside = isa<scf::WhileOp>(op) && llvm::any_of(cast<scf::WhileOp>(op).getBeforeArguments(), isToken);
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op) && (inside || llvm::any_of(op->getResults(), isToken)))
      carriers.push_back(op);
  });
  for (Operation *op : carriers) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      extend(loop);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      extend(loop);
    else
      extend(cast<scf::IfOp>(op));
  }
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// Loops and branches
//===------------------------------------------------------------------------------------------------------------===//

SmallVector<std::pair<unsigned, SmallVector<Type>>> CarriedTokens::tokensAmong(ValueRange values) {
  SmallVector<std::pair<unsigned, SmallVector<Type>>> found;
  for (auto [index, value] : llvm::enumerate(values))
    if (auto entry = types.find(value); isa<TokenType>(value.getType()) && entry != types.end())
      found.push_back({index, entry->second});
  return found;
}

/// For all tokens among the values, one after another.
SmallVector<Value> CarriedTokens::allStandIns(OpBuilder &builder, Location loc, ValueRange values) {
  SmallVector<Value> all;
  for (Value value : values)
    if (isa<TokenType>(value.getType()))
      llvm::append_range(all, standIns(builder, loc, value));
  return all;
}

/// The tensors in flight of the tokens among the values are `added`, one after another.
void CarriedTokens::record(ValueRange values, ValueRange added) {
  for (Value value : values)
    if (isa<TokenType>(value.getType())) {
      size_t count = types.find(value)->second.size();
      known[value] = llvm::to_vector(added.take_front(count));
      added = added.drop_front(count);
    }
}

void CarriedTokens::extend(scf::ForOp loop) {
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  auto tokens = tokensAmong(loop.getResults());
  unsigned before = loop.getNumResults();
  SmallVector<Value> inits = allStandIns(rewriter, loop.getLoc(), loop.getInitArgs());
  auto yields = [&](OpBuilder &builder, Location loc, ArrayRef<BlockArgument>) {
    auto yield = cast<scf::YieldOp>(builder.getInsertionBlock()->getTerminator());
    return allStandIns(builder, loc, yield.getOperands());
  };
  auto extended = cast<scf::ForOp>(
      *loop.replaceWithAdditionalYields(rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, yields));
  for (auto &[index, result] : tokens) {
    types[extended.getRegionIterArg(index)] = result;
    types[extended.getResult(index)] = result;
  }
  record(ValueRange(extended.getRegionIterArgs()).take_front(before),
         ValueRange(extended.getRegionIterArgs()).drop_front(before));
  record(extended.getResults().take_front(before), extended.getResults().drop_front(before));
}

static void addTo(Operation *terminator, ArrayRef<Value> values) {
  terminator->insertOperands(terminator->getNumOperands(), values);
}

/// A switch of two sides: where both sides of an `if` yield what is defined outside, canonicalization makes a select of it, which
/// tells nobody that one token goes on in the place of the other.
void CarriedTokens::extend(scf::IfOp branch) {
  OpBuilder builder(branch);
  Value side = arith::IndexCastUIOp::create(builder, branch.getLoc(), builder.getIndexType(), branch.getCondition());
  auto sides =
      scf::IndexSwitchOp::create(builder, branch.getLoc(), branch.getResultTypes(), side, ArrayRef<int64_t>{1}, 1);
  sides->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  sides.getCaseRegions().front().takeBody(branch.getThenRegion());
  sides.getDefaultRegion().takeBody(branch.getElseRegion());
  for (auto [result, replacement] : llvm::zip(branch.getResults(), sides.getResults()))
    if (auto known = types.find(result); known != types.end())
      types[replacement] = SmallVector<Type>(known->second);
  branch.replaceAllUsesWith(sides.getResults());
  branch.erase();
  extend(sides);
}

void CarriedTokens::extend(scf::IndexSwitchOp branch) {
  OpBuilder builder(branch);
  SmallVector<Type> all(branch.getResultTypes());
  for (auto &[index, result] : tokensAmong(branch.getResults()))
    llvm::append_range(all, result);
  auto extended = scf::IndexSwitchOp::create(builder, branch.getLoc(), all, branch.getArg(), branch.getCases(),
                                             branch.getNumCases());
  extended->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  for (auto [to, from] : llvm::zip(extended->getRegions(), branch->getRegions())) {
    to.takeBody(from);
    auto yield = cast<scf::YieldOp>(to.front().getTerminator());
    OpBuilder inside(yield);
    addTo(yield, allStandIns(inside, yield.getLoc(), yield.getOperands()));
  }
  unsigned before = branch.getNumResults();
  for (auto &[index, result] : tokensAmong(branch.getResults()))
    types[extended.getResult(index)] = result;
  branch.replaceAllUsesWith(extended.getResults().take_front(before));
  switches.push_back({extended, before});
  record(extended.getResults().take_front(before), extended.getResults().drop_front(before));
  branch.erase();
}

void CarriedTokens::extend(scf::WhileOp loop) {
  OpBuilder builder(loop);
  unsigned before = loop.getBeforeArguments().size(), after = loop.getNumResults();
  SmallVector<Value> inits(loop.getInits());
  llvm::append_range(inits, allStandIns(builder, loop.getLoc(), loop.getInits()));
  SmallVector<Type> all(loop.getResultTypes());
  for (auto &[index, result] : tokensAmong(loop.getResults()))
    llvm::append_range(all, result);
  auto extended = scf::WhileOp::create(builder, loop.getLoc(), all, inits);
  extended->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  extended.getBefore().takeBody(loop.getBefore());
  extended.getAfter().takeBody(loop.getAfter());
  auto addArguments = [&](Block &block, unsigned count) {
    SmallVector<Type> added;
    for (auto &[index, result] : tokensAmong(ValueRange(block.getArguments())))
      llvm::append_range(added, result);
    for (Type type : added)
      block.addArgument(type, loop.getLoc());
    record(ValueRange(block.getArguments()).take_front(count), ValueRange(block.getArguments()).drop_front(count));
  };
  addArguments(extended.getBefore().front(), before);
  addArguments(extended.getAfter().front(), after);
  scf::ConditionOp condition = extended.getConditionOp();
  OpBuilder atCondition(condition);
  addTo(condition, allStandIns(atCondition, condition.getLoc(), condition.getArgs()));
  scf::YieldOp yield = extended.getYieldOp();
  OpBuilder atYield(yield);
  addTo(yield, allStandIns(atYield, yield.getLoc(), yield.getOperands()));
  for (auto &[index, result] : tokensAmong(loop.getResults()))
    types[extended.getResult(index)] = result;
  loop.replaceAllUsesWith(extended.getResults().take_front(after));
  record(extended.getResults().take_front(after), extended.getResults().drop_front(after));
  loop.erase();
}

//===------------------------------------------------------------------------------------------------------------===//
// Tensors in flight
//===------------------------------------------------------------------------------------------------------------===//

ValueRange CarriedTokens::standIns(OpBuilder &builder, Location loc, Value token) {
  auto cast = UnrealizedConversionCastOp::create(builder, loc, types.find(token)->second, token);
  casts.push_back(cast);
  return cast.getResults();
}

void CarriedTokens::launched(StartOp start, LaunchOp launch) {
  SmallVector<Value> &inFlight = known[launch.getToken()];
  inFlight.clear(); // of an operation that was at this address before
  llvm::append_range(inFlight, launch.getInputs());
  if (carriedByBuffers.contains(start))
    llvm::append_range(inFlight, launch.getInits());
  else
    llvm::append_range(inFlight, launch.getResults());
  types[launch.getToken()] = llvm::to_vector(ValueRange(inFlight).getTypes());
  start.getToken().replaceAllUsesWith(launch.getToken());
}

void CarriedTokens::resolve() {
  for (UnrealizedConversionCastOp cast : casts) {
    cast.replaceAllUsesWith(known.find(cast.getInputs().front())->second);
    cast.erase();
  }
  casts.clear();
}

void CarriedTokens::separateResults() {
  for (auto &[branch, own] : switches)
    for (OpResult result : branch.getResults().take_front(own)) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || result.use_empty())
        continue;
      for (Region &side : branch->getRegions()) {
        OpOperand &yielded = side.front().getTerminator()->getOpOperand(result.getResultNumber());
        OpBuilder builder(yielded.getOwner());
        yielded.set(bufferization::AllocTensorOp::create(builder, branch.getLoc(), type, ValueRange(), yielded.get()));
      }
    }
}

} // namespace mlir::braid
