//===- PlanLoops.cpp - is the step shorter with collectives in the next trip of their loop? ---------------------===//
//
// Planning decides within a trip; which part of a trip runs in the next one is a choice before it. Copies of the module are
// planned in which the collectives that a trip only hands on run at the beginning of the next (transforms/PipelineLoops.cpp), where
// the search puts them beside what does not need them yet: all of them, all but the one that the next trip needs first (which hides
// under the end of its own trip instead), and the half that is needed last; and the same with the collectives that lead to them. The trips of a loop are played one after another,
// so what is compared is the steady state, with the first trip in front of the loop and the last one's rest behind it.
//===------------------------------------------------------------------------------------------------------------===//
#include "analysis/ModelledPlan.h"
#include "transforms/PipelineLoops.h"

namespace mlir::braid {

namespace {

constexpr size_t mostTasks = 2000; ///< setting: of larger programs no copy is planned

struct Trial : PlannedCopy {
  PipelinedLoops loops;
};

std::string nameOf(const PipelinedLoops &done) {
  std::string text = std::to_string(done.collectives);
  text += done.collectives == 1 ? " collective" : " collectives";
  if (done.chained)
    text += done.chained == done.collectives ? " and those that wait for them"
                                             : ", " + std::to_string(done.chained) + " with those that wait for them,";
  text += " in the next trip of " + std::to_string(done.loops);
  return text + (done.loops == 1 ? " loop" : " loops");
}

} // namespace

void tryPipelines(ModuleOp module, LoopPolicy policy, const ModelOptions &modelOptions, ModelledPlan &plan) {
  bool asked = policy == LoopPolicy::Pipeline;
  size_t tasks = 0;
  bool loops = asked;
  for (const cost::Block &block : plan.model.program.blocks) {
    tasks += block.tasks.size();
    for (const cost::Task &task : block.tasks)
      loops |= task.kind == cost::Task::Nested && task.trips > 1;
  }
  // Times that were measured by place are of operations that stand in one place.
  if (policy == LoopPolicy::Keep || !loops || modelOptions.profile ||
      (!asked && (tasks > mostTasks || plan.options.budget.value <= 0)))
    return;
  ModelOptions options = modelOptions;
  options.category = ""; // what is tried is not what happens
  OwningOpRef<ModuleOp> flat = cast<ModuleOp>(module->clone());
  if (inlineLoopBodies(*flat)) { // a loop's trips overlap only where its body is seen
    FailureOr<ProgramModel> model = buildProgramModel(*flat, options);
    if (failed(model))
      return;
    plan.lowerBoundOf(model->program, "");
  }
  const cost::PolicyResult &whole = plan.result.braid();
  cost::Seconds searched = whole.searched;
  std::optional<Trial> best;
  std::string tried;
  SmallVector<std::pair<bool, int>> forms{{false, 0}, {true, 0}}; // chains, how many stay
  for (size_t at = 0; at < forms.size(); ++at) {
    Trial trial;
    trial.cut = std::make_unique<CutModule>();
    trial.cut->module = cast<ModuleOp>((*flat)->clone());
    PipelineForm form;
    form.carry = LoopCarry::Operand;
    form.chains = forms[at].first;
    form.stay = forms[at].second;
    form.knownTrips = !asked;
    trial.loops = pipelineLoops(*trial.cut->module, form, "");
    if (!trial.loops.loops || (form.chains && !trial.loops.chained))
      continue;
    int ofLoop = trial.loops.collectives / trial.loops.loops;
    if (form.stay == 0 && ofLoop > 1)
      forms.push_back({form.chains, 1});
    if (form.stay == 0 && ofLoop > 3)
      forms.push_back({form.chains, ofLoop / 2});
    for (auto &[where, text] : trial.loops.remarks)
      trial.cut->remarks.push_back({where, "pipeline", std::move(text)});
    // All searches together have one budget; when it is used up, plans are greedy.
    if (!trial.make(options, plan, std::max(plan.options.budget - searched, cost::Seconds{})))
      continue;
    searched += trial.plan.searched;
    tried += (tried.empty() ? "" : "; ") + nameOf(trial.loops) + " " + cost::toString(trial.plan.objective);
    if (!best || trial.plan.objective < best->plan.objective)
      best = std::move(trial);
  }
  if (!best)
    return;
  plan.loops = "tried to pipeline loops, objective " + cost::toString(whole.objective) + " as they are: " + tried;
  if (!asked && !best->gains(plan, leastGain)) {
    plan.loops += "; none gains 1 %, so that they stay";
    return;
  }
  std::string gain = gainText(whole.objective, best->plan.objective);
  best->plan.rule += "; " + nameOf(best->loops) + ", which gains " + gain;
  best->plan.searched = searched;
  plan.loops += "; the plan gains " + gain + ": " + cost::toString(whole.objective) + " before, " +
                cost::toString(best->plan.objective) + " after";
  std::move(*best).adopt(plan, "with loops pipelined");
}

} // namespace mlir::braid
