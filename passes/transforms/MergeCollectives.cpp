//===- MergeCollectives.cpp - builds a bucket -------------------------------------------------------------------===//
#include "transforms/MergeCollectives.h"

#include "braid/dialect/BraidDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::braid {

CollectiveOpInterface mergeCollectives(OpBuilder &builder, ArrayRef<CollectiveOpInterface> members) {
  Operation *first = members.front();
  if (members.size() == 1) {
    Block *block = builder.getInsertionBlock();
    first->moveBefore(block, builder.getInsertionPoint());
    return members.front();
  }
  SmallVector<Location> locations;
  SmallVector<Value> operands;
  SmallVector<Type> types;
  NamedAttrList attrs(first->getAttrDictionary());
  SmallVector<int64_t> hints;
  bool allHinted = true;
  for (CollectiveOpInterface member : members) {
    locations.push_back(member->getLoc());
    llvm::append_range(operands, member->getOperands());
    llvm::append_range(types, member->getResultTypes());
    auto hint = member->getAttrOfType<DenseI64ArrayAttr>(BraidDialect::getSizeHintAttrName());
    allHinted &= bool(hint);
    if (hint)
      llvm::append_range(hints, hint.asArrayRef());
    for (NamedAttribute attr : member->getDiscardableAttrs())
      if (!attrs.get(attr.getName()))
        attrs.append(attr);
  }
  // What an operation says of each operand apart is said one after another.
  for (StringRef name : {"dims", "split_dims", "concat_dims"}) {
    if (!first->hasAttr(name))
      continue;
    SmallVector<int64_t> all;
    for (CollectiveOpInterface member : members)
      llvm::append_range(all, member->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef());
    attrs.set(name, builder.getDenseI64ArrayAttr(all));
  }
  if (allHinted)
    attrs.set(BraidDialect::getSizeHintAttrName(), builder.getDenseI64ArrayAttr(hints));
  else
    attrs.erase(BraidDialect::getSizeHintAttrName());
  attrs.erase("plan");

  OperationState state(builder.getFusedLoc(locations), first->getName());
  state.addOperands(operands);
  state.addTypes(types);
  state.addAttributes(attrs);
  for (unsigned region = 0; region < first->getNumRegions(); ++region)
    state.addRegion();
  // The source's reduction, if it is known: the members mean the same by it.
  for (unsigned region = 0; region < first->getNumRegions(); ++region)
    state.regions[region]->takeBody(first->getRegion(region));
  Operation *merged = builder.create(state);
  unsigned next = 0;
  for (CollectiveOpInterface member : members) {
    for (Value result : member->getResults())
      result.replaceAllUsesWith(merged->getResult(next++));
    member->erase();
  }
  return cast<CollectiveOpInterface>(merged);
}

} // namespace mlir::braid
