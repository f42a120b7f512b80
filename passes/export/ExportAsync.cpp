//===- ExportAsync.cpp - start and wait become asynchronous pairs ----------===//
//
// Each part of a collective in flight is one pair over one operand, with a block argument: the only form that JAX
// takes. All of them start where the braid.start is; packing stands before it, unpacking where the results are awaited.
//
//===----------------------------------------------------------------------===//

#include "CollectiveExporter.h"

#include "analysis/Remarks.h"

#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace mlir::braid;

/// stablehlo.async_start over `operand`s, with an empty block of as many arguments.
static Operation *createAsyncStart(OpBuilder &builder, Location loc, ValueRange operands, TypeRange results,
                                   ArrayRef<Location> argumentLocs) {
  std::string types;
  llvm::raw_string_ostream os(types);
  llvm::interleaveComma(results, os);
  auto future = parseType("!stablehlo.future<" + types + ">", builder.getContext());
  SmallVector<std::unique_ptr<Region>> regions;
  regions.push_back(std::make_unique<Region>());
  auto *block = new Block();
  regions.front()->push_back(block);
  block->addArguments(operands.getTypes(), argumentLocs);
  return createSourceOp(builder, loc, "stablehlo.async_start", operands, future, {}, SourceEncoding::Properties, {},
                        regions);
}

LogicalResult CollectiveExporter::exportStart(StartOp start) {
  CollectiveOpInterface collective = start.getCollective();
  if (!collective)
    return start.emitOpError("expected one collective inside");
  auto parts = partsOf(collective);
  if (failed(parts))
    return failure();
  SmallVector<WaitOp> waits;
  for (Operation *user : start.getToken().getUsers()) {
    auto wait = dyn_cast<WaitOp>(user);
    if (!wait)
      return start.emitOpError("expected its token to go into braid.wait only, got another user")
                 .attachNote(user->getLoc())
             << "used here";
    waits.push_back(wait);
  }

  OpBuilder builder(start);
  YieldOp yield = start.getYield();
  if (!options.async) {
    remarkMissed(start.getLoc(), "braid-export", "async",
                 "not overlapped any more: async=false makes one synchronous collective of its start and its wait");
    SmallVector<Value> results;
    emitParts(builder, collective, start.getOperands(), *parts, results);
    for (WaitOp wait : waits) {
      wait->replaceAllUsesWith(results);
      wait.erase();
    }
    start.erase();
    return success();
  }

  // Every part is one pair. All are started where the start is, and unpacked where the wait is.
  SmallVector<Value> futures;
  SmallVector<SmallVector<Type>> futureTypes;
  auto keptAttrs = [&](Operation *op) {
    return llvm::filter_to_vector(op->getDiscardableAttrs(), [&](NamedAttribute attr) {
      return keeps(collective, attr, parts->size() == 1 && !parts->front().packing);
    });
  };
  for (const Part &part : *parts) {
    SmallVector<Value> sent = pick(start.getOperands(), part.members);
    SmallVector<Type> received = pickTypes(collective.getCommResults(), part.members);
    SmallVector<Location> locs;
    for (unsigned index : part.members)
      locs.push_back(start.getBody().getArgument(index).getLoc());
    if (part.packing) {
      sent = {part.packing->pack(builder, sent)};
      received = {part.packing->resultType()};
      locs = {collective->getLoc()};
    }
    Operation *asyncStart = createAsyncStart(builder, start.getLoc(), sent, received, locs);
    asyncStart->setDiscardableAttrs(keptAttrs(start));
    Block *block = &asyncStart->getRegion(0).front();
    OpBuilder inside = OpBuilder::atBlockBegin(block);
    Call call{part.packing ? CollectiveDims() : dimsOf(collective, part.members.front()),
              !part.packing && parts->size() == 1};
    Operation *written = write(inside, collective, block->getArguments(), received, call);
    createSourceOp(inside, yield.getLoc(), "stablehlo.return", written->getResults(), {}, {},
                   SourceEncoding::Properties, keptAttrs(yield));
    futures.push_back(asyncStart->getResult(0));
    futureTypes.push_back(received);
  }
  for (WaitOp wait : waits) {
    builder.setInsertionPoint(wait);
    SmallVector<Value> results(wait->getNumResults());
    for (auto [part, future, types] : llvm::zip(*parts, futures, futureTypes)) {
      Operation *done = createSourceOp(builder, wait.getLoc(), "stablehlo.async_done", future, types, {},
                                       SourceEncoding::Properties, keptAttrs(wait));
      SmallVector<Value> outcome = finish(builder, collective, done->getResults());
      if (part.packing)
        outcome = part.packing->unpack(builder, outcome.front());
      for (auto [index, value] : llvm::zip(part.members, outcome))
        results[index] = value;
    }
    wait->replaceAllUsesWith(results);
    wait.erase();
  }
  start.erase();
  return success();
}
