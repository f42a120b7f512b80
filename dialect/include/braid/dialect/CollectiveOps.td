//===- CollectiveOps.td - one operation per collective ------------------------------------------*- tablegen -*-===//
//
// Constraints are labelled C1, C2, ...: the same labels stand in the verifier and in the names of the tests. C1 to C6
// are the same for all collectives, C7 and up are an operation's own.
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_DIALECT_COLLECTIVEOPS_TD
#define BRAID_DIALECT_COLLECTIVEOPS_TD

include "braid/dialect/BraidAttrs.td"
include "braid/dialect/BraidBase.td"
include "braid/dialect/BraidInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

/// What every collective has.
class Braid_CollectiveOp<string mnemonic, string kind, list<Trait> traits = []>
    : Braid_Op<mnemonic, !listconcat(traits, [Braid_Convergent, CollectiveOpInterface])> {
  /// Optional on each collective, written in the attribute dictionary.
  dag commonArguments = (ins
    DefaultValuedOptionalAttr<Braid_IdSpaceAttr, "::mlir::braid::IdSpace::Flattened">:$id_space,
    OptionalAttr<I64Attr>:$channel,
    OptionalAttr<Braid_PlanAttr>:$plan,
    OptionalAttr<DictionaryAttr>:$source
  );
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  let hasFolder = 1;
  code commonDeclarations = [{
    ::mlir::braid::CollectiveKind getCollectiveKind() { return ::mlir::braid::CollectiveKind::}] # kind # [{; }
    std::optional<int64_t> getChannelId() { return getChannel(); }
  }];
  let extraClassDeclaration = commonDeclarations;
}

/// A collective that combines the contributions of ranks.
class Braid_ReductionOp<string mnemonic, string kind, list<Trait> traits = []>
    : Braid_CollectiveOp<mnemonic, kind, traits> {
  dag reductionArguments = (ins
    OptionalAttr<TypeAttr>:$accumulate,
    UnitAttr:$reassociate
  );
  let regions = (region AnyRegion:$combiner);
  let extraClassDeclaration = commonDeclarations # [{
    std::optional<::mlir::braid::ReductionKind> getReductionKind() { return getReduction(); }
  }];
}

def Braid_AllReduceOp : Braid_ReductionOp<"all_reduce", "AllReduce",
    [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "combine a tensor over a group; every rank gets the result";
  let description = [{
    Afterwards all ranks of a group hold the same bytes. With several operands it is one launch over several tensors (a
    *bucket*), each reduced on its own.

    ```mlir
    %r:2 = braid.all_reduce sum %a, %b groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<4xf32>, tensor<8xf32>
    ```

    `accumulate` is the type in which sums are kept where it differs from the element type; `reassociate` allows an
    order of additions that differs from the source's. The `combiner` region is what a source program says about the
    reduction, kept for an exact export; nothing reads it, passes may drop it.

    Constraints:
    - (C1) there is at least one operand;
    - (C2) in groups, each id from 0 to N - 1 stands exactly once, where N is the number of ids; in a module with
      `mhlo.num_replicas` * `mhlo.num_partitions` > 1, N is what these and `id_space` say; no program has more than 2^24
      ranks;
    - (C3) all operands have the same element type;
    - (C4) `and`, `or`, `xor` need integers, `average` needs floating point, `min` and `max` need ordered numbers;
    - (C5) `accumulate` is of the same class as the element type (floating point, integer) and at least as wide;
    - (C6) each result has the type of its operand.

    Groups may differ in size. Folds to its operands if every group is a single rank.
  }];
  let arguments = !con((ins Variadic<AnyRankedTensor>:$operands, Braid_ReductionKindAttr:$reduction,
    GroupsAttrInterface:$groups), commonArguments, reductionArguments);
  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$operands, "::mlir::braid::ReductionKind":$reduction,
      "::mlir::braid::GroupsAttrInterface":$groups),
      [{ build($_builder, $_state, operands,
             ::mlir::braid::ReductionKindAttr::get($_builder.getContext(), reduction), groups,
             ::mlir::braid::IdSpaceAttr(), nullptr, nullptr, nullptr, nullptr, nullptr); }]>,
  ];
  let hasCustomAssemblyFormat = 1;
}

