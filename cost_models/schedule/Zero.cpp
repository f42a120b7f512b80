//===- Zero.cpp - DeepSpeed ZeRO, stages 1 to 3 ------------------------------------------------------------------===//
//
// All stages: gradients fill a bucket in the order of their makers; one that does not fit any more has it reduced first.
// Without overlap the computation waits for each reduction.
//
//   1, 2  The update follows, then parameters are gathered, bucket by bucket; nothing runs beside that.
//   3     Parameters are gathered before they are read, all that a task needs in one launch; behind it, as many of the next
//         ones as the prefetch bucket and the limit on live parameters take. They are freed behind their use, unless they
//         are read again within the reuse distance. Small parameters are whole, and gathered once, behind the update.
//
// Stage 1 and 2 differ in memory only. Sources: deepspeed.ai/docs/config-json; microsoft/DeepSpeed,
// deepspeed/runtime/zero/{config,stage_1_and_2,partitioned_param_coordinator}.py; Rajbhandari et al., SC 2020.
//===------------------------------------------------------------------------------------------------------------===//
#include "schedule/StepBuilder.h"
#include <algorithm>

using namespace braid::cost;

namespace {

struct Use {
  int first; // task
  std::vector<int> gradients;
};

class ZeroStep {
public:
  ZeroStep(const Program &program, const DataParallelStep &step, const ZeroOptions &options)
      : program(program), step(step), options(options), builder(program, step),
        whole(step.gradients.size(), options.stage < 3), gatherOf(step.gradients.size(), -1) {
    int64_t persistent = 0, parameters = 0, shared = 0, updated = 0; // bytes but for the first
    for (size_t g = 0; g < step.gradients.size(); ++g) {
      const Gradient &gradient = step.gradients[g];
      parameters += gradient.spec.bytes.value;
      if (options.stage == 3 && gradient.elements < options.persistence &&
          persistent + gradient.elements <= options.modelPersistence) {
        whole[g] = true;
        persistent += gradient.elements;
        ++kept;
      }
      shared += whole[g] ? 0 : gradient.spec.bytes.value;
    }
    const std::vector<Task> &tasks = program.blocks[step.block].tasks;
    for (size_t i = 0; i < tasks.size(); ++i)
      if (step.update[i] && tasks[i].escapes)
        updated += tasks[i].result.value;
    int64_t state =
        std::max<int64_t>(0, updated - parameters) + shared; // what the update gives back, but parameters held whole
    builder.notHeld = {state - state / step.gradients.front().ranks};
  }

  SystemStep run(const Pricer &pricer) && {
    if (options.stage == 3)
      findUses();
    const int tasks = int(program.blocks[step.block].tasks.size());
    size_t made = 0;
    for (int task = 0; task < tasks; ++task) {
      if (step.update[task] || step.reduction[task])
        continue;
      begin(task);
      builder.copy(task);
      for (; made < step.gradients.size() && step.gradients[made].maker <= task; ++made)
        fill(int(made));
    }
    for (; made < step.gradients.size(); ++made) // arguments, in a step that computes nothing before its update
      fill(int(made));
    flush();
    builder.holds.clear();
    builder.copyUpdate(options.stage == 3 ? step.gradients.front().ranks : 1);
    gatherAfterUpdate();
    return std::move(builder).finish(pricer, text());
  }

private:
  std::string text() const {
    std::string text = std::to_string(reductions) + (reductions == 1 ? " reduction" : " reductions") +
                       (options.overlap ? ", overlapped" : ", not overlapped");
    if (options.stage == 3)
      text +=
          ", " + std::to_string(gathers) + " gathers" +
          (kept ? ", " + std::to_string(kept) + " of " + std::to_string(step.gradients.size()) + " parameters persist"
                : "") +
          (reused ? ", " + std::to_string(reused) + " kept from pass to pass" : "");
    return text;
  }

  //===- gradients ----------------------------------------------------------------------------------------------===//

  void fill(int gradient) {
    int64_t elements = step.gradients[gradient].elements;
    if (!bucket.empty() && inBucket + elements > options.reduceBucket)
      flush();
    bucket.push_back(gradient);
    inBucket += elements;
  }
  void flush() {
    if (bucket.empty())
      return;
    std::vector<int> started =
        builder.reduce(options.reduceScatter ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce, bucket);
    reductions += started.size();
    if (!options.overlap)
      builder.wait(started);
    bucket.clear();
    inBucket = 0;
  }

