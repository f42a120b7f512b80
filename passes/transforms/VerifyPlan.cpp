#include "braid/passes/Passes.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDVERIFYPLAN
#include "braid/passes/Passes.h.inc"
namespace {
struct VerifyPlan : impl::BraidVerifyPlanBase<VerifyPlan> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
} // namespace mlir::braid
