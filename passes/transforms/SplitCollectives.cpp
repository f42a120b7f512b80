//===- SplitCollectives.cpp - braid-split-collectives: one large collective as several small ones ---------------===//
//
//   slice k times -> k collectives -> concatenate
//
// along a dimension that the collective does not work along, so that element by element the same ranks contribute in the
// same way:
//
//   all_reduce, broadcast, permute    the first dimension that is long enough
//   all_gather, reduce_scatter,       the first other than its own that is long enough; else its own, made two:
//   all_to_all
//
//     all_gather      [n] -> [1, n]    pieces [1, n/k], gathered [g, n/k], together [g, n] -> [g n]
//     reduce_scatter  [g m] -> [g, m]  pieces [g, m/k], scattered [1, m/k], together [1, m] -> [m]
//     all_to_all      as a reduce_scatter's operand, or, where it is concatenated elsewhere, as an all_gather's
//
// where g is the size of a group. An all_gather along its first dimension is made two always: its pieces lie in memory
// one after another. Sizes need not divide: the first pieces are longer by one.
//===------------------------------------------------------------------------------------------------------------===//
#include "transforms/SplitCollectives.h"

#include "analysis/CollectiveKeys.h"
#include "analysis/ModuleFacts.h"
#include "analysis/Remarks.h"
#include "braid/passes/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "transforms/ComputePieces.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDSPLITCOLLECTIVES
#include "braid/passes/Passes.h.inc"

namespace {

/// Along what a collective is cut.
struct Cut {
  int64_t dim = 0;            ///< of operand and result, once `own` is two
  int64_t length = 0;         ///< of `dim`
  std::optional<int64_t> own; ///< becomes two, of which the outer one counts ranks:
  int64_t blocksIn = 1, blocksOut = 1;
};

class Splitter {
public:
  Splitter(ModuleOp module, const SplitForm &form, StringRef category)
      : form(form), category(category), notation(module) {
    module->walk([&](CollectiveOpInterface op) {
      int64_t channel = op.getChannelId().value_or(0);
      highestChannel = std::max(highestChannel, channel);
    });
  }

  void split(CollectiveOpInterface op);
  Split result;

private:
  std::string refusal(CollectiveOpInterface op) const;
  std::optional<Cut> cutOf(Operation *op) const;
  Value piece(OpBuilder &builder, CollectiveOpInterface op, const Cut &cut, Value operand, int64_t number);

  const SplitForm &form;
  StringRef category;
  TensorPieces notation;
  int64_t highestChannel = 0;
};

constexpr StringRef dimNames[] = {"dims", "split_dims", "concat_dims"};

static int64_t sizeOf(Value value, int64_t dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); }

/// Why a collective stays whole; empty: it need not.
std::string Splitter::refusal(CollectiveOpInterface op) const {
  if (!isPlannable(op.getCollectiveKind()))
    return "a rooted collective, a message or a barrier is never cut";
  if (op->getParentOfType<StartOp>())
    return "it is in flight already";
  if (op.getPlanAttr())
    return "it has a plan, which is for its size";
  if (isYetToBeDivided(op))
    return "a compiler still has to divide it (sdy.sharding)";
  if (op.getCommOperands().size() != 1)
    return "it is a bucket of several tensors";
  auto hasSizes = [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); };
  if (!llvm::all_of(op->getOperandTypes(), hasSizes) || !llvm::all_of(op->getResultTypes(), hasSizes))
    return "its size is dynamic";
  if (!cutOf(op))
    return "no dimension of it can be cut: a piece would be less than one row";
  return "";
}

/// The collective's own dimension as two, the inner one to be cut; none if its blocks are not known.
static std::optional<Cut> cutWithinBlocks(Operation *op, ArrayRef<int64_t> own) {
  int64_t dim = own.back(); // of an all_to_all where it is concatenated
  int64_t in = sizeOf(op->getOperand(0), dim), out = sizeOf(op->getResult(0), dim);
  if (in == 0 || out == 0)
    return std::nullopt;
  if (isa<ReduceScatterOp>(op))
    return Cut{dim + 1, out, dim, in / out, 1};
  if (isa<AllGatherOp>(op) || own.front() != own.back())
    return Cut{dim + 1, in, dim, 1, out / in};
  auto exchange = cast<AllToAllOp>(op); // sizes do not tell how many ranks there are
  int64_t ranks = exchange.getIdSpace() == IdSpace::ReplicaAndPartition ? 0 : exchange.getGroupsAttr().getGroupSize();
  if (ranks == 0)
    return std::nullopt;
  return Cut{dim + 1, in / ranks, dim, ranks, ranks};
}

std::optional<Cut> Splitter::cutOf(Operation *op) const {
  SmallVector<int64_t> own;
  for (StringRef name : dimNames)
    if (auto dims = op->getAttrOfType<DenseI64ArrayAttr>(name))
      own.push_back(dims[0]);
  std::optional<Cut> best;
  auto offer = [&](const Cut &cut) { // the first that is long enough, else the longest
    if (cut.length > 1 && (!best || std::min(cut.length, form.pieces) > std::min(best->length, form.pieces)))
      best = cut;
  };
  std::optional<Cut> within = own.empty() ? std::nullopt : cutWithinBlocks(op, own);
  if (within && isa<AllGatherOp>(op) && own[0] == 0)
    offer(*within);
  for (int64_t dim = 0, rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank(); dim < rank; ++dim)
    if (!llvm::is_contained(own, dim))
      offer({dim, sizeOf(op->getOperand(0), dim)});
  if (within)
    offer(*within);
  return best;
}

