//===- CarriedTokens.cpp - tokens that loops and branches pass on -----------------------------------------------===//
#include "lowering/CarriedTokens.h"

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

LogicalResult CarriedTokens::follow(StartOp start) {
  SmallVector<Type> inFlight;
  if (!isInPlace(start.getCollective()))
    llvm::append_range(inFlight, start.getCollective().getCommOperands().getTypes());
  llvm::append_range(inFlight, start.getYield().getOperandTypes());
  SmallVector<Value> work = {start.getToken()};
  types[start.getToken()] = inFlight;
  while (!work.empty()) {
    Value token = work.pop_back_val();
    for (OpOperand &use : token.getUses()) {
      if (isa<WaitOp>(use.getOwner()))
        continue;
      SmallVector<Value> next;
      if (failed(passOn(use, next))) {
        auto diagnostic = start.emitOpError(
            "token, expected to be waited for, or passed on by scf.for, scf.while and scf.if, got another use");
        diagnostic.attachNote(use.getOwner()->getLoc())
            << "see " << use.getOwner()->getName() << ": inline the function, or wait before it";
        return diagnostic;
      }
      for (Value to : next) {
        auto [entry, isNew] = types.try_emplace(to, inFlight);
        if (isNew) {
          work.push_back(to);
        } else if (entry->second != inFlight) {
          auto diagnostic =
              start.emitOpError("token, expected to meet only tokens of collectives with the same tensors in flight, ")
              << inFlight << ", got " << entry->second;
          diagnostic.attachNote(to.getLoc()) << "they meet here";
          return diagnostic;
        }
      }
    }
  }
  return success();
}

LogicalResult CarriedTokens::extend(ModuleOp module) {
  SmallVector<StartOp> starts;
  module.walk([&](StartOp start) {
    if (!llvm::all_of(start.getToken().getUsers(), llvm::IsaPred<WaitOp>))
      starts.push_back(start);
  });
  for (StartOp start : starts)
    if (failed(follow(start)))
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
  for (auto &[index, result] : tokens)
    types[extended.getRegionIterArg(index)] = types[extended.getResult(index)] = result;
  record(ValueRange(extended.getRegionIterArgs()).take_front(before),
         ValueRange(extended.getRegionIterArgs()).drop_front(before));
  record(extended.getResults().take_front(before), extended.getResults().drop_front(before));
}

static void addTo(Operation *terminator, ArrayRef<Value> values) {
  terminator->insertOperands(terminator->getNumOperands(), values);
}

void CarriedTokens::extend(scf::IfOp branch) {
  OpBuilder builder(branch);
  SmallVector<Type> all(branch.getResultTypes());
  for (auto &[index, result] : tokensAmong(branch.getResults()))
    llvm::append_range(all, result);
  auto extended = scf::IfOp::create(builder, branch.getLoc(), all, branch.getCondition(), /*withElseRegion=*/true);
  extended->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  extended.getThenRegion().takeBody(branch.getThenRegion());
  extended.getElseRegion().takeBody(branch.getElseRegion());
  for (scf::YieldOp yield : {extended.thenYield(), extended.elseYield()}) {
    OpBuilder inside(yield);
    addTo(yield, allStandIns(inside, yield.getLoc(), yield.getOperands()));
  }
  unsigned before = branch.getNumResults();
  for (auto &[index, result] : tokensAmong(branch.getResults()))
    types[extended.getResult(index)] = result;
  branch.replaceAllUsesWith(extended.getResults().take_front(before));
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
  llvm::append_range(inFlight, launch.getInputs());
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

} // namespace mlir::braid