def Braid_ReduceScatterOp : Braid_ReductionOp<"reduce_scatter", "ReduceScatter"> {
  let summary = "combine a tensor over a group; every rank gets one block of the result";
  let description = [{
    Operand i is reduced over the group and cut along `dims[i]` into as many blocks as the group has ranks, which are
    dealt out in group order.

    ```mlir
    %s = braid.reduce_scatter sum %a dims = [0] groups = #braid.groups<[[0, 1, 2, 3]]>
       : (tensor<16xf32>) -> tensor<4xf32>
    ```

    Constraints: C1 to C5 as for `all_reduce`, and
    - (C6) there is one result for each operand, of its element type and rank;
    - (C7) there is one dimension in `dims` for each operand, in its range;
    - (C8) all groups have the same size, since shapes are the same on all ranks;
    - (C9) the size of the operand along its dimension is the result's times the group size, other sizes are equal;
      dynamic sizes are not checked.

    Folds to its operands if every group is a single rank.
  }];
  let arguments = !con((ins Variadic<AnyRankedTensor>:$operands, Braid_ReductionKindAttr:$reduction,
    DenseI64ArrayAttr:$dims, GroupsAttrInterface:$groups), commonArguments, reductionArguments);
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::ValueRange":$operands,
      "::mlir::braid::ReductionKind":$reduction, "::llvm::ArrayRef<int64_t>":$dims,
      "::mlir::braid::GroupsAttrInterface":$groups),
      [{ build($_builder, $_state, results, operands,
             ::mlir::braid::ReductionKindAttr::get($_builder.getContext(), reduction),
             $_builder.getDenseI64ArrayAttr(dims), groups,
             ::mlir::braid::IdSpaceAttr(), nullptr, nullptr, nullptr, nullptr, nullptr); }]>,
  ];
  let hasCustomAssemblyFormat = 1;
}

def Braid_AllGatherOp : Braid_CollectiveOp<"all_gather", "AllGather"> {
  let summary = "concatenate the tensors of a group; every rank gets the whole";
  let description = [{
    Result i is the concatenation, in group order, of operand i of all ranks of the group along `dims[i]`.

    ```mlir
    %g = braid.all_gather %a dims = [0] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<4xf32>) -> tensor<16xf32>
    ```

    Constraints: C1 and C2 as for `all_reduce`, and
    - (C6) there is one result for each operand, of its element type and rank;
    - (C7) there is one dimension in `dims` for each operand, in its range;
    - (C8) all groups have the same size, since shapes are the same on all ranks;
    - (C9) the size of the result along its dimension is the operand's times the group size, other sizes are equal;
      dynamic sizes are not checked.

    Folds to its operands if every group is a single rank.
  }];
  let arguments = !con((ins Variadic<AnyRankedTensor>:$operands, DenseI64ArrayAttr:$dims, GroupsAttrInterface:$groups),
    commonArguments);
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::ValueRange":$operands, "::llvm::ArrayRef<int64_t>":$dims,
      "::mlir::braid::GroupsAttrInterface":$groups),
      [{ build($_builder, $_state, results, operands, $_builder.getDenseI64ArrayAttr(dims), groups,
             ::mlir::braid::IdSpaceAttr(), nullptr, nullptr, nullptr); }]>,
  ];
  let hasCustomAssemblyFormat = 1;
}

