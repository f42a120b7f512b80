//===- FuseCollectives.cpp - braid-fuse-collectives: buckets by a rule ------------------------------------------===//
#include "analysis/BlockOrder.h"
#include "analysis/LoopTrips.h"
#include "analysis/ProgramModel.h"
#include "analysis/Remarks.h"
#include "braid/passes/Passes.h"
#include "transforms/ApplySchedule.h"
#include "transforms/PlanRemarks.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDFUSECOLLECTIVES
#include "braid/passes/Passes.h.inc"

namespace {

/// Blocks that run in a loop, be it in a function that is called there. Callers come after what they call.
std::vector<char> blocksInLoops(const ProgramModel &model) {
  std::vector<char> inLoop(model.blocks.size());
  for (size_t index = model.blocks.size(); index-- > 0;)
    for (auto [task, operations] : llvm::zip(model.program.blocks[index].tasks, model.blocks[index].operations))
      if (task.kind == cost::Task::Nested)
        inLoop[task.block] |= inLoop[index] || (!operations.empty() && isLoop(operations.front()));
  return inLoop;
}

struct FuseCollectives : impl::BraidFuseCollectivesBase<FuseCollectives> {
  using Base::Base;

  void runOnOperation() override {
    for (auto [name, value] : {std::pair<StringRef, int64_t>{"max-bytes", maxBytes},
                               {"first-max-bytes", firstMaxBytes},
                               {"max-count", maxCount}})
      if (value < 0) {
        emitError(getOperation().getLoc()) << name << ": expected 0 or more, got " << value;
        return signalPassFailure();
      }
    ModelOptions options;
    options.planned = PlannedPolicy::Moves;
    options.category = getArgumentName();
    FailureOr<ProgramModel> model = buildProgramModel(getOperation(), options);
    if (failed(model))
      return signalPassFailure();
    cost::BucketRule rule;
    rule.cap = {maxBytes == 0 ? std::numeric_limits<int64_t>::max() : int64_t(maxBytes)};
    rule.firstCap = {firstMaxBytes};
    rule.scanPastDependents = scanPastDependents;
    if (maxCount > 0)
      rule.countCap = int(std::min<int64_t>(maxCount, rule.countCap));
    cost::BucketRule apart = rule; // no bucketing
    apart.cap = apart.firstCap = {};
    std::vector<char> inLoop = blocksInLoops(*model);
    cost::Schedule schedule;
    for (auto [index, block] : llvm::enumerate(model->program.blocks)) {
      std::vector<cost::Bucket> buckets = cost::bucketize(block, inLoop[index] && !inLoops ? apart : rule);
      schedule.blocks.push_back(orderAsWritten(block, std::move(buckets)));
    }
    remarkBuckets(*model, schedule, getArgumentName(), [&](int block, int one, int other) {
      const std::vector<cost::Bucket> &buckets = schedule.blocks[block].buckets;
      return apartByRule(model->program.blocks[block], inLoop[block] && !inLoops ? apart : rule, buckets[one],
                         buckets[other]);
    });
    bool merged = llvm::any_of(schedule.blocks, [](const cost::BlockSchedule &block) {
      return llvm::any_of(block.buckets, [](const cost::Bucket &bucket) { return bucket.tasks.size() > 1; });
    });
    if (merged)
      applySchedule(*model, schedule, [](int, int, CollectiveOpInterface) {});
    else
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace mlir::braid
