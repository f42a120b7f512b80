//===- BraidInterfaces.td - what passes ask of groups and of collectives ------------------------*- tablegen -*-===//
//
// Passes see collectives only through CollectiveOpInterface, so that an embedder's own operations can be planned
// without being imported first.
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_DIALECT_BRAIDINTERFACES_TD
#define BRAID_DIALECT_BRAIDINTERFACES_TD

include "mlir/IR/OpBase.td"

def GroupsAttrInterface : AttrInterface<"GroupsAttrInterface"> {
  let cppNamespace = "::mlir::braid";
  let description = [{
    Which ranks take part in a collective together. Every id from 0 to the number of ranks - 1 is in exactly one group.
    The order inside a group matters to collectives that deal out blocks (all_gather, reduce_scatter, all_to_all) and to
    roots; the order of groups never matters.
  }];
  let methods = [
    InterfaceMethod<"The number of ids in all groups; 0 for one group of all ranks, however many there are.",
      "int64_t", "getNumRanks">,
    InterfaceMethod<"The number of groups.", "int64_t", "getNumGroups">,
    InterfaceMethod<"The number of ids in the largest group; 0 if it is not known here, see getNumRanks.",
      "int64_t", "getGroupSize">,
    InterfaceMethod<"Whether all groups have the same size.", "bool", "isUniform", (ins), [{}], [{ return true; }]>,
    InterfaceMethod<"The ids of each group, in order; no group at all stands for one group of all ranks.",
      "void", "expand", (ins "::llvm::SmallVectorImpl<::llvm::SmallVector<int64_t>> &":$groups)>,
    InterfaceMethod<"Whether the ids are 0 to N - 1 by construction, so that a verifier need not look at each.",
      "bool", "isPermutationByConstruction", (ins), [{}], [{ return false; }]>,
  ];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::mlir::braid";
  let description = [{
    One step that all ranks of a group take together. An implementation must also write to `CommunicationResource`, or
    stock passes will move it.
  }];
  let methods = [
    InterfaceMethod<"What the collective does.", "::mlir::braid::CollectiveKind", "getCollectiveKind">,
    InterfaceMethod<"Who takes part; null for a permute, which has pairs.",
      "::mlir::braid::GroupsAttrInterface", "getGroupsAttr">,
    InterfaceMethod<"How contributions are combined; none if they are not.",
      "std::optional<::mlir::braid::ReductionKind>", "getReductionKind", (ins), [{}], [{ return std::nullopt; }]>,
    InterfaceMethod<"The tensors sent. One launch moves them all.",
      "::mlir::OperandRange", "getCommOperands", (ins), [{}], [{ return $_op->getOperands(); }]>,
    InterfaceMethod<"The tensors received, one for each operand.",
      "::mlir::ResultRange", "getCommResults", (ins), [{}], [{ return $_op->getResults(); }]>,
    InterfaceMethod<[{Bytes of all operands on one rank. Where a dimension is dynamic, `braid.size_hint` says how many
        bytes the operand has; none if there is no hint or the element type has no size.}],
      "std::optional<int64_t>", "getOperandBytes", (ins), [{}],
      [{ return ::mlir::braid::operandBytes($_op.getOperation(), $_op.getCommOperands()); }]>,
    InterfaceMethod<"What the ids in groups and pairs count.", "::mlir::braid::IdSpace", "getIdSpace", (ins), [{}],
      [{ return ::mlir::braid::IdSpace::Flattened; }]>,
    InterfaceMethod<"How it will be run; null if that is not decided.", "::mlir::braid::PlanAttr", "getPlanAttr">,
    InterfaceMethod<"Set how it will be run; null to forget it.", "void", "setPlanAttr",
      (ins "::mlir::braid::PlanAttr":$plan)>,
    InterfaceMethod<"The channel that the source gave it, if it did.",
      "std::optional<int64_t>", "getChannelId", (ins), [{}], [{ return std::nullopt; }]>,
    InterfaceMethod<[{Whether it may share one launch with others of its kind, by packing all operands into one buffer.
        An all_to_all may not: no consumer combines them.}],
      "bool", "isBucketable", (ins), [{}],
      [{ return $_op.getCollectiveKind() != ::mlir::braid::CollectiveKind::AllToAll; }]>,
  ];
}

#endif // BRAID_DIALECT_BRAIDINTERFACES_TD
