//===- CollectiveExporter.cpp - one braid collective becomes StableHLO ----===//

#include "CollectiveExporter.h"
#include "Combiner.h"

#include "../import/SourceFacts.h"

#include "analysis/CollectiveKeys.h"
#include "analysis/Remarks.h"
#include "braid/cost_models/Price.h"
#include "braid/dialect/Groups.h"
#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace mlir::braid;

//===----------------------------------------------------------------------===//
// What the source said
//===----------------------------------------------------------------------===//

static SourceEncoding encodingFor(Operation *op) {
  return sourceFact<ArrayAttr>(op, source_facts::kDictionary) ? SourceEncoding::Attributes : SourceEncoding::Properties;
}

/// The operands are those that the source's collective had.
static bool isUnchanged(CollectiveOpInterface collective) {
  size_t count = collective.getCommOperands().size();
  auto variadic = sourceFact<IntegerAttr>(collective, source_facts::kVariadic);
  return count == 1 || (variadic && variadic.getInt() == static_cast<int64_t>(count));
}

CollectiveExporter::CollectiveExporter(ModuleOp module, const ExportOptions &options)
    : module(module), options(options), groupsReader(module) {
  planned = module->hasAttr(BraidDialect::getCertificateAttrName());
  bool typed = false;
  module->walk([&](CollectiveOpInterface collective) {
    planned |= static_cast<bool>(collective.getPlanAttr());
    if (auto type = sourceFact<IntegerAttr>(collective, source_facts::kChannelType); type && !typed) {
      channelType = type.getInt();
      typed = true;
    }
    int64_t channel = collective.getChannelId().value_or(0);
    distinctChannels |= channel > 1;
    highestChannel = std::max(highestChannel, channel);
    changed |= !isUnchanged(collective);
    if (isUnchanged(collective))
      usedChannels.try_emplace(channel, collective.getCollectiveKind());
  });
}

bool CollectiveExporter::keeps(CollectiveOpInterface collective, NamedAttribute attr, bool unchanged) const {
  if (!attr.getName().getValue().starts_with("braid."))
    return true;
  if (attr.getName() == BraidDialect::getSizeHintAttrName() &&
      sourceFact<UnitAttr>(collective, source_facts::kHintFromBounds))
    return false;
  return unchanged && !planned;
}

void CollectiveExporter::cleanModule() {
  if (!planned)
    return;
  for (StringRef name : {BraidDialect::getCertificateAttrName(), BraidDialect::getClusterAttrName()})
    module->removeAttr(name);
}

//===----------------------------------------------------------------------===//
// Channels and groups
//===----------------------------------------------------------------------===//

Attribute CollectiveExporter::channelFor(CollectiveOpInterface collective, const Call &call) {
  // Without a channel ids count replicas. All other ways of counting need one; so do flattened ids that all_to_all,
  // permute and broadcast can only write as partition ids (`check` has seen that both are the same).
  std::optional<int64_t> handle = collective.getChannelId();
  if (!handle) {
    if (collective.getIdSpace() == IdSpace::Replica)
      return {};
    handle = 1;
  }
  CollectiveKind kind = call.kind;
  bool unchanged = call.unchanged;
  if (distinctChannels) {
    // Inlining and unrolling copy numbers. XLA's verifier refuses a number of two kinds; of one kind it means nothing. What
    // nobody changed goes out as it came.
    auto [first, isNew] = usedChannels.try_emplace(*handle, kind);
    if (!isNew && (!unchanged || ((planned || changed) && first->second != kind))) {
      handle = ++highestChannel;
      usedChannels.try_emplace(*handle, kind);
    }
  }
  auto type = sourceFact<IntegerAttr>(collective, source_facts::kChannelType);
  // Absent facts of an imported collective stand for type 1; a collective without facts takes what the module uses.
  bool hasFacts = collective->hasAttr("source");
  int64_t typeValue = type ? type.getInt() : hasFacts || unchanged ? 1 : channelType;
  std::string text =
      "#stablehlo.channel_handle<handle = " + std::to_string(*handle) + ", type = " + std::to_string(typeValue) + ">";
  return parseAttribute(text, collective->getContext());
}

int64_t CollectiveExporter::groupSizeOf(CollectiveOpInterface collective) const {
  GroupsAttrInterface groups = collective.getGroupsAttr();
  if (!groups)
    return 0;
  int64_t size = groups.isUniform() ? groups.getGroupSize() : 0;
  if (groups.getNumRanks() == 0)
    size = groupsReader.idsIn(collective.getIdSpace()).value_or(0);
  if (collective.getIdSpace() == IdSpace::ReplicaAndPartition)
    size *= moduleRanks(module).partitions;
  return size;
}

