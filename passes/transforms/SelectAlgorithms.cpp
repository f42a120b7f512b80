//===- SelectAlgorithms.cpp - braid-select-algorithms: the cheapest candidate for each collective ---------------===//
#include "analysis/CollectiveKeys.h"
#include "analysis/JobCluster.h"
#include "analysis/ModelledPlan.h"
#include "analysis/ModuleFacts.h"
#include "analysis/Remarks.h"
#include "braid/passes/Fingerprint.h"
#include "braid/passes/Passes.h"
#include "transforms/WritePlan.h"
#include <cmath>

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDSELECTALGORITHMS
#include "braid/passes/Passes.h.inc"

namespace {

struct SelectAlgorithms : impl::BraidSelectAlgorithmsBase<SelectAlgorithms> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<cost::Cluster> read = readJobCluster(module, cluster);
    if (failed(read))
      return signalPassFailure();
    FailureOr<cost::Engine> runs = readEngine(module, engine);
    if (failed(runs))
      return signalPassFailure();
    if (!std::isnan(quantile) && failed(checkQuantile(module, quantile)))
      return signalPassFailure();
    SmallVector<CollectiveOpInterface> collectives;
    module->walk([&](CollectiveOpInterface op) {
      if (isPlannable(op.getCollectiveKind()))
        collectives.push_back(op);
    });
    if (collectives.empty())
      return markAllAnalysesPreserved();
    ProgramRanks ranks = readModuleRanks(module);
    FailureOr<cost::Placement> place = readJobPlacement(module, placement, ranks.ranks(), *read);
    if (failed(place))
      return signalPassFailure();
    cost::Pricer pricer(*read, *place, *runs, bucketForm(*runs, target == PlanTarget::Stablehlo));
    RankSets sets(ranks);
    for (CollectiveOpInterface op : collectives)
      if (failed(select(op, sets, pricer)))
        return signalPassFailure();
  }

private:
  LogicalResult select(CollectiveOpInterface op, RankSets &sets, const cost::Pricer &pricer) {
    const std::string &hash = pricer.cluster().hash;
    if (hasFreshPlan(op, hash)) {
      remarkMissed(op->getLoc(), getArgumentName(), "algorithm", "it has a plan for this cluster and keeps it");
      return success();
    }
    if (op.getPlanAttr())
      remarkMissed(op->getLoc(), getArgumentName(), "stale-plan",
                   "its plan was made for other bytes, types, groups or another cluster; it gets a new one");
    FailureOr<RankSet> set = sets.of(op);
    if (failed(set))
      return failure();
    if (!op.getOperandBytes()) {
      op.setPlanAttr({});
      remarkMissed(op->getLoc(), getArgumentName(), "algorithm",
                   "not planned: its size is dynamic and no braid.size_hint says how many bytes it has");
      return success();
    }
    cost::CollectiveSpec spec = specOf(op, *set, pricer.engine());
    const std::vector<cost::Candidate> &candidates = pricer.candidates(spec);
    auto time = [&](size_t index) {
      return std::isnan(quantile) ? pricer.mean(spec, index) : pricer.quantile(spec, index, quantile).first;
    };
    SmallVector<cost::Seconds> times;
    for (size_t index = 0; index < candidates.size(); ++index)
      times.push_back(time(index));
    size_t best = std::min_element(times.begin(), times.end()) - times.begin();
    writePlan(op, pricer.engine(), candidates[best], hash);
    std::string others;
    for (size_t index = 0; index < candidates.size(); ++index)
      if (index != best)
        others += "; " + describe(candidates[index]) + " " + cost::toString(times[index]);
    remarkPassed(op->getLoc(), getArgumentName(), "algorithm",
                 describe(candidates[best]) + " " + cost::toString(times[best]) + others);
    if (std::string why = describePath(candidates[best]); !why.empty())
      remarkPassed(op->getLoc(), getArgumentName(), "path", why);
    return success();
  }
};

} // namespace
} // namespace mlir::braid
