//===- CollectiveImporter.cpp - one StableHLO collective becomes a braid one ===//
//
// What does not mean anything to Braid goes into the dictionary `source` (SourceFacts.h), so that an export gives back
// exactly what was read.
//
//===----------------------------------------------------------------------===//

#include "CollectiveImporter.h"
#include "OpaqueText.h"
#include "SourceFacts.h"

#include "braid/dialect/Groups.h"
#include "braid/passes/StablehloOp.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::braid;

ImportResult mlir::braid::leave(Operation *op, const Twine &why) {
  auto remark = remark::missed(op->getLoc(), remark::RemarkOpts::name("left").category("braid-import"));
  if (remark)
    remark << ("'" + op->getName().getStringRef() + "' stays as it is: " + why).str();
  return ImportResult::Left;
}

static ImportResult refuse(Operation *op, const Twine &why) {
  op->emitOpError() << why;
  return ImportResult::Invalid;
}

bool CollectiveImporter::isCollective(Operation *op) {
  static const llvm::StringSet<> names{"stablehlo.all_reduce",         "stablehlo.all_gather",
                                       "stablehlo.reduce_scatter",     "stablehlo.all_to_all",
                                       "stablehlo.collective_permute", "stablehlo.collective_broadcast"};
  return names.contains(op->getName().getStringRef());
}

//===----------------------------------------------------------------------===//
// Attributes: each one is taken or kept
//===----------------------------------------------------------------------===//

/// Hands out attributes and keeps book, so that none is lost.
class CollectiveImporter::AttributeReader {
public:
  explicit AttributeReader(Operation *op) : op(op) {}

  Attribute take(StringRef name) {
    Attribute attr = getSourceAttr(op, name);
    if (attr) {
      taken.insert(name);
      if (!op->isRegistered() && op->getDiscardableAttr(name))
        inDictionary.push_back(StringAttr::get(op->getContext(), name));
    }
    return attr;
  }

  std::optional<int64_t> takeInteger(StringRef name) {
    auto attr = dyn_cast_or_null<IntegerAttr>(take(name));
    return attr && attr.getType().isSignlessInteger(64) ? std::optional(attr.getInt()) : std::nullopt;
  }

  /// Everything that was not taken: unknown properties go to `source`, discardable attributes stay what they are,
  /// unless the braid operation has an attribute of that name itself.
  void keepTheRest(Reading &reading) {
    Builder builder(op->getContext());
    NamedAttrList properties, clashes;
    SmallVector<NamedAttribute> discardable(op->getDiscardableAttrs());
    if (encodingOf(op) != SourceEncoding::Attributes)
      for (NamedAttribute attr : getSourceAttrs(op))
        if (!taken.contains(attr.getName()))
          properties.append(attr);
    OperationName target(reading.name, op->getContext());
    for (NamedAttribute attr : discardable) {
      if (taken.contains(attr.getName()))
        continue;
      bool clash = llvm::is_contained(target.getAttributeNames(), attr.getName());
      (clash ? clashes : reading.discardable).append(attr);
    }
    if (!properties.empty())
      reading.source.set(source_facts::kProperties, properties.getDictionary(op->getContext()));
    if (!clashes.empty())
      reading.source.set(source_facts::kAttributes, clashes.getDictionary(op->getContext()));
    if (!inDictionary.empty())
      reading.source.set(source_facts::kDictionary, builder.getArrayAttr(inDictionary));
  }

private:
  Operation *op;
  llvm::StringSet<> taken;
  SmallVector<Attribute> inDictionary;
};

/// The handle and type of `#stablehlo.channel_handle<handle = 1, type = 1>`.
static std::optional<std::pair<int64_t, int64_t>> readChannel(Attribute attr) {
  std::string spelling = spellingOf(attr);
  OpaqueText text(spelling);
  if (!text.take("stablehlo.channel_handle<") || !text.takeKey("handle"))
    return std::nullopt;
  auto handle = text.takeInteger();
  if (!handle || !text.take(",") || !text.takeKey("type"))
    return std::nullopt;
  auto type = text.takeInteger();
  if (!type || !text.take(">"))
    return std::nullopt;
  return std::make_pair(*handle, *type);
}