std::optional<Attribute> CollectiveExporter::groupsFor(CollectiveOpInterface collective) {
  GroupsAttrInterface groups = collective.getGroupsAttr();
  if (!groups)
    return std::nullopt;
  SmallVector<SmallVector<int64_t>> rows;
  groups.expand(rows);
  if (auto list = sourceFact<DenseIntElementsAttr>(collective, source_facts::kGroups)) {
    // The source's own spelling, if it still says the same.
    SmallVector<SmallVector<int64_t>> listed;
    int64_t width = list.empty() ? 1 : cast<ShapedType>(list.getType()).getDimSize(1), column = 0;
    for (int64_t id : list.getValues<int64_t>()) {
      if (column++ % width == 0)
        listed.emplace_back();
      if (id >= 0)
        listed.back().push_back(id);
    }
    if (listed == rows)
      return list;
  }
  // The flag for flattened ids asks for a list, so that "all ranks" has to be spelled out.
  if (rows.empty() && collective.getIdSpace() == IdSpace::Flattened)
    if (std::optional<int64_t> count = groupsReader.idsIn(IdSpace::Flattened))
      llvm::append_range(rows.emplace_back(), llvm::seq<int64_t>(0, *count));
  // StableHLO's root is the first of its group.
  if (auto broadcast = dyn_cast<BroadcastOp>(collective.getOperation()); broadcast && broadcast.getRoot() > 0)
    for (auto &row : rows)
      std::rotate(row.begin(), row.begin() + broadcast.getRoot(), row.begin() + broadcast.getRoot() + 1);
  return groupsAsList(cast<GroupsAttrInterface>(GroupsAttr::get(module.getContext(), ArrayRef(rows))));
}

void CollectiveExporter::writeGroupsAsList(Operation *op) {
  Attribute groups = getSourceAttr(op, "replica_groups");
  if (!groups || isa<DenseIntElementsAttr>(groups))
    return;
  // Mesh axes mean the same whatever the ids count.
  if (GroupsAttrInterface read = groupsReader.read(groups, IdSpace::Flattened).groups)
    setSourceAttr(op, "replica_groups", groupsAsList(read));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static StringRef stablehloName(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return "stablehlo.all_reduce";
  case CollectiveKind::ReduceScatter:
    return "stablehlo.reduce_scatter";
  case CollectiveKind::AllGather:
    return "stablehlo.all_gather";
  case CollectiveKind::AllToAll:
    return "stablehlo.all_to_all";
  case CollectiveKind::Broadcast:
    return "stablehlo.collective_broadcast";
  case CollectiveKind::Permute:
    return "stablehlo.collective_permute";
  default: // StableHLO has no other, see check
    break;
  }
  llvm_unreachable("only collectives that StableHLO has are exported");
}

static bool hasDeviceIdFlag(CollectiveKind kind) {
  return kind == CollectiveKind::AllReduce || kind == CollectiveKind::ReduceScatter ||
         kind == CollectiveKind::AllGather;
}

LogicalResult CollectiveExporter::check(CollectiveOpInterface collective) {
  Operation *op = collective;
  CollectiveKind kind = collective.getCollectiveKind();
  if (kind > CollectiveKind::Broadcast)
    return op->emitOpError() << "expected a collective that StableHLO has, got '" << stringifyCollectiveKind(kind)
                             << "'";
  IdSpace space = collective.getIdSpace();
  ModuleRanks ranks = moduleRanks(module);
  if (!hasDeviceIdFlag(kind) && (space == IdSpace::ReplicaAndPartition ||
                                 (space == IdSpace::Flattened && ranks.replicas > 1 && ranks.partitions > 1)))
    return op->emitOpError() << "expected ids of replicas or partitions for '" << stablehloName(kind) << "', got "
                             << stringifyIdSpace(space) << " ids in a module of " << ranks.replicas << " replicas and "
                             << ranks.partitions << " partitions";
  if (hasDeviceIdFlag(kind) && space == IdSpace::Partition && ranks.replicas > 1)
    return op->emitOpError() << "expected ids of replicas or of all ranks for '" << stablehloName(kind)
                             << "', got partition ids in a module of " << ranks.replicas << " replicas";
  bool needsSize = kind == CollectiveKind::AllToAll || collective.getReductionKind() == ReductionKind::Average;
  bool everyone = collective.getGroupsAttr() && collective.getGroupsAttr().getNumRanks() == 0;
  bool spelled = sourceFact<DenseIntElementsAttr>(op, source_facts::kGroups) != nullptr;
  if (needsSize && groupSizeOf(collective) == 0 && !sourceFact<IntegerAttr>(op, source_facts::kSplitCount))
    return op->emitOpError() << "expected groups of one known size, got " << collective.getGroupsAttr();
  if (everyone && !spelled && space == IdSpace::Flattened && !groupsReader.idsIn(IdSpace::Flattened))
    return op->emitOpError() << "expected groups as lists or a module that says how many ranks it has (a mesh, or "
                                "'mhlo.num_partitions'), got neither";
  return success();
}

