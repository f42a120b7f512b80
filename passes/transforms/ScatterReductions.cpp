//===- ScatterReductions.cpp - braid-scatter-reductions: an all_reduce of which each rank reads its block --------===//
//
//   y = all_reduce(x) over groups of g                 [g b]
//   z = dynamic_slice(y, offset), sizes [b]      ->    z = reduce_scatter(x)
//
// where on rank r the offset is b times r's place in its group. Offsets are computed for every rank (analysis/RankScalars.h). The
// order inside the groups of an all_reduce means nothing, so where a program deals blocks in another order, the groups of the
// reduce_scatter are written in that one. Every element is combined from the same ranks as before.
//
// This is what XLA calls ReduceScatterCreator. A reduce_scatter sends half of what an all_reduce does.
//===------------------------------------------------------------------------------------------------------------===//
#include "analysis/CollectiveKeys.h"
#include "analysis/RankScalars.h"
#include "analysis/Remarks.h"
#include "braid/dialect/Groups.h"
#include "braid/passes/Passes.h"
#include "braid/passes/StablehloOp.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDSCATTERREDUCTIONS
#include "braid/passes/Passes.h.inc"

namespace {

bool isNamed(Operation *op, StringRef name) {
  StringRef full = op->getName().getStringRef();
  return (full.consume_front("stablehlo.") || full.consume_front("mhlo.")) && full == name;
}

/// What reads an all_reduce, through reshapes that all give one shape.
struct Readers {
  SmallVector<Operation *> reshapes, slices;
  Operation *other = nullptr;
};

void collect(Value value, Readers &readers) {
  for (Operation *user : value.getUsers()) {
    if (isNamed(user, "reshape") &&
        (readers.reshapes.empty() || readers.reshapes.front()->getResultTypes() == user->getResultTypes())) {
      readers.reshapes.push_back(user);
    } else if (isNamed(user, "dynamic_slice") && llvm::count(user->getOperands(), value) == 1 &&
               user->getOperand(0) == value) {
      readers.slices.push_back(user);
    } else {
      readers.other = user;
    }
  }
}

Readers readersOf(Value result) {
  Readers readers;
  collect(result, readers);
  if (!readers.reshapes.empty() && readers.slices.empty()) {
    SmallVector<Operation *> reshapes;
    std::swap(reshapes, readers.reshapes);
    for (Operation *reshape : reshapes)
      collect(reshape->getResult(0), readers);
    if (!readers.reshapes.empty())
      readers.other = readers.reshapes.front();
    readers.reshapes = std::move(reshapes);
  } else if (!readers.reshapes.empty()) {
    readers.other = readers.reshapes.front();
  }
  return readers;
}

struct ScatterReductions : impl::BraidScatterReductionsBase<ScatterReductions> {
  using Base::Base;

