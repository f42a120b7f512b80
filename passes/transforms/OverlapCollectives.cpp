//===- OverlapCollectives.cpp - braid-overlap-collectives: start early, wait late -------------------------------===//
#include "analysis/BlockOrder.h"
#include "analysis/JobCluster.h"
#include "analysis/ModelledPlan.h"
#include "analysis/ProgramModel.h"
#include "analysis/SharedRanks.h"
#include "braid/passes/LocationText.h"
#include "braid/passes/Passes.h"
#include "transforms/ApplySchedule.h"
#include "transforms/PlanRemarks.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDOVERLAPCOLLECTIVES
#include "braid/passes/Passes.h.inc"

namespace {

struct OverlapCollectives : impl::BraidOverlapCollectivesBase<OverlapCollectives> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (inFlight < 1) {
      emitError(placeOf(module), "in-flight: expected 1 or more, got ") << int64_t(inFlight);
      return signalPassFailure();
    }
    FailureOr<cost::Engine> runs = readEngine(module, engine);
    if (failed(runs))
      return signalPassFailure();
    bool priced = !cluster.empty() || module->hasAttr(BraidDialect::getClusterAttrName());
    if (!priced && !placement.empty()) {
      emitError(placeOf(module), "placement: expected a cluster with it, got none");
      return signalPassFailure();
    }
    std::optional<cost::Cluster> read;
    if (priced) {
      FailureOr<cost::Cluster> found = readJobCluster(module, cluster);
      if (failed(found))
        return signalPassFailure();
      read = *found;
    }
    ModelOptions options;
    options.device = read ? &read->device : nullptr;
    options.planned = PlannedPolicy::Moves;
    options.category = getArgumentName();
    if (read)
      options.engine = *runs;
    FailureOr<ProgramModel> model = buildProgramModel(module, options);
    if (failed(model))
      return signalPassFailure();
    if (model->program.blocks.empty())
      return markAllAnalysesPreserved();
    FailureOr<cost::Schedule> schedule = failure();
    if (read)
      schedule = priceSchedule(*model, *read, *runs);
    else
      schedule = plainSchedule(*model);
    if (failed(schedule))
      return signalPassFailure();
    SharedRanks shared;
    for (auto [block, order] : llvm::zip(model->program.blocks, schedule->blocks))
      separateConflicts(block, order, shared);
    remarkOverlap(*model, *schedule, getArgumentName());
    applySchedule(*model, *schedule, [](int, int, CollectiveOpInterface) {});
  }

private:
  cost::Schedule plainSchedule(const ProgramModel &model) {
    cost::Schedule schedule;
    for (const cost::Block &block : model.program.blocks)
      schedule.blocks.push_back(startEarlyWaitLate(block));
    return schedule;
  }

  FailureOr<cost::Schedule> priceSchedule(const ProgramModel &model, const cost::Cluster &read, cost::Engine runs) {
    FailureOr<cost::Placement> place = readJobPlacement(getOperation(), placement, model.ranks.ranks(), read);
    if (failed(place))
      return failure();
    cost::Pricer pricer(read, *place, runs, bucketForm(runs, /*exported=*/true));
    cost::Schedule schedule;
    std::vector<cost::Seconds> times;
    cost::ListOptions options;
    options.inFlight = int(std::min<int64_t>(inFlight, std::numeric_limits<int>::max()));
    options.times = &times;
    cost::BucketRule alone; // no cap: every collective stays its own launch
    for (auto [index, block] : llvm::enumerate(model.program.blocks))
      schedule.blocks.push_back(
          cost::listSchedule(model.program, int(index), cost::bucketize(block, alone), pricer, options));
    return schedule;
  }
};

} // namespace
} // namespace mlir::braid
