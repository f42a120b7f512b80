//===- CollectiveKeys.cpp - the key of a bucket -----------------------------------------------------------------===//
#include "analysis/CollectiveKeys.h"

#include "braid/dialect/BraidDialect.h"

namespace mlir::braid {

bool isYetToBeDivided(Operation *op) {
  auto text = op->getAttrOfType<StringAttr>("mhlo.sharding");
  return op->hasAttr("sdy.sharding") ||
         (op->hasAttr("mhlo.sharding") && (!text || (text != "{replicated}" && text != "{manual}")));
}

int CollectiveKeys::of(CollectiveOpInterface op, const RankSet &set) {
  if (!op.isBucketable() || isYetToBeDivided(op))
    return -1;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << stringifyCollectiveKind(op.getCollectiveKind()) << ';';
  if (auto reduction = op.getReductionKind())
    os << stringifyReductionKind(*reduction);
  os << ';' << (orderMatters(op.getCollectiveKind()) ? set.orderedMeaning : set.meaning);
  os << ';' << stringifyIdSpace(op.getIdSpace()) << ';' << op.getChannelId().has_value() << ';';
  for (StringRef name : {"accumulate", "reassociate", "root"})
    if (Attribute attr = op->getAttr(name))
      os << name << '=' << attr;
  os << ';';
  // What a compiler acts on must hold for every member.
  for (StringRef name : {StringRef(BraidDialect::getGroupKeyAttrName()), StringRef("mhlo.sharding"),
                         StringRef("mhlo.frontend_attributes")})
    if (Attribute attr = op->getDiscardableAttr(name))
      os << name << '=' << attr;
  os << ';';
  // Several element types in one bucket are no consumer's reduction, and few consumers' data movement.
  Type element = getElementTypeOrSelf(op.getCommOperands().front().getType());
  for (Value operand : op.getCommOperands())
    if (getElementTypeOrSelf(operand.getType()) != element)
      return -1;
  os << element;
  return known.try_emplace(text, int(known.size())).first->second;
}

static cost::CollectiveKind plainKind(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return cost::CollectiveKind::AllReduce;
  case CollectiveKind::ReduceScatter:
    return cost::CollectiveKind::ReduceScatter;
  case CollectiveKind::AllGather:
    return cost::CollectiveKind::AllGather;
  case CollectiveKind::AllToAll:
    return cost::CollectiveKind::AllToAll;
  case CollectiveKind::Broadcast:
    return cost::CollectiveKind::Broadcast;
  case CollectiveKind::Permute:
    return cost::CollectiveKind::Permute;
  default: // rooted collectives, messages and barriers are not planned, see ModuleFacts
    break;
  }
  llvm_unreachable("only kinds that are planned have a price");
}

cost::CollectiveSpec specOf(CollectiveOpInterface op, const RankSet &set, std::optional<cost::Engine> engine) {
  cost::CollectiveSpec spec;
  spec.kind = plainKind(op.getCollectiveKind());
  spec.bytes = {op.getOperandBytes().value_or(0)};
  spec.tensors = int(op.getCommOperands().size());
  Type narrow = getElementTypeOrSelf(op.getCommOperands().front().getType()), sent = narrow;
  if (auto accumulate = op->getAttrOfType<TypeAttr>("accumulate"); accumulate && engine == cost::Engine::Braid)
    sent = accumulate.getValue();
  if (sent != narrow) // of one element type, as all tensors of a reduction
    if (std::optional<int64_t> from = elementBytes(narrow), to = elementBytes(sent); from && to)
      spec.bytes = {spec.bytes.value / *from * *to};
  std::string element;
  llvm::raw_string_ostream(element) << sent;
  spec.elementType = element;
  spec.groups = set.communicator(op.getCollectiveKind());
  return spec;
}

} // namespace mlir::braid
