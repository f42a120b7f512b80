//===- LoweringPasses.td - from collectives on tensors to calls of the runtime ----------------------*- tablegen -*-===//
#ifndef BRAID_PASSES_LOWERINGPASSES_TD
#define BRAID_PASSES_LOWERINGPASSES_TD

include "mlir/Pass/PassBase.td"

def BraidToDestination : Pass<"braid-to-destination", "::mlir::ModuleOp"> {
  let summary = "Give each collective a destination, so that it can be bufferized";
  let description = [{
    Each collective becomes `braid.launch` and `braid.finish`, and `braid.start` and `braid.wait` become the same pair,
    apart. Destinations are fresh (`bufferization.alloc_tensor`), the `init` of a rooted collective, or, for an all_reduce or broadcast
    whose operands are computed in the program and not read afterwards, the operands themselves: in place.

    Where `scf.for`, `scf.while` and `scf.if` pass a token on, they pass on the tensors in flight too. A loop that hands on a token
    in the place of another (several in flight, which move up by one in each trip) is unrolled until each is new or in its
    place; a `scf.while` that only counts becomes a `scf.for` for it. In other loops, buffers of copies are passed on instead of
    tensors. `scf.index_switch` becomes `scf.if`, whose results upstream's bufferization understands. Tokens that meet must have the
    same tensors in flight. A token that is given to a function, or comes from a caller, is an error: inline the function.
  }];
  let dependentDialects = ["::mlir::braid::BraidDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect", "::mlir::scf::SCFDialect"];
}

def BraidVerifyInFlight : Pass<"braid-verify-in-flight", "::mlir::ModuleOp"> {
  let summary = "Check after bufferization that nobody touches a buffer in flight";
  let description = [{
    Between `braid.launch` and its `braid.finish`, on every path,
    - (F1) nothing writes to a buffer that the collective reads, and nothing frees it;
    - (F2) nothing reads, writes or frees a buffer that the collective writes;
    - (F3) no operation whose effects are not known gets such a buffer, or could reach it without (globals);
    - (F4) the buffers of the finish are those of the launch;
    - (F5) each launch is finished exactly once, on every path, and before the function ends;
    - (F6) where a buffer that is freed may be one of several, or is freed if an address is another (deallocation asks at run time who
      owns it), the runtime refuses to free one in flight.

    - (F7) memory of a `memref.alloca` outlives the collective: it ends with the loop's trip, scope or function around it.

    Every path is followed with the memory that each buffer may be: through views, casts, choices, branches, loops and calls, also
    where loops and branches pass tokens on. A call leads into the function, with what it gives. The buffer that an allocation in a loop gave
    last is told from those that it gave before. A tensor that stands for a buffer (`to_tensor`) is followed too. What can't be told
    apart counts as the same, so the pass may refuse a program that is right, and never accepts one that is wrong. Taken for granted:
    who calls a public function from outside of the module gives it different buffers, and a function without a body here reaches
    only what it is given (also as an address), globals, and buffers that were stored in others. Independent of the passes that
    produced the program.
  }];
  let dependentDialects = ["::mlir::braid::BraidDialect"];
}

def BraidToRuntime : Pass<"braid-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Lower collectives on buffers to calls of Braid's runtime";
  let description = [{
    Each `braid.launch` becomes calls of the runtime's module interface (`runtime/include/braid/runtime/braid_module.h`): its site, one
    call for each tensor, and the launch; `braid.finish` becomes one. What does not change between executions (kind, type,
    groups, algorithm) is a constant global, and the runtime plans each site once.

    Tensors of several element types in one launch travel as bytes. All buffers become memory of the runtime, which keeps it
    for the next step; those that a launch may touch are memory that its peers reach without copies. Each public function
    starts by telling the runtime all sites when the program is new, so that ranks with different programs find out before
    they run.

    Buffers have to be contiguous.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
}

def BraidExpandCopies : Pass<"braid-expand-copies", "::mlir::func::FuncOp"> {
  let summary = "Copy between strided buffers by loops";
  let description = [{
    `memref.copy` between buffers that do not lie in one piece would become a call of a support library that a compiled
    module does not have; it becomes a structured copy instead.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def BraidMarkCompute : Pass<"braid-mark-compute", "::mlir::ModuleOp"> {
  let summary = "Put marks between which a run measures computation";
  let description = [{
    A call `braid_module_mark(N)` in front of each operation that the planner gives a time, in each block that it schedules. Row N of the
    module's attribute `braid.marks` names the operation by a key that neither planning nor its position changes, and
    the kernel that a predicted timeline shows it in; `braid.program` is the hash of the program. `braid-run --timeline` and
    `--record-profile` read both.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

def BraidPrepareCompute : Pass<"braid-prepare-compute", "::mlir::func::FuncOp"> {
  let summary = "Bring computation into forms that become loops, matrix products in a good order";
  let description = [{
    `linalg.softmax`, `linalg.pack` and `linalg.unpack` are taken apart. `tensor.gather` and `tensor.scatter`, which nothing lowers, are
    errors. Where a call gives a function one tensor, or parts of one, twice, the second is a copy; so it is where a trip of a `scf.for` hands
    one on twice.

    `linalg.matmul` becomes a generic operation with its loops in the order m, k, n: LLVM vectorizes the innermost one. The
    plain order (m, n, k) is some 40 times slower. No tiling: this is the floor, not the roof.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::bufferization::BufferizationDialect"];
}

#endif // BRAID_PASSES_LOWERINGPASSES_TD
