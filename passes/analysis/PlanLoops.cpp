//===- PlanLoops.cpp - is the step shorter if loops' trips begin elsewhere? --------------------------------------===//
//
// Planning decides within a trip; which part of a trip runs beside another one is a choice before it. Copies of the module are planned
// (transforms/PipelineLoops.cpp), in which the search puts collectives beside what does not need them yet:
//
//   late     those that a trip only hands on, at the beginning of the next: all of them, all but the one that the next trip needs first
//            (which hides under the end of its own trip instead), and the half that is needed last; and the same with the collectives
//            that lead to them
//   ahead    those that need nothing of the trip before, in that trip: all of them, and the half that comes first (which holds less
//            memory); and with the others late, too
//   around   the largest one, or the second largest, between two trips, beside the end of one and the beginning of the next
//
// The trips of a loop are played one after another, so what is compared is the steady state, with the first trip in front of the loop
// and the last one's rest behind it. All copies together are searched for half as long as the program as it is was, or for what that has
// left of the budget: each a little and judged by few samples; what is left goes to the best of them, which alone is compared with the
// program as it is. A copy costs as much as a greedy plan beside its search: of larger programs, and with a budget of 0, few are planned.
//===------------------------------------------------------------------------------------------------------------===//
#include "analysis/MeasuredTimes.h"
#include "analysis/ModelledPlan.h"
#include "transforms/PipelineLoops.h"

namespace mlir::braid {

namespace {

// setting: of how many tasks a program is to be tried in all ways; in two; in none
constexpr size_t manyTrials = 2000;
constexpr size_t mostTasks = 20000;
// setting: of how long the program as it is was searched, what all copies together are; of that, what each is before the best is chosen;
// and by what that one may take longer than the program as it is to be searched further
constexpr double ofSearch = 0.3;
constexpr double ofCopies = 1.0 / 16;
constexpr double hopeless = 1.1;

using Steps = SmallVector<PipelineForm, 2>;

PipelineForm late(bool chains, int stay = 0) {
  PipelineForm form;
  form.carry = LoopCarry::Operand;
  form.chains = chains;
  form.stay = stay;
  return form;
}
PipelineForm cut(LoopShift shift, int pick = 0) {
  PipelineForm form;
  form.shift = shift;
  form.pick = pick;
  return form;
}

struct Trial : PlannedCopy {
  std::string name;
  SmallVector<PipelinedLoops, 2> done; ///< by each step
};

std::string nameOf(const PipelineForm &form, const PipelinedLoops &done) {
  std::string text = std::to_string(done.collectives);
  text += done.collectives == 1 ? " collective" : " collectives";
  if (done.chained)
    text += done.chained == done.collectives ? " and those that wait for them"
                                             : ", " + std::to_string(done.chained) + " with those that wait for them,";
  text += form.shift == LoopShift::Late    ? " in the next trip of "
          : form.shift == LoopShift::Ahead ? " a trip ahead in "
                                           : " between trips of ";
  text += std::to_string(done.loops);
  return text + (done.loops == 1 ? " loop" : " loops");
}

class LoopTrials {
public:
  LoopTrials(ModuleOp module, LoopPolicy policy, const ModelOptions &modelOptions, ModelledPlan &plan)
      : module(module), asked(policy == LoopPolicy::Pipeline), options(modelOptions), plan(plan),
        whole(plan.result.braid()),
        share(std::max(cost::Seconds{}, std::min(ofSearch * whole.searched, plan.options.budget - whole.searched))),
        few(plan.options.sampling) {
    options.category = "";                    // what is tried is not what happens
    few.samples = std::min(few.samples, 200); // setting: as the search judges its first round
    few.jobs = std::min(few.jobs, 24);
    few.steps = std::min(few.steps, 4);
  }

  void run() {
    size_t tasks = 0;
    bool loops = asked;
    for (const cost::Block &block : plan.model.program.blocks) {
      tasks += block.tasks.size();
      for (const cost::Task &task : block.tasks)
        loops |= task.kind == cost::Task::Nested && task.trips > 1;
    }
    if (!loops)
      return;
    if (tasks > mostTasks && !asked) {
      plan.loops = "loops stay as they are: the program has " + std::to_string(tasks) + " tasks, and of more than " +
                   std::to_string(mostTasks) + " no pipelined copy is planned; loops=pipeline does it all the same";
      return;
    }
    bool fewWays = tasks > manyTrials || plan.options.budget.value <= 0;
    IRMapping mapping;
    flat = cast<ModuleOp>(module->clone(mapping));
    markTimes(plan.model, mapping); // of kernels as they are now: what is compared is the schedule, not what fuses
    options.profile = nullptr;
    options.marked = true;
    if (inlineLoopBodies(*flat, "")) { // a loop's trips overlap only where its body is seen
      FailureOr<ProgramModel> model = buildProgramModel(*flat, options);
      if (failed(model))
        return;
      plan.lowerBoundOf(model->program, "");
    }
    tryLate(fewWays);
    tryAhead(fewWays);
    if (!fewWays && attempt({cut(LoopShift::Around)}))
      attempt({cut(LoopShift::Around, 1)});
    searchBest();
    decide(fewWays);
  }

private:
  void tryLate(bool fewWays) {
    for (bool chains : {false, true}) {
      int ofLoop = attempt({late(chains)});
      if (fewWays)
        return;
      if (ofLoop > 1)
        attempt({late(chains, 1)});
      if (ofLoop > 3)
        attempt({late(chains, ofLoop / 2)});
    }
  }

