//===- Fsdp.cpp - PyTorch FSDP: a unit's parameters are gathered before it computes ------------------------------===//
//
//   1. Units: neighbouring gradients are wrapped together up to a size. Each is used twice, in the forward pass in reverse
//      order of its gradients, in the backward pass in their order.
//   2. A use waits for its gather. Gathers are issued as early as the limit allows: with 2, the next unit's runs while this
//      one computes; at the turn as everywhere. In the backward pass the prefetch decides the place of the next gather before
//      or behind the reduction of this unit's gradients, with which it shares the channel.
//   3. A unit's gradients are reduce-scattered behind its last maker; the update waits for all.
//
// Example, units a b c, limit 2 (AG gathers, RS reduces):
//   channel   AG a, AG b,    AG c     AG c     AG b     AG a, RS c   RS b   RS a
//   compute          a fwd    b fwd    c fwd    c bwd    b bwd        a bwd       update
// Sources: torch.distributed.fsdp, FullyShardedDataParallel (backward_prefetch, limit_all_gathers); Zhao et al., PyTorch
// FSDP, VLDB 2023, sections 3.3 and 3.4.
//===------------------------------------------------------------------------------------------------------------===//
#include "schedule/StepBuilder.h"
#include <algorithm>

using namespace braid::cost;

namespace {

struct Unit {
  std::vector<int> gradients;
  int forward = 0, backward = 0, last = 0; // tasks: first of each pass, last maker
};

struct Use {
  int unit;
  int first; // task
};

class FsdpStep {
public:
  FsdpStep(const Program &program, const DataParallelStep &step, const FsdpOptions &options)
      : step(step), options(options), tasks(program.blocks[step.block].tasks.size()), builder(program, step) {
    wrap();
  }

  SystemStep run(const Pricer &pricer) && {
    const int limit = options.allGathers > 0 ? options.allGathers : int(units.size());
    issue(std::min(limit, int(uses.size())));
    size_t reduced = 0;
    for (int task = 0; task < int(tasks); ++task) {
      if (step.update[task] || step.reduction[task])
        continue;
      begin(task, limit);
      builder.copy(task);
      for (; reduced < units.size() && units[reduced].last <= task; ++reduced)
        endOf(int(reduced), limit);
    }
    for (; reduced < units.size(); ++reduced)
      endOf(int(reduced), limit);
    builder.holds.clear();
    builder.copyUpdate(step.gradients.front().ranks);
    std::string how = std::to_string(units.size()) + (units.size() == 1 ? " unit" : " units");
    if (options.unit.value > 0)
      how += " of at least " + toString(options.unit);
    return std::move(builder).finish(pricer, how);
  }

private:
  void wrap() {
    Bytes size;
    int64_t all = 0;
    for (size_t g = 0; g < step.gradients.size(); ++g) {
      const Gradient &gradient = step.gradients[g];
      bool same = g > 0 && step.gradients[g - 1].maker == gradient.maker;
      if (units.empty() || (!same && size >= std::max(options.unit, Bytes{1}))) {
        units.emplace_back();
        units.back().backward = gradient.backward;
        size = {};
      }
      Unit &unit = units.back();
      unit.gradients.push_back(int(g));
      unit.forward = gradient.forward; // the last gradient's is the first in the forward pass
      unit.last = gradient.maker;
      size += gradient.spec.bytes;
      all += gradient.spec.bytes.value;
    }
    for (size_t u = units.size(); u-- > 0;)
      uses.push_back({int(u), units[u].forward});
    if (options.freeForward)
      for (size_t u = 0; u < units.size(); ++u)
        uses.push_back({int(u), std::max(units[u].backward, step.turn)});
    gathers.resize(uses.size());
    builder.notHeld = {all - all / step.gradients.front().ranks};
  }

  void issue(int until) {
    for (; issued < std::min(until, int(uses.size())); ++issued)
      gathers[issued] = builder.start(CollectiveKind::AllGather, units[uses[issued].unit].gradients);
  }

  /// Uses that begin at `task`; those that have begun before end.
  void begin(int task, int limit) {
    if (begun == int(uses.size()) || uses[begun].first > task)
      return;
    if (options.freeForward)
      builder.holds.clear();
    while (begun < int(uses.size()) && uses[begun].first <= task) {
      issue(begun + 1);
      builder.wait(gathers[begun]);
      builder.holds.insert(builder.holds.end(), gathers[begun].begin(), gathers[begun].end());
      ++begun;
      if (begun <= int(units.size())) // forward: the CPU runs ahead, and at the turn by one
        issue(std::min(begun - 1 + limit, std::max(int(units.size()), begun + 1)));
      else if (options.backwardPrefetch == FsdpOptions::Pre)
        issue(std::min(begun + 1, begun - 1 + limit));
    }
  }

  /// Its gradients are there.
  void endOf(int unit, int limit) {
    if (options.backwardPrefetch == FsdpOptions::Post)
      issue(std::min(begun + 1, begun - 1 + limit));
    builder.reduce(CollectiveKind::ReduceScatter, units[unit].gradients);
    if (options.backwardPrefetch == FsdpOptions::None)
      issue(std::min(begun + 1, begun - 1 + limit));
    if (!options.freeForward) { // this unit's parameters are free
      const std::vector<int> &mine = gathers[units.size() - 1 - unit];
      auto freed = [&](int task) { return std::find(mine.begin(), mine.end(), task) != mine.end(); };
      builder.holds.erase(std::remove_if(builder.holds.begin(), builder.holds.end(), freed), builder.holds.end());
    }
  }

  const DataParallelStep &step;
  const FsdpOptions &options;
  size_t tasks;
  StepBuilder builder;
  std::vector<Unit> units;               // in the order of their gradients
  std::vector<Use> uses;                 // in order
  std::vector<std::vector<int>> gathers; // of each use
  int issued = 0, begun = 0;
};

} // namespace

Result<SystemStep> braid::cost::fsdpStep(const Program &program, const Pricer &pricer, const FsdpOptions &options) {
  Result<DataParallelStep> step = dataParallelStep(program);
  if (!step)
    return step.error();
  return FsdpStep(program, *step, options).run(pricer);
}
