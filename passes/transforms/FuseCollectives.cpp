#include "braid/passes/Passes.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDFUSECOLLECTIVES
#include "braid/passes/Passes.h.inc"
namespace {
struct FuseCollectives : impl::BraidFuseCollectivesBase<FuseCollectives> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
} // namespace mlir::braid
