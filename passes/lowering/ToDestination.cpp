//===- ToDestination.cpp - collectives with destinations --------------------------------------------------------===//
//
// Collective, start and wait -> launch and finish. One pass for all kinds; what differs between them is the size of a
// destination and which attributes they have.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/dialect/BraidOps.h"
#include "braid/dialect/Groups.h"
#include "braid/passes/Passes.h"
#include "lowering/CarriedTokens.h"
#include "lowering/Incoming.h"
#include "lowering/UnrollShifted.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::braid {

#define GEN_PASS_DEF_BRAIDTODESTINATION
#include "braid/passes/Passes.h.inc"

namespace {

class Converter {
public:
  /// `collective` with these operands in place of its own; `last` is the operation after which its results exist.
  /// `carried`: that is not known, since its token is passed on.
  Converter(CollectiveOpInterface collective, ValueRange operands, Operation *start, Operation *last, Carried carried)
      : collective(collective), operands(operands.begin(), operands.end()), start(start), last(last), carried(carried),
        builder(start) {}

  /// The launch in place of the start, or failure with an error on it.
  FailureOr<LaunchOp> launch();

private:
  size_t sentCount() { return collective.getCommOperands().size(); }
  bool canRunInPlace();
  bool diesHere(Value operand);
  bool hasOwnMemory(Value value);
  Value own(Value operand, bool inPlace);
  FailureOr<Value> destination(unsigned index);
  FailureOr<int64_t> groupSize();

  CollectiveOpInterface collective;
  SmallVector<Value> operands;
  Operation *start, *last;
  Carried carried;
  OpBuilder builder;
};

/// A value whose buffer is made in the program: writing to it costs no copy.
bool isComputedHere(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  return isa<DestinationStyleOpInterface>(op) ||
         (op->hasTrait<OpTrait::Elementwise>() && op->hasTrait<OpTrait::Vectorizable>());
}

/// Whether nobody reads the operand once the collective has started. Readers in other blocks are not looked at closer.
bool Converter::diesHere(Value operand) {
  return llvm::all_of(operand.getUsers(), [&](Operation *user) {
    if (user == start || user == last || user == collective.getOperation())
      return true;
    return user->getBlock() == start->getBlock() && user->isBeforeInBlock(start);
  });
}

/// Whether bufferization may put the value into a part of a larger tensor, which need not lie in one piece: it is a slice, or
/// computed in the place of one, whatever loops, branches and views it went through, or is going to be inserted.
class Parts {
public:
  bool mayHold(Value value) { return isOfSlice(value) || isInserted(value); }
  bool isInserted(Value value) {
    return below.insert(value).second && llvm::any_of(value.getUsers(), [&](Operation *user) {
             if (isa<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>(user))
               return user->getOperand(0) == value;
             return isComputation(user) && llvm::any_of(user->getResults(), [&](Value result) {
                      return result.getType() == value.getType() && isInserted(result);
                    });
           });
  }

private:
  static bool isComputation(Operation *op) {
    return op && (isa<DestinationStyleOpInterface>(op) || op->hasTrait<OpTrait::Elementwise>());
  }
  bool isOfSlice(Value value) {
    if (!isa<RankedTensorType>(value.getType()) || !above.insert(value).second)
      return false;
    auto argument = dyn_cast<BlockArgument>(value);
    Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
    if (!argument && isComputation(op)) {
      if (auto computed = dyn_cast<DestinationStyleOpInterface>(op)) { // scf.forall too
        OpOperand *init = computed.getTiedOpOperand(cast<OpResult>(value));
        return init && isOfSlice(init->get());
      }
      return llvm::any_of(op->getOperands(),
                          [&](Value operand) { return operand.getType() == value.getType() && isOfSlice(operand); });
    }
    if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
      return llvm::any_of(incomingValues(branch, value), [&](Value operand) { return isOfSlice(operand); });
    if (argument) // a function's lie in one piece
      return !argument.getOwner()->isEntryBlock() || !isa<FunctionOpInterface>(op);
    if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp>(op))
      return isOfSlice(op->getOperand(0));
    return isa<tensor::ExtractSliceOp>(op);
  }
  llvm::SmallPtrSet<Value, 16> above, below;
};

