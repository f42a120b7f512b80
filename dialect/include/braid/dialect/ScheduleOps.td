//===- ScheduleOps.td - a collective in flight --------------------------------------------------*- tablegen -*-===//
//
// Async is one wrapper around any collective, not a second set of operations.
//
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_DIALECT_SCHEDULEOPS_TD
#define BRAID_DIALECT_SCHEDULEOPS_TD

include "braid/dialect/BraidBase.td"
include "braid/dialect/BraidTypes.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/OpAsmInterface.td"

def Braid_StartOp : Braid_Op<"start", [Braid_Convergent, IsolatedFromAbove, SingleBlock]> {
  let summary = "start a collective and go on";
  let description = [{
    Holds one collective. Its operands are sent while the program goes on; `braid.wait` gives the results.

    ```mlir
    %token = braid.start(%x = %a) : tensor<4xf32> {
      %r = braid.all_reduce sum %x groups = #braid.groups<[[0, 1]]> : tensor<4xf32>
      braid.yield %r : tensor<4xf32>
    }
    // ... computation that overlaps ...
    %r = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
    ```

    Constraints:
    - (C1) there is at least one operand, and the block has one argument of the same type for each;
    - (C2) the body is exactly one collective and a `braid.yield`;
    - (C3) the collective's operands are the block arguments, in order;
    - (C4) all results of the collective are yielded, in order;
    - (C5) where all uses of the token are waits, it is waited for exactly once on any path: not never, not twice one
      after the other, not in a loop that does not hold the start too.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
  let results = (outs Braid_TokenType:$token);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    /// An empty body with one argument for each operand; the caller adds the collective and the yield.
    OpBuilder<(ins "::mlir::ValueRange":$operands)>,
  ];
  let extraClassDeclaration = [{
    /// The collective in the body; null while the body is incomplete.
    ::mlir::braid::CollectiveOpInterface getCollective();
    ::mlir::braid::YieldOp getYield();
    /// Wrap a collective: a start in its place, with the collective moved inside. Its results are left to the caller,
    /// who must have replaced their uses before.
    static StartOp wrap(::mlir::OpBuilder &builder, ::mlir::braid::CollectiveOpInterface collective);
  }];
}

def Braid_WaitOp : Braid_Op<"wait", [Braid_Convergent]> {
  let summary = "wait for a collective in flight";
  let description = [{
    Takes the token and the operands of its `braid.start` again, so that their buffers stay alive and unwritten while
    the collective is in flight. The results are those of the collective.

    ```mlir
    %r = braid.wait %token, %a : (tensor<4xf32>) -> tensor<4xf32>
    ```

    Constraints:
    - (C1) there is at least one operand;
    - where the start that made the token is visible:
      (C2) the operands are the operands of the start, (C3) the result types are those of the collective.
  }];
  let arguments = (ins Braid_TokenType:$token, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$token `,` $inputs attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The start that made the token, if it is visible: not if the token is an argument of a block or comes from a
    /// call.
    ::mlir::braid::StartOp getStart();
  }];
}

def Braid_YieldOp : Braid_Op<"yield", [Pure, Terminator, ParentOneOf<["::mlir::braid::StartOp"]>]> {
  let summary = "end of the body of braid.start";
  let description = [{
    Gives the results of the collective to the `braid.wait` that will take the token.

    ```mlir
    braid.yield %r : tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

#endif // BRAID_DIALECT_SCHEDULEOPS_TD