/// The collective on one piece.
Value Splitter::piece(OpBuilder &builder, CollectiveOpInterface op, const Cut &cut, Value operand, int64_t number) {
  auto in = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape(cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  NamedAttrList attrs(op->getAttrDictionary());
  if (cut.own) {
    shape.insert(shape.begin() + *cut.own, cut.blocksOut);
    for (StringRef name : dimNames)
      if (auto dims = op->getAttrOfType<DenseI64ArrayAttr>(name))
        attrs.set(name, builder.getDenseI64ArrayAttr(dims[0] > *cut.own ? dims[0] + 1 : dims[0]));
  }
  shape[cut.dim] = in.getDimSize(cut.dim);
  if (number > 0 && highestChannel > 1 && op.getChannelId()) // as the module does: each its own
    attrs.set("channel", builder.getI64IntegerAttr(++highestChannel));
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operand);
  state.addTypes(RankedTensorType::get(shape, in.getElementType()));
  state.addAttributes(attrs);
  for (Region &region : op->getRegions()) {
    IRMapping inside;
    region.cloneInto(state.addRegion(), inside);
  }
  return builder.create(state)->getResult(0);
}

void Splitter::split(CollectiveOpInterface op) {
  if (std::string why = refusal(op); !why.empty()) {
    remarkMissed(op->getLoc(), category, "whole", "not cut: " + why);
    return;
  }
  Cut cut = *cutOf(op);
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value operand = op->getOperand(0);
  ComputePieces compute(notation, form.pipeline, loc);
  // One block of a dimension that became two is that dimension still.
  int64_t along = cut.own.value_or(cut.dim);
  bool whole = cut.blocksIn == 1, wholeResult = cut.blocksOut == 1;
  if (!whole)
    operand = notation.expand(builder, loc, operand, along, cut.blocksIn);
  int64_t count = std::min(form.pieces, cut.length), offset = 0;
  SmallVector<Value> parts;
  for (int64_t number = 0; number < count; ++number) {
    int64_t size = cut.length / count + (number < cut.length % count);
    Value part = whole ? compute.part(builder, operand, op, {along, offset, size})
                       : notation.slice(builder, loc, operand, cut.dim, offset, size);
    part = notation.inOnePiece(builder, part);
    if (whole && cut.own)
      part = notation.expand(builder, loc, part, along, 1);
    parts.push_back(part);
    offset += size;
  }
  for (auto [number, part] : llvm::enumerate(parts)) {
    part = piece(builder, op, cut, part, int64_t(number));
    if (wholeResult && cut.own)
      part = notation.collapse(builder, loc, part, along);
  }
  if (wholeResult) {
    compute.replace(op->getResult(0), parts, along);
  } else {
    Value together = notation.concatenate(builder, loc, parts, cut.dim);
    op->getResult(0).replaceAllUsesWith(notation.collapse(builder, loc, together, along));
  }
  std::string around;
  int64_t cutToo = compute.operations();
  if (cutToo)
    around = (", with " + Twine(cutToo) + (cutToo == 1 ? " operation" : " operations") + " around it").str();
  result.remarks.emplace_back(loc, (stringifyCollectiveKind(op.getCollectiveKind()) + " of " +
                                    cost::toString(cost::Bytes{op.getOperandBytes().value_or(0)}) + " cut into " +
                                    Twine(count) + " along dimension " + Twine(along) + around)
                                       .str());
  compute.erase(); // what read the whole
  op->erase();
  compute.erase(); // and what made it
  result.collectives += 1;
  result.pieces = std::max(result.pieces, count);
  result.operations += cutToo;
}

struct SplitCollectives : impl::BraidSplitCollectivesBase<SplitCollectives> {
  using Base::Base;

  void runOnOperation() override {
    for (auto [name, value, least] :
         {std::tuple<StringRef, int64_t, int64_t>{"larger-than", largerThan, 0}, {"pieces", pieces, 2}})
      if (value < least) {
        emitError(getOperation().getLoc()) << name << ": expected " << least << " or more, got " << value;
        return signalPassFailure();
      }
    SmallVector<CollectiveOpInterface> large;
    getOperation()->walk([&](CollectiveOpInterface op) {
      std::optional<int64_t> bytes = op.getOperandBytes();
      if (bytes && *bytes > largerThan)
        large.push_back(op);
    });
    Split done = splitCollectives(getOperation(), large, {pieces, pipeline}, getArgumentName());
    for (const auto &[where, text] : done.remarks)
      remarkPassed(where, getArgumentName(), "split", text);
    if (!done.collectives)
      markAllAnalysesPreserved();
  }
};

} // namespace

Split splitCollectives(ModuleOp module, ArrayRef<CollectiveOpInterface> which, const SplitForm &form,
                       StringRef category) {
  Splitter splitter(module, form, category);
  for (CollectiveOpInterface op : which)
    splitter.split(op);
  return splitter.result;
}

} // namespace mlir::braid
