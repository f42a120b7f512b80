//===- ComputeOps.td - computation of which only the time is known --------------------------------*- tablegen -*-===//
#ifndef BRAID_DIALECT_COMPUTEOPS_TD
#define BRAID_DIALECT_COMPUTEOPS_TD

include "braid/dialect/BraidBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"

def Braid_ComputeOp : Braid_Op<"compute", [AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
      "getAliasingValues", "bufferize"]>]> {
  let summary = "computation that takes a stated time";
  let description = [{
    A kernel without its arithmetic: it occupies the rank's processor for `duration`, while collectives in flight go on.
    `ins` and `outs` carry the dependences: what it reads, and what counts as computed by it. Its results are its
    destinations, as they were.

    ```mlir
    braid.compute "softmax" for "3.2 us"
    %g = braid.compute "backward of layer 3" for "1.25 ms" ins(%w : tensor<8xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    ```

    Time passes where it stands, so it has an effect: stock passes neither drop one whose results are unused, nor merge
    two equal ones, nor hoist one out of a loop. Braid's planner treats it as any kernel: it moves as far as operands and
    results allow, and it costs what it says.

    Constraints:
    - (C1) `duration` is a number that is not negative, and one of ns, us, ms, s;
    - (C2) operands are all tensors or all buffers; there is one result for each destination that is a tensor, of its
      type.
  }];
  let arguments = (ins
    StrAttr:$name,
    StrAttr:$duration,
    Variadic<AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>>:$inputs,
    Variadic<AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>>:$inits
  );
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $name `for` $duration (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $inits^ `:` type($inits) `)`)? attr-dict
    (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
    /// The duration in seconds.
    double getSeconds();
    /// "1.25 ms" for 0.00125: as many digits as it takes to read the same number back.
    static std::string durationText(double seconds);
  }];
}

#endif // BRAID_DIALECT_COMPUTEOPS_TD