//===----------------------------------------------------------------------===//
// The parts of a collective
//===----------------------------------------------------------------------===//

ImportResult CollectiveImporter::readGroups(Operation *op, AttributeReader &attrs, IdSpace space, Reading &reading) {
  Attribute written = attrs.take("replica_groups");
  GroupsAnswer answer = groupsReader.read(written, space);
  if (answer.partial && op->getName().stripDialect() == "collective_broadcast")
    return leave(op, "some ranks are in no group");
  if (!answer.groups)
    return answer.invalid ? refuse(op, answer.why) : leave(op, answer.why);
  reading.inherent.set("groups", answer.groups);
  // Mesh axes go out as lists; a list must come back as it was, an empty one too.
  if (auto list = dyn_cast<DenseIntElementsAttr>(written);
      list && (list.empty() || groupsAsList(answer.groups) != list))
    reading.source.set(source_facts::kGroups, written);
  return ImportResult::Imported;
}

ImportResult CollectiveImporter::readPairs(Operation *op, AttributeReader &attrs, IdSpace space, Reading &reading) {
  auto pairs = dyn_cast_or_null<DenseIntElementsAttr>(attrs.take("source_target_pairs"));
  auto type = pairs ? cast<ShapedType>(pairs.getType()) : ShapedType();
  if (!pairs || type.getRank() != 2 || !type.getElementType().isSignlessInteger(64) ||
      (type.getDimSize(1) != 2 && type.getNumElements() != 0))
    return refuse(op, "'source_target_pairs' expected an N x 2 matrix of i64, got another attribute");
  std::optional<int64_t> count = groupsReader.idsIn(space);
  DenseSet<int64_t> seen[2];
  int64_t position = 0;
  for (int64_t id : pairs.getValues<int64_t>()) {
    int64_t column = position++ % 2;
    if (id < 0 || (count && id >= *count))
      return refuse(op, "'source_target_pairs' expected ids from 0 to " +
                            (count ? Twine(*count - 1) : Twine("the number of ranks")) + ", got " + Twine(id));
    if (!seen[column].insert(id).second)
      return refuse(op, "'source_target_pairs' expected each " + Twine(column ? "target" : "source") +
                            " once, got id " + Twine(id) + " twice");
  }
  reading.inherent.set("pairs", pairs);
  return ImportResult::Imported;
}

ImportResult CollectiveImporter::readReduction(Operation *op, AttributeReader &attrs, Reading &reading) {
  if (op->getNumRegions() != 1)
    return refuse(op, "expected one reduction region, got " + Twine(op->getNumRegions()));
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  for (Value operand : op->getOperands())
    if (Type other = getElementTypeOrSelf(operand.getType()); other != element) {
      op->emitOpError() << "expected operands of one element type in one reduction, got " << element << " and "
                        << other;
      return ImportResult::Invalid;
    }
  Type combined = combinedElementType(op->getRegion(0));
  // The specification lets a region combine a wider type of the same class.
  if (combined && combined != element && isa<FloatType>(combined) != isa<FloatType>(element)) {
    op->emitOpError() << "expected a reduction region on " << element << ", got one on " << combined;
    return ImportResult::Invalid;
  }
  if (combined && combined != element)
    return leave(op, "the reduction region combines another type than the operands have");
  std::string why;
  std::optional<Reduction> reduction = matchReduction(op->getRegion(0), element, why);
  if (!reduction)
    return leave(op, why);
  reading.inherent.set("reduction", ReductionKindAttr::get(op->getContext(), reduction->kind));
  if (reduction->accumulate)
    reading.inherent.set("accumulate", TypeAttr::get(reduction->accumulate));
  reading.combiner = &op->getRegion(0);
  return ImportResult::Imported;
}

