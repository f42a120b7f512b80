//===- Plan.cpp - braid-plan: buckets, start times and algorithms, decided together -----------------------------===//
#include "analysis/Certificate.h"
#include "analysis/MeasuredTimes.h"
#include "analysis/ModelledPlan.h"
#include "analysis/Remarks.h"
#include "braid/passes/Fingerprint.h"
#include "braid/passes/Passes.h"
#include "import/CollectiveImporter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "transforms/ApplySchedule.h"
#include "transforms/PlanRemarks.h"
#include "transforms/WritePlan.h"
#include <cmath>

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDPLAN
#include "braid/passes/Passes.h.inc"

namespace {

struct Plan : impl::BraidPlanBase<Plan> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(forgetStalePlans(module)))
      return signalPassFailure();
    if (nothingNew(module)) {
      emitRemark(module.getLoc(), "plan: every collective has a plan for this cluster, the module stays as it is");
      return markAllAnalysesPreserved();
    }
    FailureOr<ModelledPlan> plan = modelAndPlan(module, request(), getArgumentName());
    if (failed(plan))
      return signalPassFailure();
    if (!plan->pricer) {
      // Said as a diagnostic, not only to whoever listens for remarks: a user who planned nothing should know.
      int64_t left = 0;
      module->walk([&](Operation *op) { left += CollectiveImporter::isCollective(op); });
      if (left)
        emitRemark(module.getLoc(), "plan: nothing was planned, ")
            << left << (left == 1 ? " collective is" : " collectives are")
            << " still StableHLO: run braid-import first, whose remarks (--remarks-filter=braid-import) say what it "
               "leaves "
               "and why";
      else
        emitRemark(module.getLoc(), "plan: the module has no collectives, nothing was planned");
      return markAllAnalysesPreserved();
    }
    int64_t flying = 0;
    module->walk([&](StartOp) { ++flying; });
    if (flying)
      plan->model.openQuestions.push_back("the times leave out what was in flight before planning: " +
                                          std::to_string(flying) + (flying == 1 ? " start" : " starts"));
    const cost::PolicyResult &chosen = plan->result.braid();
    explain(*plan, chosen);
    if (plan->cut) // a region keeps its operations as it moves
      module.getBodyRegion().takeBody(plan->cut->module->getBodyRegion());
    unmarkTimes(module);
    const cost::Pricer &pricer = *plan->pricer;
    ProgramModel &planned = plan->planned();
    applySchedule(planned, chosen.schedule, [&](int block, int bucket, CollectiveOpInterface op) {
      if (op.getPlanAttr())
        return; // a fresh one from before; a merged collective has none
      const cost::Bucket &members = chosen.schedule.blocks[block].buckets[bucket];
      cost::CollectiveSpec spec = cost::mergedSpec(planned.program.blocks[block], members);
      const cost::Candidate &candidate = pricer.candidates(spec)[members.candidate];
      writePlan(op, pricer.engine(), candidate, plan->cluster.hash);
      if (std::string why = describePath(candidate); !why.empty())
        remarkPassed(op->getLoc(), getArgumentName(), "path", why);
    });
    module->setAttr(BraidDialect::getCertificateAttrName(), makeCertificate(module, *plan));
  }

private:
  PlanRequest request() {
    PlanRequest asked;
    asked.cluster = cluster;
    asked.engine = engine;
    asked.objective = objective == cost::ObjectiveKind::Training ? "training" : "serving";
    if (!std::isnan(quantile)) // else not given
      asked.quantile = quantile;
    asked.placement = placement;
    asked.memoryLimit = memoryLimit;
    asked.budget = budget;
    asked.baselines = false;
    asked.computeProfile = computeProfile;
    asked.split = split;
    asked.loops = loops;
    asked.target = target == PlanTarget::Stablehlo ? "stablehlo" : "braid";
    asked.policy = policy;
    return asked;
  }

  /// A module that was planned, with nothing to plan since: another certificate could only say less, as what is in flight
  /// already is not modelled.
  bool nothingNew(ModuleOp module) {
    if (!module->hasAttr(BraidDialect::getCertificateAttrName()))
      return false;
    bool planned = false;
    WalkResult walked = module->walk([&](CollectiveOpInterface op) { // stale plans are forgotten by now
      planned = true;
      return op.getPlanAttr() ? WalkResult::advance() : WalkResult::interrupt();
    });
    return planned && !walked.wasInterrupted();
  }

  /// A stale plan is never used: what can be planned again will be, what cannot (in flight already) is left without.
  LogicalResult forgetStalePlans(ModuleOp module) {
    FailureOr<cost::Cluster> read = failure();
    WalkResult walked = module->walk([&](CollectiveOpInterface op) {
      if (!op.getPlanAttr())
        return WalkResult::advance();
      if (failed(read) && failed(read = readJobCluster(module, cluster)))
        return WalkResult::interrupt();
      if (!hasFreshPlan(op, read->hash)) {
        remarkMissed(op->getLoc(), getArgumentName(), "stale-plan",
                     "its plan was made for other bytes, types, groups or another cluster: it is dropped");
        op.setPlanAttr({});
      }
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  void explain(const ModelledPlan &plan, const cost::PolicyResult &chosen) {
    if (!remarksWanted(&getContext()))
      return;
    StringRef category = getArgumentName();
    Location loc = getOperation().getLoc();
    const ProgramModel &planned = plan.planned();
    if (plan.cut)
      for (const CutModule::Remark &done : plan.cut->remarks)
        remarkPassed(done.where, category, done.name, done.text);
    if (!plan.splits.empty())
      remarkAnalysis(loc, category, "split", plan.splits);
    if (!plan.loops.empty())
      remarkAnalysis(loc, category, "pipeline", plan.loops);
    remarkBuckets(planned, chosen.schedule, category, ApartInPlan(planned.program, chosen, *plan.pricer, plan.options));
    remarkOverlap(planned, chosen.schedule, category);
    remarkAlgorithms(planned, chosen.schedule, plannedCollectives(planned, chosen.schedule, *plan.pricer), category);
    for (const cost::PolicyResult &policy : plan.result.policies)
      remarkAnalysis(loc, category, "policy",
                     Twine(cost::name(policy.policy)) + (policy.rule.empty() ? "" : " (" + policy.rule + ")") +
                         ": objective " + cost::toString(policy.objective) + ", p50 " +
                         cost::toString(policy.quantiles.p50) + ", p99 " + cost::toString(policy.quantiles.p99) +
                         ", exposed " + cost::toString(policy.exposed) +
                         (plan.cluster.compute.slowed() ? ", slowed " + cost::toString(policy.slowed) : "") + ", " +
                         Twine(policy.collectives) + " collectives, peak " + cost::toString(policy.peak.bytes));
    remarkAnalysis(loc, category, "bound",
                   "no schedule is faster than " + cost::toString(plan.result.bound.time) + ": " +
                       plan.result.bound.witness);
    const cost::QuantileBound &drawn = plan.result.quantileBound;
    remarkAnalysis(loc, category, "quantile-bound",
                   "under the draws that policies are sampled under, no schedule has an objective below " +
                       cost::toString(drawn.objective) + ", or a step's p50, p95 and p99 below " +
                       cost::toString(drawn.p50) + ", " + cost::toString(drawn.p95) + " and " +
                       cost::toString(drawn.p99));
    for (const std::string &sentence : plan.pricer->notModelled())
      remarkAnalysis(loc, category, "not-modelled", sentence);
    for (const std::string &assumption : plan.cluster.assumptions)
      remarkAnalysis(loc, category, "assumption", assumption);
  }
};

} // namespace
} // namespace mlir::braid
