//===- RootedOps.td - collectives with a root, messages between two ranks, the barrier -----------*- tablegen -*-===//
//
// They are lowered and run, but no planner moves or fuses them: for a plan each is a fixed point of the program.
//
// In a rooted collective the result of a rank that is not the root has no meaning of its own, so the program says what
// it is: `init`, untouched. Thus a value means the same on all ranks before and after bufferization.
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_DIALECT_ROOTEDOPS_TD
#define BRAID_DIALECT_ROOTEDOPS_TD

include "braid/dialect/CollectiveOps.td"

/// Operands are the tensors sent and, after them, one `init` for each.
class Braid_InitOp<string mnemonic, string kind> : Braid_CollectiveOp<mnemonic, kind> {
  code initDeclarations = commonDeclarations # [{
    /// The tensors sent; the other half of the operands are their inits.
    ::mlir::OperandRange getCommOperands() { return getOperands().take_front(getOperands().size() / 2); }
    ::mlir::OperandRange getInits() { return getOperands().drop_front(getOperands().size() / 2); }
    bool isBucketable() { return false; }
  }];
  let hasCustomAssemblyFormat = 1;
}

def Braid_ReduceOp : Braid_InitOp<"reduce", "Reduce"> {
  let summary = "combine a tensor over a group; the root gets the result";
  let description = [{
    On the root (an index into the group) result i is operand i reduced over the group; on every other rank it is
    `init` i.

    ```mlir
    %r = braid.reduce sum %a init %i root = 0 groups = #braid.groups<[[0, 1], [2, 3]]>
       : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```

    Constraints: C1 to C5 as for `all_reduce`, and
    - (C6) there is one init and one result for each operand, of its type;
    - (C7) the root is an index into every group.

    Folds to its operands if every group is a single rank.
  }];
  let arguments = !con((ins Variadic<AnyRankedTensor>:$operands, Braid_ReductionKindAttr:$reduction, I64Attr:$root,
    GroupsAttrInterface:$groups), commonArguments, (ins OptionalAttr<TypeAttr>:$accumulate, UnitAttr:$reassociate));
  let extraClassDeclaration = initDeclarations # [{
    std::optional<::mlir::braid::ReductionKind> getReductionKind() { return getReduction(); }
  }];
}

def Braid_GatherOp : Braid_InitOp<"gather", "Gather"> {
  let summary = "concatenate the tensors of a group; the root gets the whole";
  let description = [{
    On the root (an index into the group) result i is the concatenation, in group order, of operand i of all ranks
    along `dims[i]`; on every other rank it is `init` i.

    ```mlir
    %g = braid.gather %a init %i dims = [0] root = 0 groups = #braid.groups<[[0, 1, 2, 3]]>
       : (tensor<4xf32>, tensor<16xf32>) -> tensor<16xf32>
    ```

    Constraints: C1 and C2 as for `all_reduce`, and
    - (C6) there is one init and one result for each operand, both of one type, with the operand's element type and
      rank;
    - (C7) there is one dimension in `dims` for each operand, in its range, and the root is an index into every group;
    - (C8) all groups have the same size, since shapes are the same on all ranks;
    - (C9) the size of the result along its dimension is the operand's times the group size, other sizes are equal;
      dynamic sizes are not checked.

    Folds to its operands if every group is a single rank.
  }];
  let arguments = !con((ins Variadic<AnyRankedTensor>:$operands, DenseI64ArrayAttr:$dims, I64Attr:$root,
    GroupsAttrInterface:$groups), commonArguments);
  let extraClassDeclaration = initDeclarations;
}