/// The bytes of a tensor whose dynamic dimensions have bounds in its encoding (`#stablehlo.bounds<4, ?>`).
static std::optional<int64_t> boundedBytes(RankedTensorType type) {
  std::optional<int64_t> bytes = elementBytes(type.getElementType());
  if (!bytes)
    return std::nullopt;
  std::string spelling = type.getEncoding() ? spellingOf(type.getEncoding()) : "";
  OpaqueText text(spelling);
  bool bounds = text.take("stablehlo.bounds<");
  for (int64_t size : type.getShape()) {
    std::optional<int64_t> bound;
    if (bounds && !text.take("?"))
      bound = text.takeInteger();
    text.take(",");
    if (ShapedType::isDynamic(size) && !bound)
      return std::nullopt;
    *bytes *= ShapedType::isDynamic(size) ? *bound : size;
  }
  return bytes;
}

ImportResult CollectiveImporter::readSizes(Operation *op, Reading &reading) {
  bool dynamic = false;
  SmallVector<int64_t> bytes;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      return leave(op, "an operand is no ranked tensor");
    dynamic |= !type.hasStaticShape();
  }
  for (Value result : op->getResults())
    if (!isa<RankedTensorType>(result.getType()))
      return leave(op, "a result is no ranked tensor");
  if (!dynamic || reading.discardable.get(BraidDialect::getSizeHintAttrName()))
    return ImportResult::Imported;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> size = boundedBytes(cast<RankedTensorType>(operand.getType()));
    if (!size)
      return leave(op,
                   "dynamic dimensions, and neither bounds in the type nor a 'braid.size_hint' say how large they get");
    bytes.push_back(*size);
  }
  reading.discardable.set(BraidDialect::getSizeHintAttrName(), DenseI64ArrayAttr::get(op->getContext(), bytes));
  reading.source.set(source_facts::kHintFromBounds, UnitAttr::get(op->getContext()));
  return ImportResult::Imported;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