  void tryAhead(bool fewWays) {
    int ofLoop = attempt({cut(LoopShift::Ahead)});
    if (!ofLoop || fewWays)
      return;
    if (ofLoop > 1)
      attempt({cut(LoopShift::Ahead, (ofLoop + 1) / 2)});
    for (bool chains : {false, true})
      attempt({cut(LoopShift::Ahead), late(chains)});
  }

  /// How many collectives of each loop, in its first step; 0: a step does nothing.
  int attempt(Steps steps) {
    Trial trial;
    trial.cut = std::make_unique<CutModule>();
    trial.cut->module = cast<ModuleOp>((*flat)->clone());
    for (PipelineForm &step : steps) {
      step.knownTrips = !asked;
      PipelinedLoops done = pipelineLoops(*trial.cut->module, step, "");
      tooLarge = std::max(tooLarge, done.tooLarge);
      if (!done.loops || (step.chains && !done.chained))
        return 0;
      trial.name += (trial.name.empty() ? "" : " and ") + nameOf(step, done);
      for (auto &[where, text] : done.remarks)
        trial.cut->remarks.push_back({where, "pipeline", std::move(text)});
      trial.done.push_back(std::move(done));
    }
    int ofLoop = std::max(1, trial.done.front().collectives / trial.done.front().loops);
    if (!trial.model(options))
      return ofLoop;
    if (!take(trial, ofCopies * share, few) && !take(trial, share - searched, few)) {
      tried += (tried.empty() ? "" : "; ") + trial.name + " needs more memory than there is";
      return ofLoop;
    }
    tried += (tried.empty() ? "" : "; ") + trial.name + " " + cost::toString(trial.plan.objective);
    if (!best || trial.plan.objective < best->plan.objective)
      best = std::move(trial);
    return ofLoop;
  }

  bool take(Trial &trial, cost::Seconds budget, const cost::SampleOptions &sampling) {
    bool made = trial.search(plan, std::max(cost::Seconds{}, std::min(budget, share - searched)), sampling);
    if (made)
      searched += trial.plan.searched;
    return made;
  }

  /// With all samples, which the program as it is has been judged by.
  void searchBest() {
    if (!best || (!asked && best->plan.objective > hopeless * whole.objective))
      return;
    if (!take(*best, share, plan.options.sampling)) {
      best.reset();
      return;
    }
    if (share.value > 0)
      tried += "; the best of them searched on " + cost::toString(best->plan.objective);
  }

  void decide(bool fewWays) {
    if (tried.empty() && tooLarge)
      plan.loops = "loops stay as they are: " + sayTooLarge();
    if (tried.empty())
      return;
    plan.loops = "tried to pipeline loops, objective " + cost::toString(whole.objective) + " as they are: " + tried;
    if (fewWays)
      plan.loops += plan.options.budget.value <= 0 ? "; no more ways, for a budget of 0"
                                                   : "; no more ways, as the program is large";
    if (tooLarge)
      plan.loops += "; " + sayTooLarge();
    if (!best || (!asked && !best->gains(plan, leastGain))) {
      plan.loops += "; none gains 1 %, so that they stay";
      return;
    }
    std::string gain = gainText(whole.objective, best->plan.objective);
    best->plan.rule += "; " + best->name + ", which gains " + gain;
    best->plan.searched = whole.searched + searched;
    plan.loops += "; the plan gains " + gain + ": " + cost::toString(whole.objective) + " before, " +
                  cost::toString(best->plan.objective) + " after";
    std::move(*best).adopt(plan, "with loops pipelined");
  }

  std::string sayTooLarge() const {
    return std::to_string(tooLarge) + (tooLarge == 1 ? " loop has a body" : " loops have bodies") +
           " too large to look at all places where a trip could begin";
  }

  ModuleOp module;
  const bool asked;
  ModelOptions options;
  ModelledPlan &plan;
  const cost::PolicyResult &whole;
  const cost::Seconds share; ///< of the budget, for all copies
  cost::SampleOptions few;
  cost::Seconds searched; ///< of the share
  int tooLarge = 0;       ///< loops
  OwningOpRef<ModuleOp> flat;
  std::optional<Trial> best;
  std::string tried;
};

} // namespace

void tryPipelines(ModuleOp module, LoopPolicy policy, const ModelOptions &modelOptions, ModelledPlan &plan) {
  if (policy != LoopPolicy::Keep)
    LoopTrials(module, policy, modelOptions, plan).run();
}

} // namespace mlir::braid