bool Converter::canRunInPlace() {
  CollectiveKind kind = collective.getCollectiveKind();
  if (kind != CollectiveKind::AllReduce && kind != CollectiveKind::Broadcast)
    return false;
  llvm::SmallDenseSet<Value> distinct(operands.begin(), operands.end());
  return distinct.size() == operands.size() &&
         llvm::all_of(operands,
                      [&](Value operand) {
                        return operand.getParentBlock() == start->getBlock() && isComputedHere(operand) &&
                               diesHere(operand) && !Parts().mayHold(operand);
                      }) &&
         llvm::none_of(last->getResults(), [](Value result) { return Parts().isInserted(result); });
}

/// Only asked for where shapes depend on it, so that groups are of one size.
FailureOr<int64_t> Converter::groupSize() {
  ModuleRanks ranks = moduleRanksAround(collective);
  int64_t size = collective.getGroupsAttr().getGroupSize();
  if (size == 0 && ranks.stated)
    size = ranks.idsIn(collective.getIdSpace());
  if (collective.getIdSpace() == IdSpace::ReplicaAndPartition)
    size = ranks.stated ? size * ranks.partitions : 0;
  if (size == 0)
    return collective->emitOpError("groups, expected a known size where a result's size is dynamic, got ")
           << collective.getGroupsAttr();
  return size;
}

Value contiguous(OpBuilder &builder, Location loc, Value value);

/// The destination of one result: a new tensor, or the init that the operation names.
FailureOr<Value> Converter::destination(unsigned index) {
  CollectiveKind kind = collective.getCollectiveKind();
  if (kind == CollectiveKind::Reduce || kind == CollectiveKind::Gather) {
    Value init = operands[sentCount() + index];
    return carried == Carried::Nothing ? contiguous(builder, collective.getLoc(), init) : own(init, /*inPlace=*/false);
  }
  auto type = cast<RankedTensorType>(collective.getCommResults()[index].getType());
  auto dimOf = [&](StringRef name) {
    auto dims = collective->getAttrOfType<DenseI64ArrayAttr>(name);
    return dims ? dims[index] : int64_t(-1);
  };
  Location loc = collective.getLoc();
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    Value size = tensor::DimOp::create(builder, loc, operands[index], dim);
    bool up = (kind == CollectiveKind::AllGather && dim == dimOf("dims")) || dim == dimOf("concat_dims");
    bool down = ((kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::Scatter) && dim == dimOf("dims")) ||
                dim == dimOf("split_dims");
    if (up != down) {
      FailureOr<int64_t> group = groupSize();
      if (failed(group))
        return failure();
      Value by = arith::ConstantIndexOp::create(builder, loc, *group);
      size = up ? arith::MulIOp::create(builder, loc, size, by).getResult()
                : arith::DivUIOp::create(builder, loc, size, by).getResult();
    }
    sizes.push_back(size);
  }
  // Not tensor.empty: upstream may make that a part of the tensor that the result is inserted into, which need not lie in
  // one piece.
  return bufferization::AllocTensorOp::create(builder, loc, type, sizes).getResult();
}

/// A slice of a larger tensor may not lie in one piece, which the runtime asks for: then it is copied.
Value contiguous(OpBuilder &builder, Location loc, Value value) {
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice && !Parts().mayHold(value))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  if (!slice)
    return bufferization::AllocTensorOp::create(builder, loc, type, ValueRange(), value).getResult();
  // In one piece if only the first of the dimensions that are longer than one is cut.
  RankedTensorType from = slice.getSourceType();
  bool whole = from.hasStaticShape() && slice.hasUnitStride();
  bool leading = true;
  for (auto [dim, size] : llvm::enumerate(slice.getStaticSizes())) {
    if (!leading && size != from.getDimSize(dim))
      whole = false;
    leading &= size == 1;
  }
  if (whole && !Parts().mayHold(slice.getSource()))
    return value;
  return bufferization::AllocTensorOp::create(builder, loc, type, ValueRange(), value).getResult();
}