def Braid_AllToAllOp : Braid_CollectiveOp<"all_to_all", "AllToAll"> {
  let summary = "every rank of a group sends one block to every other";
  let description = [{
    Operand i is cut along `split[i]` into as many blocks as the group has ranks; block k goes to rank k of the group.
    What arrives is concatenated in group order along `concat[i]`.

    ```mlir
    %t = braid.all_to_all %a split = [0] concat = [1] groups = #braid.groups<[[0, 1, 2, 3]]>
       : (tensor<8x4xf32>) -> tensor<2x16xf32>
    ```

    Constraints: C1 and C2 as for `all_reduce`, and
    - (C6) there is one result for each operand, of its element type and rank;
    - (C7) there is one dimension in `split` and one in `concat` for each operand, in its range;
    - (C8) all groups have the same size, since shapes are the same on all ranks;
    - (C9) the group size divides the operand's size along the split dimension, and the result's size is the quotient
      there, the operand's times the group size along the concat dimension, and equal elsewhere; if both are the same
      dimension nothing changes. Dynamic sizes are not checked.

    Folds to its operands if every group is a single rank.
  }];
  let arguments = !con((ins Variadic<AnyRankedTensor>:$operands, DenseI64ArrayAttr:$split_dims,
    DenseI64ArrayAttr:$concat_dims, GroupsAttrInterface:$groups), commonArguments);
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::ValueRange":$operands, "::llvm::ArrayRef<int64_t>":$split,
      "::llvm::ArrayRef<int64_t>":$concat, "::mlir::braid::GroupsAttrInterface":$groups),
      [{ build($_builder, $_state, results, operands, $_builder.getDenseI64ArrayAttr(split),
             $_builder.getDenseI64ArrayAttr(concat), groups,
             ::mlir::braid::IdSpaceAttr(), nullptr, nullptr, nullptr); }]>,
  ];
  let hasCustomAssemblyFormat = 1;
}

def Braid_PermuteOp : Braid_CollectiveOp<"permute", "Permute", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "send tensors along pairs of ranks";
  let description = [{
    In each pair the first rank (the source) sends its operands to the second (the target). A rank that is no target
    gets zeros.

    ```mlir
    %p = braid.permute %a pairs = [[0, 1], [1, 2]] : tensor<4xf32>
    ```

    Constraints: C1 as for `all_reduce`, and
    - (C2) no rank is source twice or target twice;
    - (C3) ids are not negative; in a module with `mhlo.num_replicas` * `mhlo.num_partitions` > 1 they are smaller than
      what these and `id_space` say; `id_space` is not `replica_and_partition`;
    - (C6) each result has the type of its operand;
    - (C7) `pairs` has two columns.

    Folds to its operands if the module says how many ranks there are and every one of them is paired with itself.
  }];
  let arguments = !con((ins Variadic<AnyRankedTensor>:$operands, I64ElementsAttr:$pairs), commonArguments);
  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$operands, "::llvm::ArrayRef<std::pair<int64_t, int64_t>>":$pairs),
      [{ build($_builder, $_state, operands, pairsAttr($_builder.getContext(), pairs),
             ::mlir::braid::IdSpaceAttr(), nullptr, nullptr, nullptr); }]>,
  ];
  let assemblyFormat = "$operands `pairs` `=` custom<Pairs>($pairs) attr-dict `:` type($operands)";
  let extraClassDeclaration = commonDeclarations # [{
    ::mlir::braid::GroupsAttrInterface getGroupsAttr() { return {}; }
    /// Source and target of each pair, in order.
    ::llvm::SmallVector<std::pair<int64_t, int64_t>> getPairList();
    /// `pairs` from a list.
    static ::mlir::DenseIntElementsAttr pairsAttr(::mlir::MLIRContext *context,
                                                  ::llvm::ArrayRef<std::pair<int64_t, int64_t>> pairs);
  }];
}

def Braid_BroadcastOp : Braid_CollectiveOp<"broadcast", "Broadcast",
    [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "every rank of a group gets the root's tensors";
  let description = [{
    `root` is an index into the group, not an id.

    ```mlir
    %b = braid.broadcast %a root = 0 groups = #braid.groups<[[0, 1], [2, 3]]> : tensor<4xf32>
    ```

    Constraints: C1 and C2 as for `all_reduce`, and
    - (C6) each result has the type of its operand;
    - (C7) the root is an index into every group.

    Groups may differ in size. Folds to its operands if every group is a single rank.
  }];
  let arguments = !con((ins Variadic<AnyRankedTensor>:$operands, I64Attr:$root, GroupsAttrInterface:$groups),
    commonArguments);
  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$operands, "int64_t":$root, "::mlir::braid::GroupsAttrInterface":$groups),
      [{ build($_builder, $_state, operands, $_builder.getI64IntegerAttr(root), groups,
             ::mlir::braid::IdSpaceAttr(), nullptr, nullptr, nullptr); }]>,
  ];
  let hasCustomAssemblyFormat = 1;
}

#endif // BRAID_DIALECT_COLLECTIVEOPS_TD
