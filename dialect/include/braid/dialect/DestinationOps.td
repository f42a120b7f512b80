//===- DestinationOps.td - collectives in destination form, on tensors and on buffers -------------*- tablegen -*-===//
//
// What bufferization and the lowering see: one pair of operations for all collectives. A functional collective is a
// launch followed at once by its finish; start and wait are the same pair, apart.
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_DIALECT_DESTINATIONOPS_TD
#define BRAID_DIALECT_DESTINATIONOPS_TD

include "braid/dialect/BraidAttrs.td"
include "braid/dialect/BraidBase.td"
include "braid/dialect/BraidEnums.td"
include "braid/dialect/BraidTypes.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def Braid_TensorOrBuffer : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>;

class Braid_DestinationOp<string mnemonic, list<Trait> traits>
    : Braid_Op<mnemonic, !listconcat(traits, [AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<BufferizableOpInterface, ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
          "mustBufferizeInPlace", "getAliasingValues", "bufferize"]>])> {
  let hasVerifier = 1;
}

def Braid_LaunchOp : Braid_DestinationOp<"launch", []> {
  let summary = "start a collective that writes into given destinations";
  let description = [{
    Any collective of the dialect, by name, with that collective's attributes. `ins` are the tensors or buffers sent,
    `outs` those that will hold the results. Without `ins` the collective works in place: `outs` hold the operands too.

    On tensors each destination gives a result, which is *in flight*: only `braid.finish` may use it.

    ```mlir
    %token, %f = braid.launch all_reduce ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {groups = #braid.groups<[[0, 1]]>, reduction = #braid.reduction<sum>} -> tensor<4xf32>
    %r = braid.finish %token ins(%a : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>

    %token = braid.launch all_reduce outs(%x : memref<4xf32>) {...}   // in place
    braid.finish %token outs(%x : memref<4xf32>)
    ```

    Constraints:
    - (C1) there is one destination for each input; `send` has no destinations, `recv` no inputs, `barrier` neither, and
      `all_reduce` and `broadcast` may have no inputs;
    - (C2) operands are all tensors or all buffers; there is one result for each destination that is a tensor, of its
      type;
    - (C3) the attributes that the collective needs are there;
    - (C4) an input and its destination have the same element type and, where sizes are static, sizes that fit the
      collective: equal in number, or one a multiple of the other;
    - (C5) where all uses of the token are finishes, it is finished exactly once on any path, in the region of the launch or
      one inside it. (Tokens that loops and branches pass on are followed by `braid-verify-in-flight`.)
  }];
  let arguments = (ins
    Braid_CollectiveKindAttr:$collective,
    Variadic<Braid_TensorOrBuffer>:$inputs,
    Variadic<Braid_TensorOrBuffer>:$inits,
    OptionalAttr<GroupsAttrInterface>:$groups,
    OptionalAttr<Braid_ReductionKindAttr>:$reduction,
    OptionalAttr<TypeAttr>:$accumulate,
    OptionalAttr<DenseI64ArrayAttr>:$dims,
    OptionalAttr<DenseI64ArrayAttr>:$concat_dims,
    OptionalAttr<I64Attr>:$root,
    OptionalAttr<I64ElementsAttr>:$pairs,
    OptionalAttr<I64Attr>:$peer,
    OptionalAttr<I64Attr>:$tag,
    DefaultValuedOptionalAttr<Braid_IdSpaceAttr, "::mlir::braid::IdSpace::Flattened">:$id_space,
    OptionalAttr<I64Attr>:$channel,
    OptionalAttr<Braid_PlanAttr>:$plan
  );
  let results = (outs Braid_TokenType:$token, Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    custom<Collective>($collective) (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $inits^ `:` type($inits) `)`)? attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// Whether destinations hold operands too.
    bool isInPlace() { return getInputs().empty() && !getInits().empty() && getCollective() != CollectiveKind::Recv; }
    /// Whether what a destination held before can be seen afterwards, or is sent.
    bool readsInits() {
      return isInPlace() || getCollective() == CollectiveKind::Reduce || getCollective() == CollectiveKind::Gather;
    }
    /// The tensors or buffers sent.
    ::mlir::OperandRange getSent() { return isInPlace() ? getInits() : getInputs(); }
  }];
}

def Braid_FinishOp : Braid_DestinationOp<"finish", [DestinationStyleOpInterface]> {
  let summary = "wait for a launched collective";
  let description = [{
    Takes the token, the inputs of its `braid.launch` and its destinations (on tensors: the results in flight), so that
    their buffers stay alive and unwritten while the collective is in flight.

    Constraints, where the launch that made the token is visible:
    - (C1) the inputs are those of the launch;
    - (C2) on tensors, the destinations are the launch's results; on buffers, there is one for each of the launch's.
  }];
  let arguments = (ins
    Braid_TokenType:$token,
    Variadic<Braid_TensorOrBuffer>:$inputs,
    Variadic<Braid_TensorOrBuffer>:$inits
  );
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $token (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $inits^ `:` type($inits) `)`)? attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
    /// The launch that made the token, if it is visible.
    ::mlir::braid::LaunchOp getLaunch();
  }];
}

#endif // BRAID_DIALECT_DESTINATIONOPS_TD
