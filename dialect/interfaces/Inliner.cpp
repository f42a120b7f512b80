//===- Inliner.cpp - what the inliner may do with the dialect ---------------------------------------------------===//
//
// Inlining keeps the order in which each rank meets its collectives, so any of our operations may be inlined anywhere.
// The one place that takes no foreign code is the body of braid.start.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "Inliner.h"
#include "braid/dialect/BraidOps.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::braid;

namespace {
struct BraidInliner : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *dest, Region *, bool, IRMapping &) const final {
    return !isa<StartOp>(dest->getParentOp());
  }
};
} // namespace

void mlir::braid::addInlinerInterface(BraidDialect &dialect) { dialect.addInterfaces<BraidInliner>(); }
