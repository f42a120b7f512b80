//===- Passes.td - the passes between import and lowering -------------------------------------------*- tablegen -*-===//
//
// Flags are braid-<verb>-<object>. Passes hand over to each other through attributes only, so each runs alone in
// braid-opt.
//===---------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PASSES_TD
#define BRAID_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"
include "braid/passes/LoweringPasses.td"
include "braid/passes/StablehloPasses.td"

/// What every pass that prices collectives asks for.
class BraidClusterOptions {
  list<Option> options = [
    Option<"cluster", "cluster", "std::string", [{""}],
           "cluster file (YAML); without it the module's braid.cluster attribute names the file">,
    Option<"engine", "engine", "std::string", [{"nccl"}],
           "who will run the collectives, which decides the candidates: nccl (ring and tree, each with LL, LL128 and "
           "Simple) or braid (Braid's runtime: its own step programs)">,
    Option<"placement", "placement", "std::string", [{""}],
           "packed (rank i on device i, the default), or host:gpu,host:gpu,... with one entry per rank">,
  ];
}

def BraidSimplify : Pass<"braid-simplify", "::mlir::ModuleOp"> {
  let summary = "Remove collectives that do nothing and merge those that add up";
  let description = [{
    - A collective whose groups have one rank each is its operand.
    - A min, max, and or or all_reduce of a value that already is the same on all ranks of the group is its operand.
    - `all_reduce(x) + all_reduce(y)` becomes `all_reduce(x + y)` where both reductions carry `reassociate`, the groups
      mean the same and neither result has another reader.
    - A collective whose results nobody reads is dropped. Every rank runs the same module, so all of a group drop it
      together (a stock pass cannot know that, and leaves it).
  }];
  let dependentDialects = ["::mlir::braid::BraidDialect"];
}

def BraidScatterReductions : Pass<"braid-scatter-reductions", "::mlir::ModuleOp"> {
  let summary = "Make a reduce_scatter of an all_reduce of which each rank reads its own block";
  let description = [{
    An all_reduce whose result is read by `dynamic_slice` alone, each rank taking one of as many equal blocks along one
    dimension as its group has ranks, and each another one, becomes a reduce_scatter, which sends half the bytes. XLA's
    partitioner writes such pairs for sharded results, and JAX programs do that slice by `axis_index`.

    Which block a rank takes is computed for every rank, from `partition_id`, `replica_id`, constants, tables of constants
    and integer arithmetic. Where blocks are dealt in another order than that of the groups, the groups are written in that
    order: for an all_reduce it means nothing. Reshapes between the two go in front.

    What is not proven stays an all_reduce, with a remark: another reader, blocks that are not equal or not one for each
    rank, an offset that depends on data, groups that differ in size, dynamic sizes, a plan, something in flight.
  }];
  let dependentDialects = ["::mlir::braid::BraidDialect"];
}

