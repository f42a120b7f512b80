//===- PlanRemarks.cpp - a reason for every decision ------------------------------------------------------------===//
#include "transforms/PlanRemarks.h"

#include "analysis/ModuleFacts.h"
#include "analysis/Remarks.h"
#include <optional>

namespace mlir::braid {

static MLIRContext *contextOf(const ProgramModel &model) {
  for (const BlockModel &block : model.blocks)
    if (block.block)
      return block.block->getParentOp()->getContext();
  return nullptr;
}

static bool wanted(const ProgramModel &model) {
  MLIRContext *context = contextOf(model);
  return context && remarksWanted(context);
}

namespace {

/// Whether a launch must come before another, through any chain of tasks and through the other members of buckets. The schedule
/// is an order of all of them, so the chain lies between the two, and is looked for there only.
class Chains {
public:
  Chains(const cost::Block &block, const cost::BlockSchedule &schedule)
      : block(block), schedule(schedule), begins(block.tasks.size()), bucketOf(block.tasks.size(), -1),
        seen(block.tasks.size()) {
    for (auto [number, bucket] : llvm::enumerate(schedule.buckets))
      for (int task : bucket.tasks)
        bucketOf[task] = int(number);
    for (auto [at, event] : llvm::enumerate(schedule.order)) {
      if (event.kind == cost::Event::Run)
        begins[event.index] = int(at);
      if (event.kind == cost::Event::Start)
        for (int task : schedule.buckets[event.index].tasks)
          begins[task] = int(at);
    }
  }
  /// Nothing once too many tasks were looked at, for launches that are far apart in a large program.
  std::optional<bool> join(int one, int other) {
    int first = begins[schedule.buckets[one].tasks.front()], last = begins[schedule.buckets[other].tasks.front()];
    if (first > last) {
      std::swap(one, other);
      std::swap(first, last);
    }
    ++searches;
    std::vector<int> work = schedule.buckets[other].tasks;
    while (!work.empty()) {
      int task = work.back();
      work.pop_back();
      for (int operand : block.tasks[task].operands) {
        if (--left < 0)
          return std::nullopt;
        if (begins[operand] < first || seen[operand] == searches)
          continue;
        if (bucketOf[operand] == one)
          return true;
        ArrayRef<int> together =
            bucketOf[operand] < 0 ? ArrayRef(operand) : ArrayRef(schedule.buckets[bucketOf[operand]].tasks);
        for (int member : together)
          seen[member] = searches;
        llvm::append_range(work, together);
      }
    }
    return false;
  }

private:
  const cost::Block &block;
  const cost::BlockSchedule &schedule;
  std::vector<int> begins, bucketOf, seen;
  int searches = 0;
  int64_t left = int64_t(1) << 24; ///< operands that may be looked at
};

} // namespace

void remarkBuckets(const ProgramModel &model, const cost::Schedule &schedule, StringRef category, WhyApart why) {
  if (!wanted(model))
    return;
  for (auto [index, block] : llvm::enumerate(model.program.blocks)) {
    const cost::BlockSchedule &chosen = schedule.blocks[index];
    Chains chains(block, chosen);
    llvm::DenseMap<int, std::vector<int>> byKey; // buckets
    for (auto [bucket, members] : llvm::enumerate(chosen.buckets))
      if (int key = block.tasks[members.tasks.front()].key; key >= 0)
        byKey[key].push_back(int(bucket));
    for (auto [number, bucket] : llvm::enumerate(chosen.buckets)) {
      CollectiveOpInterface op = model.collective(int(index), bucket.tasks.front());
      std::string kind = stringifyCollectiveKind(op.getCollectiveKind()).str();
      cost::CollectiveSpec spec = cost::mergedSpec(block, bucket);
      if (bucket.tasks.size() > 1)
        remarkPassed(op->getLoc(), category, "bucket",
                     "merged " + Twine(bucket.tasks.size()) + " " + kind + " of " + cost::toString(spec.bytes) +
                         " into one launch, the last from " +
                         locationText(model.collective(int(index), bucket.tasks.back())->getLoc()));
      // Why it is apart from the next bucket of its key.
      int key = block.tasks[bucket.tasks.front()].key;
      if (key < 0) {
        remarkMissed(op->getLoc(), category, "bucket",
                     op.getPlanAttr() ? Twine("not merged: it has a plan of its own")
                                      : "not merged: " + kind + " of this form is never one launch with another");
        continue;
      }
      const std::vector<int> &same = byKey[key];
      auto next = std::upper_bound(same.begin(), same.end(), int(number));
      if (same.size() == 1) {
        if (bucket.tasks.size() == 1)
          remarkMissed(op->getLoc(), category, "bucket",
                       "not merged: no other " + kind + " of its type, groups and key in this block");
        continue;
      }
      if (next == same.end())
        continue;
      const cost::Bucket &other = chosen.buckets[*next];
      remarkMissed(op->getLoc(), category, "bucket", [&] {
        std::optional<bool> dependent = chains.join(int(number), *next);
        std::string apart = "not merged with the " + kind + " at " +
                            locationText(model.collective(int(index), other.tasks.front())->getLoc());
        if (dependent && *dependent)
          return apart + ": one depends on the other";
        if (!dependent)
          return apart + ": whether one depends on the other was not looked for in a program of this size";
        return apart + ": " + why(int(index), int(number), *next);
      });
    }
  }
}

void remarkOverlap(const ProgramModel &model, const cost::Schedule &schedule, StringRef category) {
  if (!wanted(model))
    return;
  for (auto [index, block] : llvm::enumerate(model.program.blocks)) {
    const cost::BlockSchedule &chosen = schedule.blocks[index];
    std::vector<size_t> started(chosen.buckets.size());
    for (auto [at, event] : llvm::enumerate(chosen.order)) {
      if (event.kind == cost::Event::Start)
        started[event.index] = at;
      if (event.kind != cost::Event::Wait)
        continue;
      const cost::Bucket &bucket = chosen.buckets[event.index];
      CollectiveOpInterface op = model.collective(int(index), bucket.tasks.front());
      int tasks = 0;
      cost::Seconds beside;
      for (size_t between = started[event.index] + 1; between < at; ++between)
        if (chosen.order[between].kind == cost::Event::Run) {
          ++tasks;
          beside += block.tasks[chosen.order[between].index].duration;
        }
      if (tasks > 0) {
        remarkPassed(op->getLoc(), category, "overlap",
                     "runs beside " + Twine(tasks) + (tasks == 1 ? " task" : " tasks") +
                         (beside.value > 0 ? " of " + cost::toString(beside) : ""));
        continue;
      }
      std::string reader = "the end of the block";
      for (size_t after = at + 1; after < chosen.order.size(); ++after)
        if (chosen.order[after].kind == cost::Event::Run) {
          reader = block.tasks[chosen.order[after].index].name;
          break;
        }
      bool last = started[event.index] + 1 == at;
      remarkMissed(
          op->getLoc(), category, "overlap",
          !block.tasks[bucket.tasks.front()].asynchronous
              ? Twine("not overlapped: it keeps its place")
              : "exposed: " + Twine(last ? "it is awaited at once, before " : "nothing but collectives run before ") +
                    reader);
    }
  }
}

void remarkAlgorithms(const ProgramModel &model, const cost::Schedule &schedule,
                      const std::vector<PlannedCollective> &rows, StringRef category) {
  if (!wanted(model))
    return;
  size_t row = 0;
  std::vector<double> runs = cost::runs(model.program);
  for (auto [index, block] : llvm::enumerate(model.program.blocks)) {
    if (runs[index] < 0) // has no rows
      continue;
    for (const cost::Event &event : schedule.blocks[index].order) {
      if (event.kind != cost::Event::Start)
        continue;
      const cost::Bucket &bucket = schedule.blocks[index].buckets[event.index];
      const PlannedCollective &planned = rows[row++];
      std::string protocol = planned.protocol.empty() ? "" : "/" + planned.protocol;
      remarkAnalysis(
          model.collective(int(index), bucket.tasks.front())->getLoc(), category, "algorithm",
          planned.kind + " of " + cost::toString(cost::Bytes{planned.bytes}) + " over " + Twine(planned.groupSize) +
              " ranks: " + planned.algorithm + protocol + " " + cost::toString(planned.price) +
              (planned.runnerUp.empty() ? Twine("; no other candidate") : "; runner-up " + planned.runnerUp));
    }
  }
}

void remarkPlan(const ModulePlan &plan) {
  ProgramModel model;
  model.program = plan.programOf(plan.result.braid());
  for (const std::vector<Operation *> &operations : plan.cut ? plan.cut->operations : plan.operations) {
    BlockModel &block = model.blocks.emplace_back();
    for (Operation *operation : operations) {
      block.operations.emplace_back();
      if (!operation)
        continue;
      block.operations.back().push_back(operation);
      block.block = operation->getBlock();
    }
  }
  const cost::Schedule &schedule = plan.result.braid().schedule;
  remarkBuckets(model, schedule, "braid-plan",
                ApartInPlan(model.program, plan.result.braid(), *plan.pricer, plan.options));
  remarkOverlap(model, schedule, "braid-plan");
}

} // namespace mlir::braid
