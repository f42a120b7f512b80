//===- StablehloPasses.td - StableHLO in and out ----------------------------------------------------*- tablegen -*-===//
#ifndef BRAID_PASSES_STABLEHLOPASSES_TD
#define BRAID_PASSES_STABLEHLOPASSES_TD

include "mlir/Pass/PassBase.td"

def BraidImport : Pass<"braid-import", "::mlir::ModuleOp"> {
  let summary = "Read the collectives of a StableHLO program";
  let description = [{
    Replaces `stablehlo.all_reduce`, `all_gather`, `reduce_scatter`, `all_to_all`, `collective_permute` and
    `collective_broadcast` by braid collectives, and `async_start` with its `async_done` by `braid.start` and `braid.wait`,
    wherever they stand: in functions, `sdy.manual_computation`, loops, branches.

    Groups given as mesh axes are resolved (device orders and parts of axes too), regular lists become the compressed form.
    A reduction is recognised by what its region computes; the region itself is kept for the export.

    What cannot be said in the dialect stays StableHLO, with a remark (category `braid-import`): an unknown reduction, a
    dynamic dimension without a bound or a `braid.size_hint`, a future that is awaited in another block. A collective that
    is wrong (an id twice, out of range or missing, no operands, mixed types) is an error.
  }];
  let dependentDialects = ["::mlir::braid::BraidDialect"];
}

def BraidExport : Pass<"braid-export", "::mlir::ModuleOp"> {
  let summary = "Write the collectives of a program as StableHLO";
  let description = [{
    The inverse of `braid-import`: an imported program that was not changed comes out as it went in, with groups written as
    lists (a module with several meshes is read against the wrong one by JAX otherwise). Plans are dropped.

    A bucket of several tensors becomes, for `consumer=jax`, a reshape of each, a concatenation, one collective, slices and
    reshapes; element by element the order of additions is that of the separate collectives.
    An all_reduce whose plan has the algorithm `reduce_scatter+all_gather` becomes these two, over one packed tensor that is
    padded with zeros to whole shares. `braid.start` and `braid.wait` become `stablehlo.async_start` and `async_done`.
  }];
  let options = [
    Option<"consumer", "consumer", "::mlir::braid::ExportConsumer", "::mlir::braid::ExportConsumer::Jax",
           "who reads the program, which decides the form of a bucket", [{::mlir::braid::exportConsumerValues()}]>,
    Option<"async", "async", "bool", "true",
           "write start and wait as async_start and async_done; false: one collective where the start is">,
    Option<"sidecar", "sidecar", "std::string", [{""}],
           "file for the XLA options (JSON) without which XLA merges collectives again">,
  ];
  let dependentDialects = ["::mlir::braid::BraidDialect"];
}

#endif // BRAID_PASSES_STABLEHLOPASSES_TD