def BraidSplitCollectives : Pass<"braid-split-collectives", "::mlir::ModuleOp"> {
  let summary = "Cut large collectives into several of their slices";
  let description = [{
    A collective above a size becomes `pieces` collectives of slices of its operand, and a concatenation of their results:
    what makes or reads a part can run while other parts are in flight, a short urgent collective can go between them, and
    where each draws its own luck from a noisy fabric, their sum varies less than one message would.

    all_reduce, broadcast and permute are cut along their first dimension that is long enough; all_gather, reduce_scatter
    and all_to_all along one that is not their own, or along their own within each rank's block. StableHLO programs get
    StableHLO slices, others those of the tensor dialect. What is rooted, in flight, planned, a bucket, dynamic or yet to
    be divided by a compiler stays whole, with a remark. Every element is combined from the same ranks as before; in which
    order is each piece's algorithm's own, as it is the whole's.

    With `pipeline`, the operand's producers are computed piece by piece where that is no more work (elementwise operations,
    rows of products, concatenations), and so are readers, so that one piece is computed while another is in flight (Wang
    et al., Overlap Communication with Dependent Computation via Decomposition, ASPLOS 2023).

    Needs no cluster. `braid-plan` tries this by itself.
  }];
  let options = [
    Option<"largerThan", "larger-than", "int64_t", "0", "cut what has more operand bytes on one rank">,
    Option<"pieces", "pieces", "int64_t", "4", "how many, fewer where no dimension is as long">,
    Option<"pipeline", "pipeline", "bool", "false", "cut what makes the operand and what reads the result too">,
  ];
  let dependentDialects = ["::mlir::braid::BraidDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def BraidFuseCollectives : Pass<"braid-fuse-collectives", "::mlir::ModuleOp"> {
  let summary = "Merge collectives of one kind into buckets of one launch each";
  let description = [{
    Collectives of one block share a bucket if kind, reduction, accumulation type, element type, groups (by meaning),
    id space, presence of a channel, `braid.group_key`, `mhlo.frontend_attributes`, root and pairs agree, and none of
    them depends on another through any chain of operations. What a compiler still has to divide (`sdy.sharding`) stays
    alone. The bucket is one variadic operation; locations are fused and attributes merged. Legality is by dependence,
    not by adjacency: a bucket may skip a collective that depends on it and go on.

    Needs no cluster. No cap means one bucket for each key and level of dependence.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "0", "largest bucket in bytes, 0: no limit">,
    Option<"firstMaxBytes", "first-max-bytes", "int64_t", "0", "largest first bucket of each key in bytes, 0: as max-bytes">,
    Option<"maxCount", "max-count", "int64_t", "0", "most tensors in a bucket, 0: no limit">,
    Option<"scanPastDependents", "scan-past-dependents", "bool", "true",
           "go on past a collective that depends on the bucket; false: the bucket closes there">,
    Option<"inLoops", "in-loops", "bool", "true",
           "merge in the bodies of loops too, and in functions called there; false: only outside of loops">,
  ];
  let dependentDialects = ["::mlir::braid::BraidDialect"];
}

def BraidOverlapCollectives : Pass<"braid-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "Start collectives early and wait for them late";
  let description = [{
    Each collective becomes `braid.start` and `braid.wait` where something can run in between. Without a cluster it starts
    as soon as its operands exist and is awaited just before the first reader. With one, starts are ordered by list
    scheduling with predicted times: the collective with the longest tail of work behind it goes first.

    Nothing crosses an operation of unknown effects, a loop, a branch or a call that communicates, and two collectives of
    different groups that share two or more ranks are never in flight together.
  }];
  let options = !listconcat(BraidClusterOptions<>.options, [
    Option<"inFlight", "in-flight", "int64_t", "1", "collectives that a fabric runs at once">,
  ]);
  let dependentDialects = ["::mlir::braid::BraidDialect"];
}

