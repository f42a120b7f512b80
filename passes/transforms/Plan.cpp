#include "braid/passes/Passes.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDPLAN
#include "braid/passes/Passes.h.inc"
namespace {
struct Plan : impl::BraidPlanBase<Plan> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
} // namespace mlir::braid