/// A use as the destination of a computation that does not read what it held.
bool isOverwritten(OpOperand &use) {
  auto structured = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return structured && structured.isDpsInit(&use) && !structured.payloadUsesValueFromOperand(&use);
}

/// Whether the value is computed in this block into memory that nobody else uses. A computation that only overwrites its
/// destination gets a new one: the destination that it names may be one for all trips (loop-invariant code motion moves
/// tensor.empty out of loops), or for all computations (common subexpression elimination).
bool Converter::hasOwnMemory(Value value) {
  if (llvm::any_of(value.getUses(), isOverwritten))
    return false;
  for (bool last = true;; last = false) {
    auto computed = value.getDefiningOp<DestinationStyleOpInterface>();
    if (!computed || computed->getBlock() != start->getBlock() || (!last && !value.hasOneUse()))
      return value.getDefiningOp<bufferization::AllocTensorOp>() && value.hasOneUse() &&
             value.getParentBlock() == start->getBlock();
    OpOperand *init = computed.getTiedOpOperand(cast<OpResult>(value));
    if (isOverwritten(*init)) {
      OpBuilder before(computed);
      auto type = cast<RankedTensorType>(value.getType());
      SmallVector<Value> sizes;
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          sizes.push_back(tensor::DimOp::create(before, computed->getLoc(), init->get(), dim));
      init->set(bufferization::AllocTensorOp::create(before, computed->getLoc(), type, sizes));
      return true;
    }
    value = init->get();
  }
}

/// A tensor that nobody else uses, which a loop can carry while it is in flight. Where the collective works in place
/// bufferization copies if somebody reads it later; elsewhere the copy is made here.
Value Converter::own(Value operand, bool inPlace) {
  if (inPlace && carried == Carried::Tensors && !Parts().mayHold(operand) && hasOwnMemory(operand))
    return operand;
  auto type = cast<RankedTensorType>(operand.getType());
  return bufferization::AllocTensorOp::create(builder, collective.getLoc(), type, ValueRange(), operand).getResult();
}

FailureOr<LaunchOp> Converter::launch() {
  Location loc = collective.getLoc();
  CollectiveKind kind = collective.getCollectiveKind();
  bool isCarried = carried != Carried::Nothing;
  bool inPlace = isCarried ? CarriedTokens::isInPlace(collective) : canRunInPlace();
  SmallVector<Value> inputs, inits;
  for (Value operand : ArrayRef(operands).take_front(sentCount()))
    inputs.push_back(isCarried ? own(operand, inPlace && !llvm::is_contained(inputs, operand))
                               : contiguous(builder, loc, operand));
  llvm::copy(inputs, operands.begin());
  if (inPlace) {
    std::swap(inputs, inits);
  } else {
    for (unsigned index = 0; index < collective.getCommResults().size(); ++index) {
      FailureOr<Value> init = destination(index);
      if (failed(init))
        return failure();
      inits.push_back(*init);
    }
  }
  SmallVector<Type> types = {TokenType::get(builder.getContext())};
  if (carried == Carried::Buffers)
    for (Value &tensor : llvm::concat<Value>(inputs, inits)) // each is new
      tensor = bufferization::ToBufferOp::create(builder, loc, CarriedTokens::bufferOf(tensor.getType()), tensor);
  else
    llvm::append_range(types, ValueRange(inits).getTypes());
  OperationState state(loc, LaunchOp::getOperationName());
  state.addOperands(inputs);
  state.addOperands(inits);
  state.addTypes(types);
  LaunchOp::Properties &properties = state.getOrAddProperties<LaunchOp::Properties>();
  properties.operandSegmentSizes = {int32_t(inputs.size()), int32_t(inits.size())};
  properties.collective = CollectiveKindAttr::get(builder.getContext(), kind);
  for (auto [name, target] : {std::pair("groups", "groups"),
                              {"reduction", "reduction"},
                              {"accumulate", "accumulate"},
                              {"dims", "dims"},
                              {"split_dims", "dims"},
                              {"concat_dims", "concat_dims"},
                              {"root", "root"},
                              {"pairs", "pairs"},
                              {"peer", "peer"},
                              {"tag", "tag"},
                              {"id_space", "id_space"},
                              {"channel", "channel"},
                              {"plan", "plan"}})
    if (Attribute attr = collective->getAttr(name))
      state.addAttribute(target, attr);
  return cast<LaunchOp>(builder.create(state));
}

