//===- MeasuredOps.cpp - a profiler's measurements as times of a program's locations ----------------------------===//
#include "braid/passes/MeasuredOps.h"
#include "braid/passes/LocationText.h"

#include "analysis/JobCluster.h"
#include "analysis/LocatedTasks.h"
#include "analysis/ProgramModel.h"

namespace mlir::braid {

namespace {

/// A location's tasks, together.
struct Carried {
  SmallVector<int> tasks;
  double roofline = 0; ///< of one execution of each, seconds; or their number where no roofline is known
  double perStep = 0;  ///< of all executions in a step
};

} // namespace

FailureOr<MatchedOps> matchMeasured(ModuleOp module, StringRef clusterOption, const std::vector<MeasuredOp> &measured) {
  FailureOr<cost::Cluster> cluster = readJobCluster(module, clusterOption);
  if (failed(cluster))
    return failure();
  ModelOptions options;
  options.device = &cluster->device;
  FailureOr<ProgramModel> model = buildProgramModel(module, options);
  if (failed(model))
    return failure();
  if (model->program.blocks.empty())
    return emitError(placeOf(module), "expected a program with collectives, got none: there is nothing to plan");

  ModuleFacts facts(module);
  LocatedTasks located(facts);
  std::vector<std::pair<double, double>> tasks; // roofline of one execution in seconds, executions in a step
  std::vector<double> runs = cost::runs(model->program);
  for (size_t block = 0; block < model->blocks.size(); ++block)
    for (auto [task, ops] : llvm::zip(model->program.blocks[block].tasks, model->blocks[block].operations)) {
      if (task.kind != cost::Task::Compute || runs[block] < 0)
        continue;
      for (Operation *op : ops)
        located.add(int(tasks.size()), op);
      tasks.emplace_back(task.duration.value, runs[block]);
    }

  llvm::StringMap<Carried> carried;
  auto carriedBy = [&](StringRef key) -> const Carried & {
    auto [it, inserted] = carried.try_emplace(key);
    Carried &one = it->second;
    if (!inserted)
      return one;
    one.tasks = located.find(key);
    bool known = llvm::any_of(one.tasks, [&](int task) { return tasks[task].first > 0; });
    for (int task : one.tasks) {
      double weight = known ? tasks[task].first : 1;
      one.roofline += weight;
      one.perStep += weight * tasks[task].second;
    }
    return one;
  };

  MatchedOps result;
  std::map<std::string, double> perStep; // of each location, seconds
  for (const MeasuredOp &op : measured) {
    std::map<std::string, double> weights;
    double total = 0;
    for (const std::vector<SourcePlace> &part : op.parts)
      for (const SourcePlace &place : part)
        if (std::string key = located.keyOf(place); !key.empty() && carriedBy(key).perStep > 0) {
          if (weights.emplace(key, carriedBy(key).perStep).second)
            total += carriedBy(key).perStep;
          break;
        }
    for (auto &[key, weight] : weights)
      perStep[key] += op.time.value * weight / total;
    if (weights.empty())
      result.unmatched.push_back(&op);
  }
  llvm::sort(result.unmatched,
             [](auto *a, auto *b) { return std::tie(b->time.value, a->label) < std::tie(a->time.value, b->label); });

  std::vector<bool> known(tasks.size());
  for (auto &[key, seconds] : perStep) {
    const Carried &one = carriedBy(key);
    result.locations[key] = {seconds * one.roofline / one.perStep};
    for (int task : one.tasks)
      known[task] = true;
  }
  for (auto [task, measuredTime] : llvm::zip(tasks, known)) {
    cost::Seconds time{task.first * task.second};
    if (time.value <= 0 && !measuredTime)
      continue;
    ++result.kernels;
    result.roofline += time;
    if (measuredTime) {
      ++result.measuredKernels;
      result.measuredRoofline += time;
    }
  }
  return std::move(result);
}

} // namespace mlir::braid