def BraidPipelineLoops : Pass<"braid-pipeline-loops", "::mlir::ModuleOp"> {
  let summary = "Run collectives of a loop beside the trip before or after their own";
  let description = [{
    Software pipelining of collectives across the back edge of a loop, in two stages. A collective whose result a trip only
    hands on starts in its own trip and is awaited in the next one, where it is first needed:

    ```
    for (%w = %w0) {            first trip: forward, update, %t0 = start all_gather(%s0)
      forward(%w)               for (%t = %t0, %s = %s0) {
      %s = update                 what of forward does not need %w
      %g = all_gather %s          %w = wait %t, %s
      yield %g                    forward(%w), %new = update, %u = start all_gather(%new)
    }                             yield %u, %new
                                }
                                %w = wait %t, %s of the last trip
    ```

    The first trip goes in front of the loop, up to what is awaited later; the last trip's wait comes behind it. A loop that may make no trip at
    all (`scf.for` with bounds that are not known) gets a branch around it. What is computed from the result before it is handed on
    follows the wait; what it reads of its own trip is carried too. Collectives that are in flight already (`braid.start` and
    `braid.wait` in one body) are carried likewise.

    Loops are `scf.for`, and `stablehlo.while` that counts to a known number; functions that communicate and that a loop calls are put into its
    body first, as JAX's loops are one call each. Legality is by dependence. A collective stays, with a
    remark, if another collective of its trip waits for it (`braid-plan` tries both in the next trip), all computation of the next trip does, or the condition of a while does; if a loop, branch or call
    that communicates or an operation of unknown effects stands behind it; or if it would be in flight with one of other groups that share two ranks or
    more. In the next trip its wait is in front of all of these. Each rank runs the same collectives, in an order that is the same on all.

    With `carry=operand`, nothing is in flight from trip to trip: the whole collective runs in the next trip, at its beginning, where `braid-plan`
    and `braid-overlap-collectives` find it.

    With `shift`, trips begin elsewhere, and collectives are whole in one trip, too. `shift=ahead`: collectives that need not all of the trip
    before run in that trip, with what leads to them and the counters that they read: FSDP's weights are gathered while the layer before is
    computed, and both layers' are alive.

    ```
    for (%i, %x) {                           %w = all_gather slice(0)
      %w = all_gather slice(%i)              for (%i, %x, %w) {
      %y = layer(%x, %w)                       %v = all_gather slice(%i + 1)
      yield %y                                 %y = layer(%x, %w)
    }                                          yield %y, %v }
                                             layer(%x, %w)
    ```

    `shift=around`: the largest collective that can begins a trip, in front of what follows in its own; then comes the next trip up to its
    collective. It has both to run beside, where `late` has the next trip's only. The last trip, from there on, stands behind the loop.
    Nothing changes places with what nothing is in flight across: what stands before that goes with it.

    `braid-plan` tries all of these by itself.
  }];
  let options = [
    Option<"carry", "carry", "::mlir::braid::LoopCarry", "::mlir::braid::LoopCarry::Token", "what goes from trip to trip",
           [{::mlir::braid::loopCarryValues()}]>,
    Option<"shift", "shift", "::mlir::braid::LoopShift", "::mlir::braid::LoopShift::Late", "where a trip begins",
           [{::mlir::braid::loopShiftValues()}]>,
  ];
  let dependentDialects = ["::mlir::braid::BraidDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def BraidSelectAlgorithms : Pass<"braid-select-algorithms", "::mlir::ModuleOp"> {
  let summary = "Give each collective the algorithm that is cheapest on the cluster";
  let description = [{
    Writes a plan attribute with a fingerprint on each collective that has none (or a stale one): the candidate of the
    engine with the smallest expected time, or, with `quantile`, the smallest time at that quantile.
  }];
  let options = !listconcat(BraidClusterOptions<>.options, [
    Option<"quantile", "quantile", "double", "std::numeric_limits<double>::quiet_NaN()",
           "quantile of one execution to choose by; absent: the mean">,
    Option<"target", "target", "::mlir::braid::PlanTarget", "::mlir::braid::PlanTarget::Stablehlo",
           "who runs the result, which decides what a bucket costs", [{::mlir::braid::planTargetValues()}]>,
  ]);
  let dependentDialects = ["::mlir::braid::BraidDialect"];
}

/// Options of braid-plan, which are those of the default pipeline.
class BraidPlanOptionList {
  list<Option> options = !listconcat(BraidClusterOptions<>.options, [
    Option<"objective", "objective", "::braid::cost::ObjectiveKind", "::braid::cost::ObjectiveKind::Training",
           "what the plan minimises",
           [{::llvm::cl::values(
               clEnumValN(::braid::cost::ObjectiveKind::Training, "training",
                          "the mean over a job's steps, at the quantile over jobs"),
               clEnumValN(::braid::cost::ObjectiveKind::Serving, "serving", "the quantile over steps"))}]>,
    Option<"quantile", "quantile", "double", "std::numeric_limits<double>::quiet_NaN()",
           "between 0 and 1; absent: the default of the cluster's fabric">,
    Option<"memoryLimit", "memory-limit", "std::string", [{""}],
           "peak memory that no plan may exceed, with its unit (80GiB); absent: the device's memory">,
    Option<"budget", "budget", "std::string", [{""}],
           "time that the search may add to baselines and a greedy plan, with its unit (2s), counted as work and not by the clock; 0: the "
           "greedy plan; absent: 10 s">,
    Option<"computeProfile", "compute-profile", "std::string", [{""}],
           "JSON file with measured times: by location, or recorded by braid-run; absent: a roofline over the operations">,
    Option<"split", "split", "bool", "true", "try the program with its large collectives cut, too">,
    Option<"loops", "loops", "::mlir::braid::LoopPolicy", "::mlir::braid::LoopPolicy::Auto",
           "whether collectives of a loop may run beside the trip before or after their own",
           [{::mlir::braid::loopPolicyValues()}]>,
    Option<"target", "target", "::mlir::braid::PlanTarget", "::mlir::braid::PlanTarget::Stablehlo",
           "who runs the result, which decides what a bucket costs", [{::mlir::braid::planTargetValues()}]>,
    Option<"policy", "policy", "::braid::cost::Policy", "::braid::cost::Policy::Braid",
           "whose schedule is written; systems that run other collectives than the program's (fsdp, zero-1 to 3, single-process) can "
           "only be played, by braid-sim",
           [{::mlir::braid::planPolicyValues()}]>,
  ]);
}

def BraidPlan : Pass<"braid-plan", "::mlir::ModuleOp"> {
  let summary = "Decide buckets, start times and algorithms together";
  let description = [{
    Builds the plain scheduling program of the module (see passes/analysis), tries every baseline and bucket caps of 1 to
    256 MiB, schedules and prices each under the cluster's noise, and writes the best one back: fused collectives, start
    and wait, plan attributes, and the module attribute `braid.certificate` with the lower bound, its witness, the gap, what
    no schedule's objective and quantiles fall below under the same draws, and the order of collectives as hashes.

    Where a collective takes a large part of the step and the plan is above the bound, copies of the module with those
    collectives cut into 2 to 16 pieces are planned too (`braid-split-collectives`); one that gains at least 1 %, by draws
    of its own as well, is the plan.

    So are copies in which collectives at the end of a loop's trip run in the next one (`braid-pipeline-loops` with
    `carry=operand`): all that can, all but the first one that the next trip needs, and half of them; and the same with what
    leads to them (reduce_scatter, update, all_gather). And copies in which those at the beginning run a trip ahead, all or half of them, or
    one runs between two trips (`shift`). With a budget of 0, and above 2,000 tasks, two copies are tried, and none above 20,000. Of such a loop what counts is
    its steady state, and the bound is what no trip of it can be shorter than: the load of the compute stream or of a channel, or a
    recurrence, whichever is the longest.
  }];
  let options = BraidPlanOptionList<>.options;
  let dependentDialects = ["::mlir::braid::BraidDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def BraidVerifyPlan : Pass<"braid-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Check a planned module without sharing code with the planner";
  let description = [{
    - (V1) the fingerprint of each plan fits its collective and the cluster;
    - (V2) each `braid.start` has exactly one `braid.wait`, in its block, with the same operands;
    - (V3) two collectives of different groups that share two or more ranks are not in flight together;
    - (V4) nothing planned is in flight across a loop, branch or call that communicates, or an operation of unknown effects;
    - (V5) the order of collectives has the hashes that the certificate states.
  }];
  let options = [
    Option<"cluster", "cluster", "std::string", [{""}],
           "cluster file that plans must have been made for; absent: braid.cluster, else the certificate's hash">,
    Option<"stale", "stale", "::mlir::braid::StalePolicy", "::mlir::braid::StalePolicy::Error",
           "what a stale plan is",
           [{::llvm::cl::values(clEnumValN(::mlir::braid::StalePolicy::Error, "error", "an error"),
                                clEnumValN(::mlir::braid::StalePolicy::Remark, "remark", "a remark"))}]>,
  ];
  let dependentDialects = ["::mlir::braid::BraidDialect"];
}

#endif // BRAID_PASSES_PASSES_TD