def Braid_ScatterOp : Braid_CollectiveOp<"scatter", "Scatter"> {
  let summary = "deal out the root's tensor in blocks";
  let description = [{
    Operand i of the root (an index into the group) is cut along `dims[i]` into as many blocks as the group has ranks;
    the k-th rank of the group gets block k. What the other ranks give is not read.

    ```mlir
    %s = braid.scatter %a dims = [0] root = 0 groups = #braid.groups<[[0, 1, 2, 3]]>
       : (tensor<16xf32>) -> tensor<4xf32>
    ```

    Constraints: C1 and C2 as for `all_reduce`, and
    - (C6) there is one result for each operand, of its element type and rank;
    - (C7) there is one dimension in `dims` for each operand, in its range, and the root is an index into every group;
    - (C8) all groups have the same size, since shapes are the same on all ranks;
    - (C9) the size of the operand along its dimension is the result's times the group size, other sizes are equal;
      dynamic sizes are not checked.

    Folds to its operands if every group is a single rank.
  }];
  let arguments = !con((ins Variadic<AnyRankedTensor>:$operands, DenseI64ArrayAttr:$dims, I64Attr:$root,
    GroupsAttrInterface:$groups), commonArguments);
  let extraClassDeclaration = commonDeclarations # [{
    bool isBucketable() { return false; }
  }];
  let hasCustomAssemblyFormat = 1;
}

/// One side of a message between two ranks.
class Braid_MessageOp<string mnemonic, string kind> : Braid_CollectiveOp<mnemonic, kind> {
  let hasFolder = 0;
  let extraClassDeclaration = commonDeclarations # [{
    ::mlir::braid::GroupsAttrInterface getGroupsAttr() { return {}; }
    bool isBucketable() { return false; }
  }];
}

def Braid_SendOp : Braid_MessageOp<"send", "Send"> {
  let summary = "send tensors to one rank";
  let description = [{
    `peer` is a rank of the program. Messages of one pair of ranks and one tag arrive in the order in which they are
    sent. Where all ranks of a program exchange tensors with each other, `permute` is the operation to use: it says so
    in one place, and can be checked and planned.

    ```mlir
    braid.send %a peer = 1 tag = 0 : tensor<4xf32>
    ```

    Constraints:
    - (C1) there is at least one operand;
    - (C3) the peer is not negative and, where the module states its number of ranks, smaller; neither is the tag.
  }];
  let arguments = !con((ins Variadic<AnyRankedTensor>:$operands, I64Attr:$peer, I64Attr:$tag), commonArguments);
  let results = (outs);
  let assemblyFormat = "$operands `peer` `=` $peer `tag` `=` $tag attr-dict `:` type($operands)";
}

def Braid_RecvOp : Braid_MessageOp<"recv", "Recv"> {
  let summary = "receive tensors from one rank";
  let description = [{
    The other side of `send`, with the same types and tag.

    ```mlir
    %r = braid.recv peer = 0 tag = 0 : tensor<4xf32>
    ```

    Constraints:
    - (C1) there is at least one result;
    - (C3) the peer is not negative and, where the module states its number of ranks, smaller; neither is the tag;
    - (C6) results have static shapes: nothing else says how much is received.
  }];
  let arguments = !con((ins I64Attr:$peer, I64Attr:$tag), commonArguments);
  let assemblyFormat = "`peer` `=` $peer `tag` `=` $tag attr-dict `:` type($results)";
}

def Braid_BarrierOp : Braid_CollectiveOp<"barrier", "Barrier"> {
  let summary = "wait until all ranks of the group are here";
  let description = [{
    ```mlir
    braid.barrier groups = #braid.groups<[[0, 1], [2, 3]]>
    ```

    Constraints: C2 as for `all_reduce`.
  }];
  let arguments = !con((ins GroupsAttrInterface:$groups), commonArguments);
  let results = (outs);
  let hasFolder = 0;
  let extraClassDeclaration = commonDeclarations # [{
    bool isBucketable() { return false; }
  }];
  let assemblyFormat = "`groups` `=` $groups attr-dict";
}

def Braid_RankOp : Braid_Op<"rank", [Pure]> {
  let summary = "which rank runs this";
  let description = [{
    The number of the rank in the program, from 0: the one value that differs between ranks by itself. A branch on it is
    no place for a collective, but for `send` and `recv`.

    ```mlir
    %rank = braid.rank
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

#endif // BRAID_DIALECT_ROOTEDOPS_TD
