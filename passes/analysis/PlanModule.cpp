//===- PlanModule.cpp - cluster, model, search, rows ------------------------------------------------------------===//
#include "braid/passes/PlanModule.h"

#include "analysis/MeasuredTimes.h"
#include "analysis/ModelledPlan.h"
#include "analysis/ModuleFacts.h"
#include "analysis/SharedRanks.h"
#include "analysis/UnplannedProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "transforms/PipelineLoops.h"

namespace mlir::braid {

FailureOr<cost::Engine> readEngine(ModuleOp module, StringRef name) {
  if (std::optional<cost::Engine> engine = cost::parseEngine(name.str()))
    return *engine;
  return emitError(placeOf(module), "engine: expected ") << cost::engineNames << ", got '" << name << "'";
}

cost::BucketForm bucketForm(cost::Engine engine, bool exported) {
  if (exported)
    return cost::BucketForm::Copies;
  return engine == cost::Engine::Nccl ? cost::BucketForm::GroupCall : cost::BucketForm::OneLaunch;
}

static FailureOr<cost::PlanOptions> readOptions(ModuleOp module, const PlanRequest &request,
                                                const cost::Cluster &cluster) {
  cost::PlanOptions options;
  if (request.objective == "serving")
    options.objective.kind = cost::ObjectiveKind::Serving;
  else if (request.objective != "training")
    return emitError(placeOf(module), "objective: expected training or serving, got '") << request.objective << "'";
  options.objective.quantile = request.quantile.value_or(cluster.defaultQuantile);
  if (failed(checkQuantile(module, options.objective.quantile)))
    return failure();
  options.memoryLimit = cluster.device.memory;
  if (!request.memoryLimit.empty()) {
    cost::Result<cost::Bytes> limit = cost::parseBytes(request.memoryLimit);
    if (!limit)
      return emitError(placeOf(module), "memory-limit: ") << limit.error().text();
    if (limit->value <= 0)
      return emitError(placeOf(module), "memory-limit: expected more than none, got '") << request.memoryLimit << "'";
    options.memoryLimit = *limit;
  }
  if (!request.budget.empty() && request.budget != "0") {
    cost::Result<cost::Seconds> budget = cost::parseSeconds(request.budget);
    if (!budget)
      return emitError(placeOf(module), "budget: ") << budget.error().text();
    options.budget = *budget;
  } else if (request.budget == "0") {
    options.budget = {};
  }
  options.baselines = request.baselines;
  options.sampling.seed = request.seed;
  options.policy = request.policy;
  return options;
}

static bool separate(const cost::Program &program, const cost::Pricer &pricer, const cost::PlanOptions &options,
                     cost::PolicyResult &plan) {
  SharedRanks shared;
  bool moved = false;
  for (auto [block, schedule] : llvm::zip(program.blocks, plan.schedule.blocks))
    moved |= separateConflicts(block, schedule, shared);
  if (!moved)
    return false;
  auto noNoise = [&](int block, int bucket, uint64_t) {
    const cost::Bucket &chosen = plan.schedule.blocks[block].buckets[bucket];
    return pricer.candidates(cost::mergedSpec(program.blocks[block], chosen))[chosen.candidate].time;
  };
  cost::Played played = cost::play(program, plan.schedule, pricer, noNoise);
  plan.total = played.total;
  plan.exposed = played.exposed;
  plan.slowed = played.slowed;
  cost::SampleOptions unseen = cost::unseen(options.sampling);
  plan.quantiles = cost::quantiles(program, plan.schedule, pricer, unseen);
  plan.objective = cost::objective(program, plan.schedule, pricer, options.objective, unseen);
  plan.peak = cost::peakMemory(program, plan.schedule);
  return true;
}

void separate(const cost::Program &program, const cost::Pricer &pricer, const cost::PlanOptions &options,
              cost::PlanResult &result) {
  bool moved = false; // of the last one, which is the plan
  for (cost::PolicyResult &policy : result.policies)
    moved = separate(program, pricer, options, policy);
  if (!moved || options.policy != cost::Policy::Braid || options.budget.value <= 0)
    return;
  result.alternatives.clear(); // they won and lost with what must not be
  cost::PolicyResult plan = result.braid();
  for (const cost::PolicyResult &baseline : llvm::drop_end(result.policies))
    if (baseline.objective < plan.objective &&
        (options.memoryLimit.value <= 0 || baseline.peak.bytes <= options.memoryLimit)) {
      plan = baseline;
      plan.rule =
          std::string("as ") + cost::name(baseline.policy) + ", with nothing in flight together that shares ranks";
    }
  plan.policy = cost::Policy::Braid;
  plan.searched = result.braid().searched;
  result.policies.back() = std::move(plan);
}

/// Locations that no computation has are said; if that is all of them, the profile is of another program.
static LogicalResult checkUnmatched(ModuleOp module, const ComputeProfile &profile, const ProgramModel &model) {
  if (model.unmatched.empty())
    return success();
  cost::Seconds all, lost;
  for (auto &entry : profile.locations)
    all += entry.second;
  for (auto &[key, time] : model.unmatched)
    lost += time;
  auto &[key, time] = model.unmatched.front();
  if (model.unmatched.size() == profile.locations.size())
    return emitError(placeOf(module), "compute profile: ")
           << profile.path << ": expected locations of this program, got " << profile.locations.size()
           << " of which no computation has one, the longest: \"" << key << "\", " << cost::toString(time)
           << " (a program has the lines and names of its source if it is exported with --locations)";
  emitWarning(placeOf(module), "compute profile: ")
      << profile.path << ": " << model.unmatched.size() << " of " << profile.locations.size() << " locations, "
      << cost::toString(lost) << " of " << cost::toString(all)
      << ", are of no computation of this program, the longest: \"" << key << "\", " << cost::toString(time);
  return success();
}

/// Kernels take what they take in the program as it is.
static LogicalResult inlineLoops(ModuleOp module, ModelOptions &options) {
  FailureOr<ProgramModel> model = buildProgramModel(module, options);
  if (failed(model))
    return failure();
  IRMapping self;
  module->walk([&](Operation *op) { self.map(op, op); });
  markTimes(*model, self);
  options.profile = nullptr;
  options.marked = true;
  inlineLoopBodies(module, "");
  return success();
}

FailureOr<ModelledPlan> modelAndPlan(ModuleOp module, const PlanRequest &request, StringRef category) {
  FailureOr<cost::Cluster> cluster = readJobCluster(module, request.cluster);
  if (failed(cluster))
    return failure();
  FailureOr<cost::PlanOptions> options = readOptions(module, request, *cluster);
  if (failed(options))
    return failure();
  FailureOr<cost::Engine> engine = readEngine(module, request.engine);
  if (failed(engine))
    return failure();
  if (*engine == cost::Engine::Nccl && !cluster->staleNccl.empty())
    emitWarning(placeOf(module)) << cluster->staleNccl;
  if (request.target != "stablehlo" && request.target != "braid")
    return emitError(placeOf(module), "target: expected stablehlo or braid, got '") << request.target << "'";
  std::optional<ComputeProfile> profile;
  if (!request.computeProfile.empty()) {
    cost::Result<ComputeProfile> read = readComputeProfile(request.computeProfile);
    if (!read)
      return emitError(placeOf(module)) << read.error().text();
    profile = *read;
    if (std::string program = profile->program.empty() ? "" : UnplannedProgram(module).hash();
        program != profile->program)
      return emitError(placeOf(module), "compute profile: ")
             << profile->path << ": expected one of this program (" << program << "), got one of another program ("
             << profile->program << "): record it again with braid-run --record-profile";
  }

  ModelOptions modelOptions;
  modelOptions.device = &cluster->device;
  modelOptions.profile = profile ? &*profile : nullptr;
  modelOptions.clusterHash = cluster->hash;
  modelOptions.category = category;
  modelOptions.engine = *engine;
  if (request.inlineLoops && failed(inlineLoops(module, modelOptions)))
    return failure();
  FailureOr<ProgramModel> model = buildProgramModel(module, modelOptions);
  if (failed(model))
    return failure();
  if (profile && failed(checkUnmatched(module, *profile, *model)))
    return failure();

  ModelledPlan plan;
  plan.model = std::move(*model);
  plan.cluster = *cluster;
  plan.options = *options;
  if (plan.model.program.blocks.empty())
    return std::move(plan);
  FailureOr<cost::Placement> placement =
      readJobPlacement(module, request.placement, plan.model.ranks.ranks(), *cluster);
  if (failed(placement))
    return failure();
  plan.pricer =
      std::make_unique<cost::Pricer>(*cluster, *placement, *engine, bucketForm(*engine, request.target == "stablehlo"));
  plan.options.sampling = cost::affordable(plan.model.program, plan.options.sampling);
  cost::Result<cost::PlanResult> result = cost::plan(plan.model.program, *plan.pricer, plan.options);
  if (!result)
    return emitError(placeOf(module), "plan: ") << result.error().text();
  plan.result = std::move(*result);
  separate(plan.model.program, *plan.pricer, plan.options, plan.result);
  if (request.policy == cost::Policy::Braid)
    tryPipelines(module, request.loops, modelOptions, plan);
  if (request.split && request.policy == cost::Policy::Braid && plan.options.budget.value > 0) {
    if (profile && plan.cut) {
      plan.splits = "collectives stay whole: loops are pipelined, and the compute profile is of the program as it is";
    } else {
      modelOptions.marked |= plan.cut != nullptr;
      trySplits(module, modelOptions, plan);
    }
  }
  return std::move(plan);
}

std::vector<PlannedCollective> plannedCollectives(const ProgramModel &model, const cost::Schedule &schedule,
                                                  const cost::Pricer &pricer) {
  std::vector<PlannedCollective> rows;
  std::vector<double> runs = cost::runs(model.program);
  for (auto [index, plain] : llvm::enumerate(model.program.blocks)) {
    if (runs[index] < 0) // main does not reach it: no part of the step
      continue;
    const cost::BlockSchedule &blockSchedule = schedule.blocks[index];
    for (const cost::Event &event : blockSchedule.order) {
      if (event.kind != cost::Event::Start)
        continue;
      const cost::Bucket &bucket = blockSchedule.buckets[event.index];
      cost::CollectiveSpec spec = cost::mergedSpec(plain, bucket);
      const std::vector<cost::Candidate> &candidates = pricer.candidates(spec);
      const cost::Candidate &chosen = candidates[bucket.candidate];
      PlannedCollective row;
      row.kind = ::braid::algorithms::name(spec.kind);
      row.bytes = spec.bytes.value;
      row.tensors = spec.tensors;
      row.groupSize = spec.groups ? spec.groups->size() : 0;
      row.fabric = cost::name(pricer.fabric(spec));
      row.algorithm = chosen.algorithm;
      row.protocol = chosen.protocol;
      row.price = pricer.mean(spec, bucket.candidate);
      row.why = chosen.why;
      row.location = locationText(model.collective(int(index), bucket.tasks.front())->getLoc());
      // Runner-up: the cheapest of the others by the same measure.
      int second = -1;
      cost::Seconds best{};
      for (size_t other = 0; other < candidates.size(); ++other) {
        if (int(other) == bucket.candidate)
          continue;
        cost::Seconds mean = pricer.mean(spec, other);
        if (second < 0 || mean < best) {
          second = int(other);
          best = mean;
        }
      }
      row.runnerUpPrice = best;
      if (second >= 0)
        row.runnerUp = candidates[second].algorithm + (candidates[second].protocol.empty() ? "" : "/") +
                       candidates[second].protocol + " " + cost::toString(best);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// Of each block's tasks: the operation, where the task communicates, else null.
static std::vector<std::vector<Operation *>> communicating(const ProgramModel &model) {
  std::vector<std::vector<Operation *>> operations;
  for (auto [plain, block] : llvm::zip(model.program.blocks, model.blocks)) {
    operations.emplace_back();
    for (auto [task, ops] : llvm::zip(plain.tasks, block.operations)) {
      bool communicates =
          !ops.empty() && (task.kind == cost::Task::Collective ||
                           (task.kind == cost::Task::Barrier && isa<CollectiveOpInterface, StartOp, WaitOp>(ops[0])));
      operations.back().push_back(communicates ? ops[0] : nullptr);
    }
  }
  return operations;
}

FailureOr<ModulePlan> planModule(ModuleOp module, const PlanRequest &request) {
  // What copies of the module are cut and pipelined with, as braid-plan says for itself; the program may hold none of it.
  module->getContext()
      ->loadDialect<arith::ArithDialect, linalg::LinalgDialect, scf::SCFDialect, tensor::TensorDialect>();
  FailureOr<ModelledPlan> modelled = modelAndPlan(module, request, "braid-plan");
  if (failed(modelled))
    return failure();
  ModulePlan plan;
  plan.module = module;
  plan.request = request;
  plan.ranks = modelled->model.ranks.ranks();
  plan.openQuestions = modelled->model.openQuestions;
  plan.options = modelled->options;
  plan.splits = modelled->splits;
  if (modelled->pricer)
    plan.collectives = plannedCollectives(modelled->planned(), modelled->result.braid().schedule, *modelled->pricer);
  plan.pricer = std::move(modelled->pricer);
  if (modelled->cut) {
    plan.cut = std::make_unique<ModulePlan::Cut>();
    plan.cut->operations = communicating(modelled->cut->model);
    plan.cut->program = std::move(modelled->cut->model.program);
    plan.cut->module = std::move(modelled->cut->module);
  }
  plan.operations = communicating(modelled->model);
  plan.program = std::move(modelled->model.program);
  plan.result = std::move(modelled->result);
  return std::move(plan);
}

FailureOr<cost::Program> programOn(const ModulePlan &plan, const cost::Cluster &cluster) {
  std::optional<ComputeProfile> profile;
  if (!plan.request.computeProfile.empty()) {
    cost::Result<ComputeProfile> read = readComputeProfile(plan.request.computeProfile);
    if (!read)
      return emitError(placeOf(plan.module)) << read.error().text();
    profile = *read;
  }
  ModelOptions options;
  options.device = &cluster.device;
  options.marked = profile && plan.cut;
  options.profile = profile && !plan.cut ? &*profile : nullptr;
  options.engine = plan.pricer->engine();
  FailureOr<ProgramModel> model = buildProgramModel(plan.cut ? *plan.cut->module : plan.module, options);
  if (failed(model))
    return failure();
  return std::move(model->program);
}

} // namespace mlir::braid