Operation *CollectiveExporter::write(OpBuilder &builder, CollectiveOpInterface collective, ValueRange operands,
                                     TypeRange results, const Call &call) {
  Operation *op = collective;
  CollectiveKind kind = call.kind;
  NamedAttrList attrs, dictionary;
  auto number = [&](int64_t value) { return builder.getI64IntegerAttr(value); };

  if (Attribute channel = channelFor(collective, call))
    attrs.set("channel_handle", channel);
  IdSpace space = collective.getIdSpace();
  if (hasDeviceIdFlag(kind) && (space == IdSpace::Flattened || space == IdSpace::Partition))
    attrs.set("use_global_device_ids", builder.getUnitAttr());
  if (std::optional<Attribute> groups = groupsFor(collective))
    attrs.set("replica_groups", *groups);
  switch (kind) {
  case CollectiveKind::AllGather:
    attrs.set("all_gather_dim", number(call.dims.in));
    break;
  case CollectiveKind::ReduceScatter:
    attrs.set("scatter_dimension", number(call.dims.in));
    break;
  case CollectiveKind::AllToAll: {
    auto parts = sourceFact<IntegerAttr>(op, source_facts::kSplitCount);
    attrs.set("split_dimension", number(call.dims.in));
    attrs.set("concat_dimension", number(call.dims.out));
    attrs.set("split_count", parts ? parts : number(groupSizeOf(collective)));
    break;
  }
  case CollectiveKind::Permute:
    attrs.set("source_target_pairs", cast<PermuteOp>(op).getPairs());
    break;
  default:
    break;
  }

  // Back where each attribute stood.
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (keeps(collective, attr, call.unchanged))
      dictionary.append(attr);
  if (auto clashes = sourceFact<DictionaryAttr>(op, source_facts::kAttributes))
    dictionary.append(clashes.begin(), clashes.end());
  if (auto properties = sourceFact<DictionaryAttr>(op, source_facts::kProperties))
    attrs.append(properties.begin(), properties.end());
  if (auto names = sourceFact<ArrayAttr>(op, source_facts::kDictionary))
    for (Attribute name : names)
      if (Attribute moved = attrs.erase(cast<StringAttr>(name)))
        dictionary.set(cast<StringAttr>(name), moved);

  SmallVector<std::unique_ptr<Region>> regions;
  if (collective.getReductionKind() && kind != CollectiveKind::AllGather)
    regions.push_back(combinerFor(builder, collective, getElementTypeOrSelf(operands.front().getType())));
  return createSourceOp(builder, op->getLoc(), stablehloName(kind), operands, results, attrs,
                        SourceEncoding::Properties, dictionary, regions);
}

