//===- Combiner.cpp - the reduction region of a StableHLO collective -------===//

#include "Combiner.h"

#include "../import/ReductionRegion.h"

#include "braid/passes/StablehloOp.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::braid;

static StringRef opNameOf(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Sum:
  case ReductionKind::Average:
    return "stablehlo.add";
  case ReductionKind::Product:
    return "stablehlo.multiply";
  case ReductionKind::Min:
    return "stablehlo.minimum";
  case ReductionKind::Max:
    return "stablehlo.maximum";
  case ReductionKind::And:
    return "stablehlo.and";
  case ReductionKind::Or:
    return "stablehlo.or";
  case ReductionKind::Xor:
    return "stablehlo.xor";
  }
  llvm_unreachable("all reduction kinds are listed");
}

/// A pass may have changed the reduction, and need not know about the region.
static bool stillFits(Region &region, ReductionKind kind, Type accumulate, Type elementType) {
  std::string why;
  std::optional<Reduction> reduction = matchReduction(region, elementType, why);
  return reduction && reduction->kind == kind && reduction->accumulate == accumulate;
}

std::unique_ptr<Region> mlir::braid::combinerFor(OpBuilder &builder, CollectiveOpInterface collective,
                                                 Type elementType) {
  ReductionKind kind = *collective.getReductionKind();
  auto accumulateAttr = collective->getAttrOfType<TypeAttr>("accumulate");
  Type accumulate = accumulateAttr ? accumulateAttr.getValue() : Type();
  auto region = std::make_unique<Region>();
  Region &carried = collective->getRegion(0);
  if (!carried.empty() && stillFits(carried, kind, accumulate, elementType)) {
    IRMapping mapping;
    carried.cloneInto(region.get(), mapping);
    return region;
  }

  OpBuilder::InsertionGuard guard(builder);
  Location loc = collective->getLoc();
  auto scalar = RankedTensorType::get({}, elementType);
  Block *block = builder.createBlock(region.get(), {}, {scalar, scalar}, {loc, loc});
  SmallVector<Value> values(block->getArguments());
  auto convert = [&](Value value, Type type) {
    return createSourceOp(builder, loc, "stablehlo.convert", value, type, {}, SourceEncoding::Properties)->getResult(0);
  };
  auto computedIn = accumulate ? RankedTensorType::get({}, accumulate) : scalar;
  if (accumulate)
    for (Value &value : values)
      value = convert(value, computedIn);
  Value result =
      createSourceOp(builder, loc, opNameOf(kind), values, computedIn, {}, SourceEncoding::Properties)->getResult(0);
  if (accumulate)
    result = convert(result, scalar);
  createSourceOp(builder, loc, "stablehlo.return", result, {}, {}, SourceEncoding::Properties);
  return region;
}
