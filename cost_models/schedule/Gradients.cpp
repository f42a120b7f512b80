//===- Gradients.cpp - finds the gradients of a step and the places of their parameters -------------------------===//
#include "schedule/Gradients.h"
#include <algorithm>
#include <cmath>
#include <map>

using namespace braid::cost;

/// For each task whether it communicates, and whether a task that does depends on it.
static std::vector<char> leadsToCommunication(const Block &block) {
  std::vector<char> leads(block.tasks.size());
  for (size_t i = block.tasks.size(); i-- > 0;) {
    const Task &task = block.tasks[i];
    bool communicates = task.kind == Task::Collective || task.kind == Task::Nested;
    for (int operand : task.operands)
      leads[operand] |= char(communicates || leads[i]);
  }
  return leads;
}

/// The gradients of a block as tasks, in the order of the text.
static std::vector<int> gradientsOf(const Block &block) {
  std::vector<char> leads = leadsToCommunication(block);
  auto summed = [&](const Task &task) {
    return task.kind == Task::Collective && task.spec.kind == CollectiveKind::AllReduce && task.asynchronous &&
           task.spec.groups && task.spec.groups->size() > 1 &&
           task.spec.bytes.value > elementBytes(task.spec.elementType);
  };
  struct Use {
    int64_t gradients = 0, activations = 0; // bytes
  };
  std::map<const RankGroups *, Use> uses;
  for (size_t i = 0; i < block.tasks.size(); ++i)
    if (const Task &task = block.tasks[i]; summed(task))
      (leads[i] ? uses[task.spec.groups.get()].activations : uses[task.spec.groups.get()].gradients) +=
          task.spec.bytes.value;
  std::vector<int> gradients;
  for (size_t i = 0; i < block.tasks.size(); ++i)
    if (const Task &task = block.tasks[i]; summed(task) && !leads[i]) {
      const Use &use = uses[task.spec.groups.get()];
      if (use.gradients > use.activations)
        gradients.push_back(int(i));
    }
  return gradients;
}

/// Time of each task as far as it computes: loops without collectives are single tasks, the others count their own.
static double computeTime(const Program &program, const Task &task) {
  if (task.kind != Task::Nested)
    return task.kind == Task::Collective ? 0 : task.duration.value;
  double total = 0;
  for (const Task &inner : program.blocks[task.block].tasks)
    total += computeTime(program, inner);
  return task.trips * total;
}

static void placeParameters(const Program &program, DataParallelStep &step) {
  const Block &block = program.blocks[step.block];
  std::vector<Gradient> &gradients = step.gradients;
  std::vector<double> begin(block.tasks.size() + 1); // of each task, without the update and without waiting
  for (size_t i = 0; i < block.tasks.size(); ++i)
    begin[i + 1] = begin[i] + (step.update[i] ? 0 : computeTime(program, block.tasks[i]));
  double turn = begin[step.turn], last = begin[std::max(gradients.back().maker, step.turn) + 1];
  int from = step.turn;
  double read = last; // forward time comes from the end: the last gradient's parameter is read first
  for (auto gradient = gradients.rbegin(); gradient != gradients.rend(); ++gradient) {
    // The time behind the turn at which parameters in front of this one in the forward pass have been served.
    double share = last > turn ? (last - read) / (last - turn) * turn : 0;
    auto place = std::upper_bound(begin.begin(), begin.end() - 1, share + 1e-9 * turn) - begin.begin() - 1;
    gradient->forward = int(std::clamp<int64_t>(place, 0, step.turn));
    auto before = std::next(gradient);
    read = before == gradients.rend() ? turn : std::max(turn, begin[std::max(before->maker, 0) + 1]);
  }
  for (size_t g = 0; g < gradients.size(); ++g) { // several gradients of one maker share their place
    bool same = g > 0 && gradients[g - 1].maker == gradients[g].maker;
    gradients[g].backward = same ? gradients[g - 1].backward : from;
    from = std::max(from, gradients[g].maker + 1);
  }
}

Result<DataParallelStep> braid::cost::dataParallelStep(const Program &program) {
  DataParallelStep step;
  std::vector<double> times = runs(program);
  std::string repeated; // where gradients are all-reduced several times a step
  bool scattered = false;
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    for (const Task &task : program.blocks[b].tasks)
      scattered |= task.kind == Task::Collective && task.spec.kind == CollectiveKind::ReduceScatter;
    if (times[b] <= 0 || gradientsOf(program.blocks[b]).empty())
      continue;
    if (times[b] != 1) {
      repeated = program.blocks[b].name + ", which runs " + std::to_string(std::llround(times[b])) + " times a step";
      continue;
    }
    if (step.block >= 0)
      return Error{"gradients are all-reduced in " + program.blocks[step.block].name + " and in " +
                       program.blocks[b].name + ", expected one place that runs once a step",
                   ""};
    step.block = int(b);
  }
  if (step.block < 0)
    return Error{
        !repeated.empty()
            ? "gradients are all-reduced in " + repeated +
                  ", expected a place that runs once: behind a loop that accumulates, or in layers that are unrolled "
                  "(jax.lax.scan(..., unroll=True))"
        : scattered ? "no gradient is all-reduced, gradients or activations are reduce-scattered already"
                    : "no gradient is all-reduced",
        ""};

  const Block &block = program.blocks[step.block];
  step.update.resize(block.tasks.size());
  step.reduction.resize(block.tasks.size());
  for (int task : gradientsOf(block)) {
    Gradient gradient;
    gradient.collective = task;
    gradient.spec = block.tasks[task].spec;
    gradient.ranks = gradient.spec.groups->size();
    gradient.elements = gradient.spec.bytes.value / elementBytes(gradient.spec.elementType);
    for (int operand : block.tasks[task].operands)
      gradient.maker = std::max(gradient.maker, operand);
    step.reduction[task] = true;
    step.gradients.push_back(gradient);
  }
  for (size_t i = 0; i < block.tasks.size(); ++i) {
    if (block.tasks[i].kind == Task::Barrier)
      return Error{"nothing moves across " + block.tasks[i].name + ", and the update would have to", ""};
    for (int operand : block.tasks[i].operands)
      step.update[i] |= char(step.update[operand] || step.reduction[operand]);
  }
  std::sort(step.gradients.begin(), step.gradients.end(), [](const Gradient &a, const Gradient &b) {
    return a.maker != b.maker ? a.maker < b.maker : a.collective < b.collective;
  });
  step.turn = std::max(0, step.gradients.front().maker);
  placeParameters(program, step);
  return step;
}