/// Finishes the launch at `place`, which is replaced.
void finishAt(Operation *place, LaunchOp launch) {
  OpBuilder builder(place);
  auto finish = FinishOp::create(builder, place->getLoc(), launch.getResults().getTypes(), launch.getToken(),
                                 launch.getInputs(), launch.getResults());
  place->replaceAllUsesWith(finish.getResults());
  place->erase();
}

struct ToDestination : public impl::BraidToDestinationBase<ToDestination> {
  LogicalResult convertStart(StartOp start, CarriedTokens &tokens) {
    Carried carried = tokens.carried(start);
    bool isCarried = carried != Carried::Nothing;
    SmallVector<WaitOp> waits;
    if (!isCarried)
      for (Operation *user : start.getToken().getUsers())
        waits.push_back(cast<WaitOp>(user));
    Converter converter(start.getCollective(), start.getOperands(), start, isCarried ? start : waits.front(), carried);
    FailureOr<LaunchOp> launch = converter.launch();
    if (failed(launch))
      return failure();
    if (isCarried)
      tokens.launched(start, *launch);
    for (WaitOp wait : waits) // of several each is on a path of its own: one launch, a finish at each
      finishAt(wait, *launch);
    start->erase();
    return success();
  }

  /// Programs from JAX come in a dialect that nothing here lowers.
  LogicalResult isLowerable() {
    auto foreign = getOperation()->walk([](Operation *op) {
      StringRef dialect = op->getName().getDialectNamespace();
      if (dialect != "stablehlo" && dialect != "mhlo" && dialect != "chlo")
        return WalkResult::advance();
      op->emitError("expected a program in linalg, tensor, arith, math and scf, got ")
          << op->getName()
          << ": lower its computation to linalg first (stablehlo-opt --stablehlo-legalize-to-linalg), or run its "
             "communication alone (braid-skeleton)";
      return WalkResult::interrupt();
    });
    return failure(foreign.wasInterrupted());
  }

