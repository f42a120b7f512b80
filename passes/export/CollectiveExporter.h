//===- CollectiveExporter.h - one braid collective becomes StableHLO ------===//

#ifndef BRAID_PASSES_EXPORT_COLLECTIVEEXPORTER_H
#define BRAID_PASSES_EXPORT_COLLECTIVEEXPORTER_H

#include "Packing.h"

#include "../import/ReplicaGroups.h"

#include "braid/passes/Export.h"

namespace mlir::braid {

/// A fact about the source of `op`, or null (import/SourceFacts.h).
template <typename T> T sourceFact(Operation *op, StringRef name) {
  auto source = op->getAttrOfType<DictionaryAttr>("source");
  return source ? source.getAs<T>(name) : T();
}

inline SmallVector<Value> pick(ValueRange values, ArrayRef<unsigned> members) {
  return llvm::map_to_vector(members, [&](unsigned index) { return values[index]; });
}

inline SmallVector<Type> pickTypes(ValueRange values, ArrayRef<unsigned> members) {
  return llvm::map_to_vector(members, [&](unsigned index) { return values[index].getType(); });
}

class CollectiveExporter {
public:
  CollectiveExporter(ModuleOp module, const ExportOptions &options);

  /// A collective that stands alone.
  LogicalResult exportCollective(CollectiveOpInterface collective);
  /// A collective in flight: its start and every wait.
  LogicalResult exportStart(StartOp start);
  /// A StableHLO collective that was not imported: its groups as a list, if they can be read.
  void writeGroupsAsList(Operation *op);
  /// Attributes of the braid dialect on the module, which a planned program no longer needs and JAX would refuse.
  void cleanModule();

private:
  /// What one StableHLO collective is made of.
  struct Call {
    CollectiveKind kind;
    CollectiveDims dims;
    bool unchanged; ///< as the source had it: keeps the channel
  };

  /// A part of a collective that becomes one StableHLO collective: one operand or unchanged ones as they are, or a
  /// packing. Two StableHLO collectives where the plan has an all_reduce composed of a reduce_scatter and an all_gather.
  struct Part {
    SmallVector<unsigned> members;
    std::optional<Packing> packing;
    RankedTensorType share; ///< what a rank has between the two halves of a composition; else null
  };

  /// Splits a collective into parts; fails with an error where StableHLO cannot say it.
  FailureOr<SmallVector<Part>> partsOf(CollectiveOpInterface collective);
  /// Whether the plan wants two collectives, and they can be written.
  bool isComposed(CollectiveOpInterface collective) const;
  /// What is wrong with a collective for StableHLO, checked once before anything is written.
  LogicalResult check(CollectiveOpInterface collective);

  /// Writes one StableHLO collective over `operands`.
  Operation *write(OpBuilder &builder, CollectiveOpInterface collective, ValueRange operands, TypeRange results,
                   const Call &call);
  /// Writes a packed part: one collective, or both halves of a composition.
  Value writePacked(OpBuilder &builder, CollectiveOpInterface collective, const Part &part, Value packed);
  /// Writes a start over `operands`, with the collective that `call` says inside. Returns the future.
  Value writeAsyncStart(OpBuilder &builder, StartOp start, ValueRange operands, ArrayRef<Location> locs,
                        TypeRange results, const Call &call, ArrayRef<NamedAttribute> yieldAttrs);
  /// What comes after the collective: the division of an average.
  SmallVector<Value> finish(OpBuilder &builder, CollectiveOpInterface collective, ValueRange values);
  /// Packs, calls `run` on what is sent, unpacks, finishes; the results stand in the order of the collective's.
  void emitParts(OpBuilder &builder, CollectiveOpInterface collective, ValueRange operands, ArrayRef<Part> parts,
                 SmallVectorImpl<Value> &results);

  Attribute channelFor(CollectiveOpInterface collective, const Call &call);
  std::optional<Attribute> groupsFor(CollectiveOpInterface collective);
  /// The size of the collective's groups, 0 if it is not known or they differ.
  int64_t groupSizeOf(CollectiveOpInterface collective) const;
  /// Whether a discardable attribute goes out.
  bool keeps(CollectiveOpInterface collective, NamedAttribute attr, bool unchanged) const;

  ModuleOp module;
  ExportOptions options;
  ReplicaGroupsReader groupsReader;
  bool planned = false;
  bool changed = false; ///< some collective is none of the source's
  // Channel handles: JAX gives every collective handle 1; XLA's partitioner numbers them, and then they stay distinct.
  bool distinctChannels = false;
  int64_t highestChannel = 0;
  DenseMap<int64_t, CollectiveKind> usedChannels; ///< with the kind of their first collective
  int64_t channelType = 1;
};

} // namespace mlir::braid

#endif // BRAID_PASSES_EXPORT_COLLECTIVEEXPORTER_H