  void runOnOperation() override {
    ranks = readModuleRanks(getOperation());
    RankScalars known(ranks);
    scalars = &known;
    SmallVector<AllReduceOp> reductions;
    getOperation()->walk([&](AllReduceOp op) { reductions.push_back(op); });
    bool changed = false;
    for (AllReduceOp op : reductions) {
      Readers readers = op->getNumResults() == 1 ? readersOf(op->getResult(0)) : Readers();
      if (readers.slices.empty())
        continue;
      Scatter scatter;
      if (std::string why = find(op, readers, scatter); why.empty()) {
        rewrite(op, readers, scatter);
        changed = true;
      } else {
        remarkMissed(op->getLoc(), getArgumentName(), "whole", "stays an all_reduce: " + why);
      }
    }
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  /// The reduce_scatter that an all_reduce can be.
  struct Scatter {
    int64_t dim = 0, blocks = 0;
    GroupsAttrInterface groups; ///< in the order of the blocks
    bool reordered = false;
  };

  /// Why it can't be one; empty: it can.
  std::string find(AllReduceOp op, const Readers &readers, Scatter &scatter) {
    if (op->getParentOfType<StartOp>())
      return "it is in flight already";
    if (op.getPlanAttr())
      return "it has a plan, which is for all of it";
    if (isYetToBeDivided(op))
      return "a compiler still has to divide it (sdy.sharding)";
    if (readers.other)
      return ("it is read by '" + readers.other->getName().getStringRef() + "' too, not by slices alone").str();
    SmallVector<SmallVector<int64_t>> rows = expandGroups(op.getGroups(), idsIn(op.getIdSpace()));
    if (rows.empty())
      return "the module does not say how many ranks there are";
    if (!llvm::all_equal(llvm::map_range(rows, [](auto &row) { return row.size(); })))
      return "its groups differ in size";
    for (Operation *slice : readers.slices) {
      Scatter one;
      if (std::string why = findOne(op, slice, rows, one); !why.empty())
        return why;
      if (slice != readers.slices.front() && (one.dim != scatter.dim || one.groups != scatter.groups))
        return "its slices differ";
      scatter = one;
    }
    return "";
  }

  std::string findOne(AllReduceOp op, Operation *slice, SmallVector<SmallVector<int64_t>> rows, Scatter &scatter) {
    auto whole = cast<RankedTensorType>(slice->getOperand(0).getType());
    auto part = dyn_cast<RankedTensorType>(slice->getResult(0).getType());
    if (!part || !whole.hasStaticShape() || !part.hasStaticShape())
      return "its size is dynamic";
    SmallVector<int64_t> cut;
    for (int64_t dim = 0; dim < whole.getRank(); ++dim)
      if (whole.getDimSize(dim) != part.getDimSize(dim))
        cut.push_back(dim);
    if (cut.size() != 1)
      return cut.empty() ? "a slice takes all of it" : "a slice cuts several dimensions";
    scatter.dim = cut[0];
    int64_t size = whole.getDimSize(scatter.dim), block = part.getDimSize(scatter.dim);
    int64_t inGroup = int64_t(rankRows(ArrayRef(rows).take_front(), op.getIdSpace(), ranks).front().size());
    if (block == 0 || block * inGroup != size)
      return "a slice is " + std::to_string(block) + " of " + std::to_string(size) + " along dimension " +
             std::to_string(scatter.dim) + ", expected one of " + std::to_string(inGroup) + " equal blocks";
    scatter.blocks = inGroup;
    const RankValues *offsets = scalars->of(slice->getOperand(1 + scatter.dim));
    if (!offsets)
      return "the offset of a slice is not made of constants, partition_id and replica_id alone";

    SmallVector<SmallVector<int64_t>> ordered;
    for (const SmallVector<int64_t> &row : rows) {
      SmallVector<int64_t> places; // in this order blocks are dealt, the same in all copies of the row
      for (const std::vector<int> &group : rankRows({row}, op.getIdSpace(), ranks)) {
        SmallVector<int64_t> owner(group.size(), -1);
        for (auto [place, rank] : llvm::enumerate(group)) {
          if (size_t(rank) >= offsets->size())
            return "its groups have more ranks than the module";
          int64_t offset = std::clamp<int64_t>((*offsets)[rank], 0, size - block);
          if (offset % block != 0 || owner[offset / block] >= 0)
            return "rank " + std::to_string(rank) + " reads from " + std::to_string(offset) +
                   ", which is no block of its own in its group";
          owner[offset / block] = int64_t(place);
        }
        if (!places.empty() && places != owner)
          return "groups of one row deal their blocks in different orders";
        places = owner;
      }
      bool inOrder = llvm::equal(places, llvm::seq<int64_t>(0, places.size()));
      if (!inOrder && op.getIdSpace() == IdSpace::ReplicaAndPartition)
        return "blocks are dealt in an order that its groups of replicas can't be written in";
      scatter.reordered |= !inOrder;
      ordered.emplace_back(inOrder ? row : llvm::map_to_vector(places, [&](int64_t place) { return row[place]; }));
    }
    scatter.groups = scatter.reordered
                         ? compressGroups(cast<GroupsAttrInterface>(GroupsAttr::get(&getContext(), ArrayRef(ordered))))
                         : op.getGroups();
    return "";
  }

  int64_t idsIn(IdSpace space) const {
    return space == IdSpace::Flattened   ? ranks.ranks()
           : space == IdSpace::Partition ? ranks.partitions
                                         : ranks.replicas;
  }

  void rewrite(AllReduceOp op, const Readers &readers, const Scatter &scatter) {
    OpBuilder builder(op);
    Value operand = op->getOperand(0);
    if (!readers.reshapes.empty()) {
      Operation *reshape = builder.clone(*readers.reshapes.front());
      reshape->setOperand(0, operand);
      operand = reshape->getResult(0);
    }
    NamedAttrList attrs(op->getAttrDictionary());
    attrs.set("groups", scatter.groups);
    attrs.set("dims", builder.getDenseI64ArrayAttr({scatter.dim}));
    OperationState state(op->getLoc(), ReduceScatterOp::getOperationName());
    state.addOperands(operand);
    state.addTypes(readers.slices.front()->getResultTypes());
    state.addAttributes(attrs);
    state.addRegion()->takeBody(op->getRegion(0));
    Operation *made = builder.create(state);
    remarkPassed(op->getLoc(), getArgumentName(), "reduce_scatter",
                 "all_reduce of " +
                     cost::toString(cost::Bytes{CollectiveOpInterface(op).getOperandBytes().value_or(0)}) +
                     " became a reduce_scatter along dimension " + Twine(scatter.dim) +
                     ": each rank reads its own of " + Twine(scatter.blocks) + " blocks" +
                     (scatter.reordered ? ", in another order than that of the groups" : ""));
    for (Operation *slice : readers.slices) {
      slice->replaceAllUsesWith(made);
      slice->erase();
    }
    for (Operation *reshape : readers.reshapes)
      reshape->erase();
    op->erase();
  }

  ProgramRanks ranks;
  RankScalars *scalars = nullptr;
};

} // namespace
} // namespace mlir::braid