SmallVector<Value> CollectiveExporter::finish(OpBuilder &builder, CollectiveOpInterface collective, ValueRange values) {
  SmallVector<Value> results(values);
  if (collective.getReductionKind() != ReductionKind::Average)
    return results;
  Location loc = collective->getLoc();
  SourceEncoding encoding = encodingFor(collective);
  for (Value &value : results) {
    auto type = cast<RankedTensorType>(value.getType());
    auto scalar = RankedTensorType::get({}, type.getElementType());
    auto count = DenseElementsAttr::get(
        scalar, builder.getFloatAttr(type.getElementType(), static_cast<double>(groupSizeOf(collective))));
    Value divisor =
        createSourceOp(builder, loc, "stablehlo.constant", {}, scalar, builder.getNamedAttr("value", count), encoding)
            ->getResult(0);
    if (type.getRank() != 0)
      divisor = createSourceOp(builder, loc, "stablehlo.broadcast_in_dim", divisor, type,
                               builder.getNamedAttr("broadcast_dimensions", builder.getDenseI64ArrayAttr({})), encoding)
                    ->getResult(0);
    value = createSourceOp(builder, loc, "stablehlo.divide", {value, divisor}, type, {}, encoding)->getResult(0);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

bool CollectiveExporter::isComposed(CollectiveOpInterface collective) const {
  PlanAttr plan = collective.getPlanAttr();
  if (!plan || plan.getAlgorithm() != ::braid::cost::composition)
    return false;
  auto fixed = [](Value operand) { return cast<RankedTensorType>(operand.getType()).hasStaticShape(); };
  StringRef why = groupSizeOf(collective) == 0                         ? "its groups have no known size"
                  : !llvm::any_of(collective.getCommOperands(), fixed) ? "its size is dynamic"
                  : isYetToBeDivided(collective) ? "a compiler still has to divide it (sdy.sharding)"
                                                 : "";
  if (!why.empty())
    remarkMissed(collective->getLoc(), "braid-export", "composition",
                 "goes out as one all_reduce, planned as a reduce_scatter and an all_gather: " + why);
  return why.empty();
}

FailureOr<SmallVector<CollectiveExporter::Part>> CollectiveExporter::partsOf(CollectiveOpInterface collective) {
  if (failed(check(collective)))
    return failure();
  OperandRange operands = collective.getCommOperands();
  CollectiveKind kind = collective.getCollectiveKind();
  Part all;
  bool sameDims = true, sameType = true;
  for (unsigned index = 0; index < operands.size(); ++index) {
    all.members.push_back(index);
    sameDims &= dimsOf(collective, index) == dimsOf(collective, 0);
    sameType &= getElementTypeOrSelf(operands[index].getType()) == getElementTypeOrSelf(operands[0].getType());
  }
  bool variadicForm =
      kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllGather || kind == CollectiveKind::AllToAll;
  // XLA lowers an all_to_all between two dimensions to several operations, which it then refuses to have in flight: the
  // packed form has one dimension.
  bool mustPack = kind == CollectiveKind::AllToAll && options.consumer == ExportConsumer::Jax && options.async &&
                  isa<StartOp>(collective->getParentOp()) && !sourceFact<UnitAttr>(collective, source_facts::kAsync) &&
                  llvm::any_of(all.members, [&](unsigned index) {
                    CollectiveDims dims = dimsOf(collective, index);
                    return dims.in != dims.out;
                  });
  bool composed = isComposed(collective);
  mustPack |= composed;
  bool asItIs = isUnchanged(collective) || (options.consumer == ExportConsumer::Stablehlo && variadicForm && sameType);
  if (!mustPack && sameDims && asItIs)
    return SmallVector<Part>{all};

  // One part for each element type; a tensor of unknown shape cannot be laid beside others and goes alone.
  SmallVector<Part> parts;
  llvm::MapVector<Type, SmallVector<unsigned>> byType;
  for (unsigned index : all.members) {
    bool fixed = cast<RankedTensorType>(operands[index].getType()).hasStaticShape() &&
                 cast<RankedTensorType>(collective.getCommResults()[index].getType()).hasStaticShape();
    if (fixed)
      byType[getElementTypeOrSelf(operands[index].getType())].push_back(index);
    else
      parts.push_back({{index}, std::nullopt, {}});
  }
  for (auto &[type, members] : byType) {
    if (members.size() == 1 && !mustPack) {
      parts.push_back({members, std::nullopt, {}});
      continue;
    }
    int64_t size = groupSizeOf(collective);
    bool needsSize =
        kind == CollectiveKind::AllGather || kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll;
    if (needsSize && size == 0)
      return collective->emitOpError() << "expected groups of one known size to pack its operands, got "
                                       << collective.getGroupsAttr();
    Packing packing(collective, members, size, encodingFor(collective), composed);
    RankedTensorType whole = packing.resultType(), share;
    if (composed)
      share = RankedTensorType::get({whole.getDimSize(0) / size}, whole.getElementType());
    parts.push_back({members, packing, share});
  }
  return parts;
}

Value CollectiveExporter::writePacked(OpBuilder &builder, CollectiveOpInterface collective, const Part &part,
                                      Value packed) {
  auto one = [&](CollectiveKind kind, Value operand, Type result) {
    return write(builder, collective, operand, result, {kind, CollectiveDims(), false})->getResult(0);
  };
  Type whole = part.packing->resultType();
  if (!part.share)
    return one(collective.getCollectiveKind(), packed, whole);
  return one(CollectiveKind::AllGather, one(CollectiveKind::ReduceScatter, packed, part.share), whole);
}

void CollectiveExporter::emitParts(OpBuilder &builder, CollectiveOpInterface collective, ValueRange operands,
                                   ArrayRef<Part> parts, SmallVectorImpl<Value> &results) {
  results.assign(operands.size(), Value());
  for (const Part &part : parts) {
    SmallVector<Value> values = pick(operands, part.members), outcome;
    if (part.packing) {
      Value arrived = writePacked(builder, collective, part, part.packing->pack(builder, values));
      outcome = part.packing->unpack(builder, finish(builder, collective, arrived).front());
    } else {
      Operation *call =
          write(builder, collective, values, pickTypes(collective.getCommResults(), part.members),
                {collective.getCollectiveKind(), dimsOf(collective, part.members.front()), parts.size() == 1});
      outcome = finish(builder, collective, call->getResults());
    }
    for (auto [index, value] : llvm::zip(part.members, outcome))
      results[index] = value;
  }
}

LogicalResult CollectiveExporter::exportCollective(CollectiveOpInterface collective) {
  auto parts = partsOf(collective);
  if (failed(parts))
    return failure();
  OpBuilder builder(collective);
  SmallVector<Value> results;
  emitParts(builder, collective, collective.getCommOperands(), *parts, results);
  collective->replaceAllUsesWith(results);
  collective->erase();
  return success();
}