ImportResult CollectiveImporter::look(Operation *op, Reading &reading) {
  Builder builder(op->getContext());
  StringRef kind = op->getName().stripDialect();
  int64_t count = op->getNumOperands();
  reading.name = llvm::StringSwitch<StringRef>(kind)
                     .Case("all_reduce", "braid.all_reduce")
                     .Case("all_gather", "braid.all_gather")
                     .Case("reduce_scatter", "braid.reduce_scatter")
                     .Case("all_to_all", "braid.all_to_all")
                     .Case("collective_permute", "braid.permute")
                     .Case("collective_broadcast", "braid.broadcast");
  bool reduces = kind == "all_reduce" || kind == "reduce_scatter";
  bool pairs = kind == "collective_permute";
  if (count == 0)
    return refuse(op, "expected at least one operand, got none");
  if (op->getNumResults() != count)
    return kind == "collective_broadcast" && count == 2
               ? leave(op, "the root is computed")
               : refuse(op, "expected one result for each of " + Twine(count) + " operands, got " +
                                Twine(op->getNumResults()));
  if (!reduces && op->getNumRegions() != 0)
    return leave(op, "it has a region");

  // Channel and id space. Which ids a group lists depends on the channel and on a flag (see the specification, "process
  // grouping"); all_to_all, permute and broadcast have no flag.
  AttributeReader attrs(op);
  int64_t handle = 0;
  if (Attribute channel = attrs.take("channel_handle")) {
    auto read = readChannel(channel);
    if (!read)
      return leave(op, "channel handle '" + spellingOf(channel) + "' is in no form that is known");
    handle = read->first;
    reading.inherent.set("channel", builder.getI64IntegerAttr(handle));
    if (read->second != 1)
      reading.source.set(source_facts::kChannelType, builder.getI64IntegerAttr(read->second));
  }
  IdSpace space = handle > 0 ? IdSpace::Partition : IdSpace::Replica;
  if (reduces || kind == "all_gather") {
    Attribute flag = attrs.take("use_global_device_ids");
    if (flag && !isa<UnitAttr>(flag))
      return leave(op, "'use_global_device_ids' is no unit attribute");
    if (flag && handle <= 0)
      return refuse(op, "expected a channel handle above 0 with 'use_global_device_ids', got " + Twine(handle));
    space = flag ? IdSpace::Flattened : handle > 0 ? IdSpace::ReplicaAndPartition : IdSpace::Replica;
  }
  if (space != IdSpace::Flattened)
    reading.inherent.set("id_space", IdSpaceAttr::get(op->getContext(), space));

  if (reduces)
    if (auto result = readReduction(op, attrs, reading); result != ImportResult::Imported)
      return result;
  if (auto result = pairs ? readPairs(op, attrs, space, reading) : readGroups(op, attrs, space, reading);
      result != ImportResult::Imported)
    return result;

  // One dimension for all operands.
  auto takeDims = [&](StringRef from, StringRef to) {
    std::optional<int64_t> dim = attrs.takeInteger(from);
    if (dim)
      reading.inherent.set(to, builder.getDenseI64ArrayAttr(SmallVector<int64_t>(count, *dim)));
    else
      op->emitOpError() << "'" << from << "' expected an i64, got another attribute or none";
    return dim.has_value();
  };
  if ((kind == "all_gather" && !takeDims("all_gather_dim", "dims")) ||
      (kind == "reduce_scatter" && !takeDims("scatter_dimension", "dims")) ||
      (kind == "all_to_all" &&
       (!takeDims("split_dimension", "split_dims") || !takeDims("concat_dimension", "concat_dims"))))
    return ImportResult::Invalid;
  if (kind == "all_to_all") {
    std::optional<int64_t> parts = attrs.takeInteger("split_count");
    int64_t size = cast<GroupsAttrInterface>(reading.inherent.get("groups")).getGroupSize();
    if (!parts || (size != 0 && *parts != size)) {
      op->emitOpError() << "'split_count' expected the size of a group, " << size << ", got "
                        << (parts ? Twine(*parts) : Twine("none"));
      return ImportResult::Invalid;
    }
    if (size == 0)
      reading.source.set(source_facts::kSplitCount, builder.getI64IntegerAttr(*parts));
  }
  if (kind == "collective_broadcast")
    reading.inherent.set("root", builder.getI64IntegerAttr(0)); // the first of its group, always
  if (count > 1)
    reading.source.set(source_facts::kVariadic, builder.getI64IntegerAttr(count));

  attrs.keepTheRest(reading);
  if (auto result = readSizes(op, reading); result != ImportResult::Imported)
    return result;
  // These have the types of their operands here, while StableHLO lets a result say more or less of a shape, or be
  // wider.
  if (kind == "all_reduce" || pairs || kind == "collective_broadcast")
    for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults())) {
      auto from = cast<RankedTensorType>(operand.getType()), to = cast<RankedTensorType>(result.getType());
      if (from != to && succeeded(verifyCompatibleShape(from, to)))
        return leave(op, "a result has another type than its operand");
    }
  return ImportResult::Imported;
}

Operation *CollectiveImporter::build(Operation *op, Reading &reading) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), reading.name);
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  if (!reading.source.empty())
    reading.inherent.set("source", reading.source.getDictionary(op->getContext()));
  state.addAttributes(reading.inherent);
  state.addAttributes(reading.discardable);
  if (reading.combiner)
    state.addRegion()->takeBody(*reading.combiner);
  Operation *created = builder.create(state);
  auto remark = remark::passed(op->getLoc(), remark::RemarkOpts::name("imported").category("braid-import"));
  if (remark)
    remark << ("'" + op->getName().getStringRef() + "' is '" + reading.name + "'").str();
  op->replaceAllUsesWith(created);
  op->erase();
  return created;
}

ImportResult CollectiveImporter::importCollective(Operation *op) {
  Reading reading;
  if (ImportResult result = look(op, reading); result != ImportResult::Imported)
    return result;
  // What StableHLO's own verifier would refuse (shapes, dimensions) the braid operation's verifier refuses here.
  return succeeded(verify(build(op, reading))) ? ImportResult::Imported : ImportResult::Invalid;
}
