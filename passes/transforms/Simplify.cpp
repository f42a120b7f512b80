#include "braid/passes/Passes.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDSIMPLIFY
#include "braid/passes/Passes.h.inc"
namespace {
struct Simplify : impl::BraidSimplifyBase<Simplify> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
} // namespace mlir::braid
