#include "braid/passes/Passes.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDOVERLAPCOLLECTIVES
#include "braid/passes/Passes.h.inc"
namespace {
struct OverlapCollectives : impl::BraidOverlapCollectivesBase<OverlapCollectives> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
} // namespace mlir::braid