  //===- parameters ---------------------------------------------------------------------------------------------===//

  void gatherAfterUpdate() {
    std::vector<int> part;
    int64_t elements = 0;
    auto gather = [&] {
      builder.wait(builder.gatherUpdated(part));
      part.clear();
      elements = 0;
    };
    for (size_t g = 0; g < step.gradients.size(); ++g) {
      if (!whole[g])
        continue;
      if (!part.empty() && elements + step.gradients[g].elements > options.gatherBucket)
        gather();
      part.push_back(int(g));
      elements += step.gradients[g].elements;
    }
    if (!part.empty())
      gather();
  }

  void findUses() {
    auto add = [&](int first, int gradient) {
      if (whole[gradient])
        return;
      if (uses.empty() || uses.back().first != first)
        uses.push_back({first, {}});
      uses.back().gradients.push_back(gradient);
    };
    for (size_t g = step.gradients.size(); g-- > 0;)
      add(step.gradients[g].forward, int(g));
    for (size_t g = 0; g < step.gradients.size(); ++g)
      add(std::max(step.gradients[g].backward, step.turn), int(g));
  }

  /// Uses that begin at `task`; those that have begun before end.
  void begin(int task) {
    if (begun == uses.size() || uses[begun].first > task)
      return;
    for (int g : reading) {
      if (readSoon(g)) {
        ++reused;
        continue;
      }
      liveElements -= step.gradients[g].elements;
      gatherOf[g] = -1;
    }
    reading.clear();
    builder.holds.clear();
    while (begun < uses.size() && uses[begun].first <= task) {
      const Use &use = uses[begun++];
      std::vector<int> missing;
      for (int g : use.gradients) {
        if (!live(g))
          missing.push_back(g);
        reading.push_back(g);
      }
      gather(missing);
      for (int g : use.gradients) {
        builder.wait({gatherOf[g]});
        builder.holds.push_back(gatherOf[g]);
      }
    }
    std::vector<int> next;
    int64_t elements = 0;
    for (size_t u = begun; u < uses.size(); ++u)
      for (int g : uses[u].gradients) {
        if (live(g) || std::find(next.begin(), next.end(), g) != next.end())
          continue;
        elements += step.gradients[g].elements;
        if (elements > options.prefetchBucket || liveElements + elements > options.maxLive) {
          gather(next);
          return;
        }
        next.push_back(g);
      }
    gather(next);
  }

  bool live(int gradient) const { return gatherOf[gradient] >= 0; }

  void gather(const std::vector<int> &gradients) {
    if (gradients.empty())
      return;
    // One launch for each group and type; who reads a parameter waits for its own.
    std::vector<int> started = builder.start(CollectiveKind::AllGather, gradients);
    gathers += int(started.size());
    for (int g : gradients) {
      for (size_t s = 0; s < started.size(); ++s)
        if (builder.specOf(started[s]).groups == step.gradients[g].spec.groups &&
            builder.specOf(started[s]).elementType == step.gradients[g].spec.elementType)
          gatherOf[g] = started[s];
      liveElements += step.gradients[g].elements;
    }
  }

  /// Read again before so many elements have been read by others.
  bool readSoon(int gradient) const {
    int64_t passed = 0;
    for (size_t u = begun; u < uses.size() && passed < options.reuseDistance; ++u)
      for (int g : uses[u].gradients) {
        if (g == gradient)
          return true;
        passed += step.gradients[g].elements;
      }
    return false;
  }

  const Program &program;
  const DataParallelStep &step;
  const ZeroOptions &options;
  StepBuilder builder;
  std::vector<char> whole;   // of each gradient: every rank holds the parameter
  std::vector<int> gatherOf; // of each gradient: the new task that gathered its parameter, -1: not live
  std::vector<int> bucket;
  int64_t inBucket = 0, liveElements = 0;
  std::vector<Use> uses;
  size_t begun = 0;
  std::vector<int> reading;
  size_t reductions = 0;
  int gathers = 0, kept = 0, reused = 0;
};

} // namespace

Result<SystemStep> braid::cost::zeroStep(const Program &program, const Pricer &pricer, const ZeroOptions &options) {
  Result<DataParallelStep> step = dataParallelStep(program);
  if (!step)
    return step.error();
  return ZeroStep(program, *step, options).run(pricer);
}
