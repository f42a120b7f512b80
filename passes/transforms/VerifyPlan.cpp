//===- VerifyPlan.cpp - braid-verify-plan -----------------------------------------------------------------------===//
#include "analysis/VerifyPlan.h"

#include "analysis/JobCluster.h"
#include "braid/passes/Passes.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDVERIFYPLAN
#include "braid/passes/Passes.h.inc"

namespace {

struct VerifyPlan : impl::BraidVerifyPlanBase<VerifyPlan> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::string hash;
    if (!cluster.empty() || module->hasAttr(BraidDialect::getClusterAttrName())) {
      FailureOr<cost::Cluster> read = readJobCluster(module, cluster);
      if (failed(read))
        return signalPassFailure();
      hash = read->hash;
    }
    if (failed(verifyPlan(module, hash, stale, getArgumentName())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace mlir::braid
