//===- UnplannedProgram.cpp - plans undone in a copy, then hashes ------------------------------------------------===//
#include "analysis/UnplannedProgram.h"

#include "analysis/ModuleFacts.h"
#include "braid/dialect/BraidOps.h"
#include "braid/passes/Fingerprint.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

namespace mlir::braid {

//===- back to before planning ----------------------------------------------------------------------------------===//

/// The collective on `operands`, at the builder; a bucket as one collective for each tensor.
static SmallVector<Value> apart(OpBuilder &builder, CollectiveOpInterface collective, ValueRange operands) {
  size_t tensors = collective->getNumResults();
  bool splits = isPlannable(collective.getCollectiveKind()) && tensors == operands.size();
  size_t parts = splits ? tensors : 1;
  SmallVector<Value> results;
  for (size_t part = 0; part < parts; ++part) {
    NamedAttrList attrs(collective->getAttrDictionary());
    attrs.erase("plan");
    for (StringRef name : {StringRef("dims"), StringRef("split_dims"), StringRef("concat_dims"),
                           StringRef(BraidDialect::getSizeHintAttrName())})
      if (auto each = dyn_cast_or_null<DenseI64ArrayAttr>(attrs.get(name)); each && parts > 1)
        attrs.set(name, builder.getDenseI64ArrayAttr(each[part]));
    OperationState state(collective.getLoc(), collective->getName());
    state.addOperands(parts > 1 ? operands.slice(part, 1) : operands);
    SmallVector<Type> types(collective->getResultTypes());
    state.addTypes(parts > 1 ? ArrayRef<Type>(types[part]) : ArrayRef<Type>(types));
    state.addAttributes(attrs);
    for (Region &region : collective->getRegions()) {
      IRMapping inside;
      region.cloneInto(state.addRegion(), inside);
    }
    llvm::append_range(results, builder.create(state)->getResults());
  }
  return results;
}

static void undoPlans(ModuleOp module) {
  SmallVector<Operation *> work;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<CollectiveOpInterface, StartOp>(op))
      work.push_back(op);
    return isa<StartOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  for (Operation *op : work) {
    OpBuilder builder(op);
    auto start = dyn_cast<StartOp>(op);
    if (!start) {
      op->replaceAllUsesWith(apart(builder, cast<CollectiveOpInterface>(op), op->getOperands()));
      op->erase();
      continue;
    }
    SmallVector<Operation *> waits(start.getToken().getUsers());
    if (!llvm::all_of(waits, [](Operation *user) { return isa<WaitOp>(user); }))
      continue; // a token that is passed on: no planner made it
    SmallVector<Value> results = apart(builder, start.getCollective(), start.getOperands());
    for (Operation *wait : waits) {
      wait->replaceAllUsesWith(results);
      wait->erase();
    }
    start->erase();
  }
}

//===- hashes ---------------------------------------------------------------------------------------------------===//

static std::string hex(uint64_t number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format_hex_no_prefix(number, 16);
  return text;
}

uint64_t UnplannedProgram::keyOf(Value value) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto argument = dyn_cast<BlockArgument>(value))
    os << "argument " << argument.getArgNumber() << ' ' << hex(blocks.lookup(argument.getOwner()));
  else // 0 where it comes from a block further down, in a graph of blocks
    os << "result " << cast<OpResult>(value).getResultNumber() << ' ' << hex(keys.lookup(value.getDefiningOp()));
  os << ' ' << value.getType();
  return llvm::xxh3_64bits(text);
}

uint64_t UnplannedProgram::hashBlock(Block &block, uint64_t owner) {
  blocks[&block] = owner;
  SmallVector<uint64_t> inside;
  for (Operation &op : block)
    if (uint64_t key = hashOp(&op); op.getNumOperands() || op.getNumRegions()) // constants count where they are read
      inside.push_back(key);
  llvm::sort(inside);
  return llvm::xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(inside.data()), inside.size() * 8));
}

uint64_t UnplannedProgram::hashOp(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getName() << ' ';
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    os << planFingerprint(collective, ""); // by meaning: groups are written in several ways
    for (StringRef name : {"dims", "split_dims", "concat_dims", "root", "peer", "tag", "accumulate"})
      if (Attribute attr = op->getAttr(name))
        os << ' ' << name << ' ' << attr;
  } else if (!isa<FunctionOpInterface>(op)) {
    os << op->getAttrDictionary();
  }
  for (Value operand : op->getOperands())
    os << ' ' << hex(keyOf(operand));
  os << " : " << op->getResultTypes();
  for (auto [number, region] : llvm::enumerate(op->getRegions()))
    for (auto [index, block] : llvm::enumerate(region)) {
      uint64_t owner = llvm::xxh3_64bits(text + " region " + std::to_string(number) + "." + std::to_string(index));
      os << " {" << hex(hashBlock(block, owner)) << '}';
    }
  return keys[op] = llvm::xxh3_64bits(text);
}

UnplannedProgram::UnplannedProgram(ModuleOp module) : copy(cast<ModuleOp>(module->clone(mapping))) {
  undoPlans(*copy);
  std::string text;
  for (Operation &op : *copy->getBody())
    if (auto function = dyn_cast<FunctionOpInterface>(op); function && !function.isExternal())
      text += hex(hashOp(&op)); // functions by their place: an entry may be renamed
  all = llvm::xxh3_64bits(text);
}

std::string UnplannedProgram::key(Operation *op) const { return hex(keys.lookup(copyOf(op))); }

std::string UnplannedProgram::hash() const { return hex(all); }

} // namespace mlir::braid
