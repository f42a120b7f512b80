//===- PlanSplit.cpp - is the program better with its large collectives cut? ------------------------------------===//
//
// Planning decides over whole collectives; cutting one is a choice before it. Where some take a large part of the step, a
// copy of the module with those cut into 4 pieces is modelled and planned, then into 8 and 16, or 2: as long as that gets
// better. The best is tried without cutting the computation around them, and with the one that takes longest alone. What
// cutting can be worth is bounded from above: pieces are sent when their bytes are ready, so that, where no computation is
// cut, no schedule of pieces is faster than the bound of the program as it is; a plan within 1 % of it is left.
//
// A cut must gain at least 1 %, by the draws of the plan and by others: the best of several looks better by its own draws
// than it is. The plan stays the better of all, and its bound is the lower of those of both programs.
//===------------------------------------------------------------------------------------------------------------===//
#include "analysis/ModelledPlan.h"
#include "transforms/SplitCollectives.h"

namespace mlir::braid {

namespace {

// setting: where a cut is tried
constexpr double largeShare = 0.03; ///< of the step that a collective takes to be worth cutting
constexpr double mostStartUp = 0.5; ///< by what two halves may take longer than a whole
constexpr size_t mostTasks = 2000;

struct Trial : PlannedCopy {
  Split split;
  SplitForm form;
};

class Splits {
public:
  Splits(ModuleOp module, const ModelOptions &options, ModelledPlan &plan)
      : module(module), options(options), plan(plan), whole(plan.result.braid()), searched(whole.searched) {
    this->options.category = ""; // what is tried is not what happens
  }

  void run() {
    size_t tasks = 0;
    for (const cost::Block &block : plan.planned().program.blocks)
      tasks += block.tasks.size();
    // A recorded profile has times of operations as they are, not of pieces.
    if (tasks > mostTasks || (options.profile && !options.profile->program.empty()))
      return;
    SmallVector<CollectiveOpInterface> large = largeOnes();
    if (large.empty())
      return;
    for (SplitForm form{4, true}; form.pieces <= 16; form.pieces *= 2)
      if (!better(attempt(large, form)))
        break;
    if (!best && !tried.empty())
      better(attempt(large, {2, true}));
    if (best && best->split.operations)
      better(attempt(large, {best->form.pieces, false}));
    if (best && large.size() > 1)
      better(attempt(ArrayRef(large).take_front(), best->form));
    decide();
  }

private:
  /// Those that take a large part of the step, the longest first.
  SmallVector<CollectiveOpInterface> largeOnes() const {
    std::vector<std::pair<double, CollectiveOpInterface>> large;
    const ProgramModel &model = plan.planned();
    std::vector<double> runs = cost::runs(model.program);
    for (auto [index, block] : llvm::enumerate(model.program.blocks))
      for (auto [number, task] : llvm::enumerate(block.tasks)) {
        if (task.kind != cost::Task::Collective || !task.asynchronous)
          continue;
        cost::CollectiveSpec half = task.spec;
        half.bytes = {half.bytes.value / 2};
        cost::Seconds once = plan.pricer->candidates(task.spec).front().time;
        cost::Seconds twice = 2 * plan.pricer->candidates(half).front().time;
        double time = runs[index] * once.value;
        if (time >= largeShare * whole.objective.value && twice <= (1 + mostStartUp) * once)
          large.emplace_back(time, model.collective(int(index), int(number)));
      }
    llvm::stable_sort(large, [](auto &a, auto &b) { return a.first > b.first; });
    return llvm::to_vector(llvm::make_second_range(large));
  }

  std::optional<Trial> attempt(ArrayRef<CollectiveOpInterface> which, const SplitForm &form) {
    Trial trial;
    trial.form = form;
    trial.cut = std::make_unique<CutModule>();
    IRMapping mapping;
    trial.cut->module = cast<ModuleOp>(module->clone(mapping));
    SmallVector<CollectiveOpInterface> copies;
    for (CollectiveOpInterface op : which)
      copies.push_back(cast<CollectiveOpInterface>(mapping.lookup(op.getOperation())));
    trial.split = splitCollectives(*trial.cut->module, copies, form, "");
    for (auto &[where, text] : trial.split.remarks)
      trial.cut->remarks.push_back({where, "split", std::move(text)});
    bool room = whole.objective > (1 + leastGain) * plan.result.bound.time;
    if (!trial.split.collectives || (!trial.split.operations && !room))
      return std::nullopt;
    cost::Seconds left = plan.options.budget - searched; // all searches together have one budget
    if (left.value <= 0 || !trial.make(options, plan, left))
      return std::nullopt;
    searched += trial.plan.searched;
    tried.push_back(nameOf(trial) + " " + cost::toString(trial.plan.objective));
    return trial;
  }

  bool better(std::optional<Trial> trial) {
    cost::Seconds reached = best ? best->plan.objective : (1 - leastGain) * whole.objective;
    if (!trial || !(trial->plan.objective < reached))
      return false;
    best = std::move(trial);
    return true;
  }

  std::string nameOf(const Trial &trial) const {
    std::string text = std::to_string(trial.split.collectives);
    text += trial.split.collectives == 1 ? " collective" : " collectives";
    text += " cut into " + std::to_string(trial.split.pieces);
    if (trial.split.operations)
      text += " with " + std::to_string(trial.split.operations) + " operations around";
    return text;
  }

  void decide() {
    if (tried.empty())
      return;
    for (const std::string &text : tried)
      plan.splits += (plan.splits.empty() ? "" : "; ") + text;
    plan.splits = "tried to cut collectives, objective " + cost::toString(whole.objective) + " whole: " + plan.splits;
    if (!best || !best->gains(plan, leastGain)) {
      plan.splits += "; none gains 1 %, so that all stay whole";
      return;
    }
    std::string gain = gainText(whole.objective, best->plan.objective);
    best->plan.rule += "; " + nameOf(*best) + ", which gains " + gain;
    if (plan.cut)
      best->plan.rule += "; of the program with loops pipelined";
    plan.splits += "; the plan gains " + gain;
    std::move(*best).adopt(plan, "with collectives cut");
  }

  ModuleOp module;
  ModelOptions options;
  ModelledPlan &plan;
  const cost::PolicyResult &whole;
  cost::Seconds searched; ///< of the budget
  std::optional<Trial> best;
  std::vector<std::string> tried;
};

} // namespace

void trySplits(ModuleOp module, const ModelOptions &options, ModelledPlan &plan) {
  Splits(plan.cut ? *plan.cut->module : module, options, plan).run();
}

} // namespace mlir::braid
