#include "braid/passes/Passes.h"

namespace mlir::braid {
#define GEN_PASS_DEF_BRAIDSELECTALGORITHMS
#include "braid/passes/Passes.h.inc"
namespace {
struct SelectAlgorithms : impl::BraidSelectAlgorithmsBase<SelectAlgorithms> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
} // namespace mlir::braid
