//===- Systems.h - data-parallel training systems as policies ---------------------------------------------------===//
//
// FSDP, ZeRO and single-process data parallelism shard or move parameters, so they run another set of collectives than the
// program says. Each is a function from the plain program to another one (same computation, other collectives and
// dependences) with the schedule that the system gives it; prices, playing, sampling, memory and verifier are those of every
// other policy. Gradients and their parameters are found as schedule/Gradients.h says.
//
// Bytes that a rank sends and receives in a step, for gradients of n bytes in all over d ranks, by rings:
//
//   all_reduce (DDP)                                   2 (d-1)/d n
//   ZeRO 1, 2: reduce_scatter, all_gather              2 (d-1)/d n     (Rajbhandari et al., SC 2020, section 7)
//   ZeRO 3, FSDP: all_gather twice, reduce_scatter     3 (d-1)/d n     (the same; Zhao et al., VLDB 2023)
//
// The computation is the program's: that each rank updates a shard only saves time, which is told apart (`updateSaves`), not
// counted; else times could not be compared, and no bound would hold for all of them.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SYSTEMS_H
#define BRAID_COST_MODELS_SYSTEMS_H

#include "braid/cost_models/Schedule.h"

namespace braid::cost {

/// torch.distributed.fsdp. Defaults: FULL_SHARD, BackwardPrefetch.BACKWARD_PRE, limit_all_gathers.
struct FsdpOptions {
  enum Prefetch {
    Pre,  ///< the next unit is gathered before the current one's backward computation
    Post, ///< behind it, before the current one's gradients are reduced
    None, ///< behind that
  };
  /// Least bytes of parameters in a unit: of neighbouring gradients so many are wrapped together. 0: each maker's gradients
  /// are a unit.
  Bytes unit{};
  Prefetch backwardPrefetch = Pre;
  int allGathers =
      2; ///< units gathered and not yet freed (limit_all_gathers; the CPU runs ahead up to it); 0: no limit
  bool freeForward = true; ///< units are freed behind their forward pass (FULL_SHARD); false: SHARD_GRAD_OP
};

/// DeepSpeed's zero_optimization. Sizes count elements. Where DeepSpeed has `stage3_` in front, the stage is 3.
struct ZeroOptions {
  int stage = 1;
  bool overlap = false;      ///< overlap_comm; DeepSpeed's default: in stage 3 only
  bool reduceScatter = true; ///< reduce_scatter; false: all_reduce
  int64_t reduceBucket = 500'000'000, gatherBucket = 500'000'000; ///< reduce_bucket_size, allgather_bucket_size
  int64_t prefetchBucket = 50'000'000;                            ///< stage3_prefetch_bucket_size
  int64_t maxLive = 1'000'000'000;                                ///< stage3_max_live_parameters
  /// stage3_max_reuse_distance, stage3_param_persistence_threshold, stage3_model_persistence_threshold. DeepSpeed's defaults
  /// are 1e9, 1e5 and no limit: parameters stay gathered, or whole, which a small model does not pay for in memory. Here
  /// nothing stays, as in the paper, unless a configuration is read.
  int64_t reuseDistance = 0, persistence = 0, modelPersistence = INT64_MAX;
};

/// torch.nn.DataParallel: one process; weights go out from card 0, gradients come back to it, both in buffers of 10 MiB.
struct SingleProcessOptions {
  Bytes buffer{10 << 20};
};

struct SystemStep {
  Program program;
  Schedule schedule;
  std::string how;     ///< "12 units of at least 25 MiB, ..."
  Seconds updateSaves; ///< computation that a rank would save by updating its shard only
};

/// What the system makes of a data-parallel program. Errors: why it does not apply.
Result<SystemStep> fsdpStep(const Program &program, const Pricer &pricer, const FsdpOptions &options);
Result<SystemStep> zeroStep(const Program &program, const Pricer &pricer, const ZeroOptions &options);
Result<SystemStep> singleProcessStep(const Program &program, const Pricer &pricer, const SingleProcessOptions &options);

enum class System { Fsdp, Zero1, Zero2, Zero3, SingleProcess };
const char *name(System system); ///< "fsdp", "zero-1", "zero-2", "zero-3", "single-process"
std::optional<System> parseSystem(const std::string &name);
constexpr System allSystems[] = {System::Fsdp, System::Zero1, System::Zero2, System::Zero3, System::SingleProcess};

struct SystemOptions {
  std::optional<FsdpOptions>
      fsdp; ///< none: the defaults, with the fastest of several sizes of units, as who wraps well
  /// By stage; the default of a stage that is not given is DeepSpeed's, see ZeroOptions.
  std::optional<ZeroOptions> zero[3];
  SingleProcessOptions singleProcess;
};
Result<SystemStep> systemStep(const Program &program, const Pricer &pricer, System system,
                              const SystemOptions &options);

struct SystemResult {
  SystemStep step;
  PolicyResult result; ///< of the step's program; `rule` is `how`, `policy` says nothing
  Bound bound;         ///< of the step's program
};
/// The step, checked by the verifier and measured like the policies of a plan.
Result<SystemResult> runSystem(const Program &program, const Pricer &pricer, System system,
                               const SystemOptions &systems, const PlanOptions &options);

/// Bytes that a rank sends in one step, mean over the ranks of each group, counted in the step programs of the algorithms
/// that were chosen, see SentBytes.cpp.
double sentBytes(const Program &program, const Schedule &schedule, const Pricer &pricer);

} // namespace braid::cost

#endif
