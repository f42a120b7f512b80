//===- ImportAsync.cpp - asynchronous pairs become start and wait ----------===//
//
//   %f = "stablehlo.async_start"(%a) ({            %t = braid.start(%z = %a) : tensor<4xf32> {
//   ^bb0(%z: tensor<4xf32>):                         %r = braid.all_reduce sum %z ...
//     %r = "stablehlo.all_reduce"(%z) ...    ==>     braid.yield %r : tensor<4xf32>
//     "stablehlo.return"(%r)                       }
//   }) : (...) -> !stablehlo.future<...>           ...
//   ...                                            %r = braid.wait %t, %a : ...
//   %r = "stablehlo.async_done"(%f)
//
// The block moves as it is, so locations and attributes survive.
//
//===----------------------------------------------------------------------===//

#include "CollectiveImporter.h"
#include "SourceFacts.h"

#include "braid/passes/StablehloOp.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::braid;

/// Why `start` cannot become a braid.start, or nothing. Its rules (the constraints of braid.start) are narrower than
/// StableHLO's: one collective over the block's arguments in order, awaited once.
static std::optional<std::string> whyNotPair(Operation *start) {
  if (start->getNumOperands() == 0 || start->getNumResults() != 1 || start->getNumRegions() != 1)
    return "it does not have operands, one future and one region";
  if (!getSourceAttrs(start).empty() && encodingOf(start) != SourceEncoding::Attributes)
    return "it has properties that are not known";
  Region &region = start->getRegion(0);
  if (!region.hasOneBlock())
    return "its region does not have one block";
  Block &block = region.front();
  if (block.getOperations().size() != 2 || block.back().getName().getStringRef() != "stablehlo.return")
    return "its region holds other than one operation and a return";
  Operation &inner = block.front();
  if (!CollectiveImporter::isCollective(&inner))
    return ("'" + inner.getName().getStringRef() + "' inside is no collective that is known").str();
  if (block.getArgumentTypes() != start->getOperandTypes() || inner.getOperands() != ValueRange(block.getArguments()))
    return "the collective inside does not take the block's arguments in order";
  if (block.back().getOperands() != ValueRange(inner.getResults()))
    return "the region does not return the collective's results in order";

  Value future = start->getResult(0);
  if (!future.hasOneUse())
    return "its future is not used exactly once";
  Operation *done = *future.user_begin();
  if (done->getName().getStringRef() != "stablehlo.async_done" || done->getNumOperands() != 1)
    return "its future goes elsewhere than into an async_done";
  if (done->getBlock() != start->getBlock())
    return "its async_done is in another block";
  if (done->getResultTypes() != inner.getResultTypes())
    return "its async_done has other result types than the collective";
  if (!getSourceAttrs(done).empty() && encodingOf(done) != SourceEncoding::Attributes)
    return "its async_done has properties that are not known";
  return std::nullopt;
}

ImportResult CollectiveImporter::importAsync(Operation *start) {
  if (auto why = whyNotPair(start))
    return leave(start, *why);
  Operation *inner = &start->getRegion(0).front().front();
  Reading reading;
  ImportResult result = look(inner, reading);
  if (result == ImportResult::Left)
    return leave(start, "the collective inside does");
  if (result == ImportResult::Invalid)
    return result;
  Operation *done = *start->getResult(0).user_begin();
  reading.source.set(source_facts::kAsync, UnitAttr::get(start->getContext()));
  build(inner, reading);

  Operation *end = &start->getRegion(0).front().back();
  OpBuilder builder(end);
  OperationState yield(end->getLoc(), YieldOp::getOperationName());
  yield.addOperands(end->getOperands());
  yield.addAttributes(SmallVector<NamedAttribute>(end->getDiscardableAttrs()));
  builder.create(yield);
  end->erase();

  builder.setInsertionPoint(start);
  OperationState state(start->getLoc(), StartOp::getOperationName());
  state.addOperands(start->getOperands());
  state.addTypes(TokenType::get(start->getContext()));
  state.addAttributes(SmallVector<NamedAttribute>(start->getDiscardableAttrs()));
  state.addRegion()->takeBody(start->getRegion(0));
  Operation *created = builder.create(state);

  builder.setInsertionPoint(done);
  OperationState wait(done->getLoc(), WaitOp::getOperationName());
  wait.addOperands(created->getResult(0));
  wait.addOperands(start->getOperands());
  wait.addTypes(done->getResultTypes());
  wait.addAttributes(SmallVector<NamedAttribute>(done->getDiscardableAttrs()));
  done->replaceAllUsesWith(builder.create(wait));
  done->erase();
  start->erase();
  return succeeded(verify(created)) ? ImportResult::Imported : ImportResult::Invalid;
}