  /// Switches become branches: upstream's bufferization does not see that a switch's results are what its sides yield.
  void branchInsteadOfSwitch(scf::IndexSwitchOp op) {
    OpBuilder builder(op);
    scf::IfOp outermost;
    for (auto [value, region] : llvm::zip(op.getCases(), op.getCaseRegions())) {
      Value number = arith::ConstantIndexOp::create(builder, op.getLoc(), value);
      Value isIt = arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::eq, op.getArg(), number);
      auto branch = scf::IfOp::create(builder, op.getLoc(), op.getResultTypes(), isIt, /*withElseRegion=*/true);
      if (outermost)
        scf::YieldOp::create(builder, op.getLoc(), branch.getResults());
      else
        outermost = branch;
      branch.getThenRegion().takeBody(region);
      branch.getElseRegion().getBlocks().clear();
      builder.createBlock(&branch.getElseRegion());
    }
    if (!outermost)
      return;
    Region *last = builder.getInsertionBlock()->getParent();
    last->getBlocks().clear();
    last->takeBody(op.getDefaultRegion());
    op->replaceAllUsesWith(outermost);
    op->erase();
  }

  /// What bufferization computes in a part of the concatenation need not lie in one piece: the choice of destinations sees
  /// that in insertions.
  static LogicalResult takeConcatenationsApart(ModuleOp module) {
    SmallVector<tensor::ConcatOp> concatenations;
    module->walk([&](tensor::ConcatOp op) { concatenations.push_back(op); });
    IRRewriter rewriter(module.getContext());
    for (tensor::ConcatOp op : concatenations) {
      rewriter.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> together = op.decomposeOperation(rewriter);
      if (failed(together))
        return op->emitOpError("expected sizes that can be taken apart into insertions");
      rewriter.replaceOp(op, *together);
    }
    return success();
  }

  /// Bufferization takes what the sides of a branch yield for one buffer. Where one side yields what a loop had in flight, and the other
  /// what was there before the branch, the second is a copy: else the first would be one, of a buffer in flight.
  void copyFromOutside() {
    auto carriesTokens = [](Operation *op) {
      return isa<scf::ForOp, scf::WhileOp>(op) && llvm::any_of(op->getResultTypes(), llvm::IsaPred<TokenType>);
    };
    SmallVector<scf::IfOp> branches;
    getOperation()->walk([&](scf::IfOp branch) {
      if (branch.getNumResults() &&
          branch
              .walk([&](Operation *op) { return carriesTokens(op) ? WalkResult::interrupt() : WalkResult::advance(); })
              .wasInterrupted())
        branches.push_back(branch);
    });
    for (scf::IfOp branch : branches)
      for (Region *side : {&branch.getThenRegion(), &branch.getElseRegion()})
        for (OpOperand &yielded : side->front().getTerminator()->getOpOperands()) {
          auto type = dyn_cast<RankedTensorType>(yielded.get().getType());
          if (!type || side->isAncestor(yielded.get().getParentRegion()))
            continue;
          OpBuilder builder(yielded.getOwner());
          yielded.set(
              bufferization::AllocTensorOp::create(builder, branch.getLoc(), type, ValueRange(), yielded.get()));
        }
  }

  void runOnOperation() override {
    if (failed(isLowerable()))
      return signalPassFailure();
    SmallVector<scf::IndexSwitchOp> switches;
    getOperation()->walk([&](scf::IndexSwitchOp op) { switches.push_back(op); });
    for (scf::IndexSwitchOp op : switches)
      branchInsteadOfSwitch(op);
    if (failed(takeConcatenationsApart(getOperation())))
      return signalPassFailure();
    CarriedTokens tokens;
    if (failed(tokens.extend(getOperation(), unrollShiftedTokens(getOperation()))))
      return signalPassFailure();
    SmallVector<Operation *> work;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<CollectiveOpInterface, StartOp>(op))
        work.push_back(op);
      return isa<StartOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    for (Operation *op : work) {
      if (auto start = dyn_cast<StartOp>(op)) {
        if (failed(convertStart(start, tokens)))
          return signalPassFailure();
        continue;
      }
      FailureOr<LaunchOp> launch =
          Converter(cast<CollectiveOpInterface>(op), op->getOperands(), op, op, Carried::Nothing).launch();
      if (failed(launch))
        return signalPassFailure();
      finishAt(op, *launch);
    }
    SmallVector<WaitOp> waits; // for tokens that were passed on
    getOperation()->walk([&](WaitOp wait) { waits.push_back(wait); });
    for (WaitOp wait : waits) {
      OpBuilder builder(wait);
      ValueRange all = tokens.standIns(builder, wait.getLoc(), wait.getToken());
      ValueRange inits = all.take_back(wait.getNumResults()), inputs = all.drop_back(wait.getNumResults());
      SmallVector<Value> results;
      if (llvm::any_of(inits.getTypes(), llvm::IsaPred<MemRefType>)) {
        FinishOp::create(builder, wait.getLoc(), TypeRange(), wait.getToken(), inputs, inits);
        for (auto [buffer, type] : llvm::zip(inits, wait.getResultTypes())) // nobody else has it
          results.push_back(bufferization::ToTensorOp::create(builder, wait.getLoc(), type, buffer, /*restrict=*/true,
                                                              /*writable=*/true));
      } else {
        auto finish = FinishOp::create(builder, wait.getLoc(), inits.getTypes(), wait.getToken(), inputs, inits);
        results.assign(finish.getResults().begin(), finish.getResults().end());
      }
      wait.replaceAllUsesWith(results);
      wait.erase();
    }
    tokens.resolve();
    tokens.separateResults();
    copyFromOutside();
  }
};

} // namespace
} // namespace mlir::braid
