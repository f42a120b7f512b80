//===- ExportAsync.cpp - start and wait become asynchronous pairs ----------===//
//
// Each part of a collective in flight is one pair over one operand, with a block argument: the only form that JAX
// takes. All of them start where the braid.start is; packing stands before it, unpacking where the results are awaited.
//
// A composition is two pairs. Its halves take equally long, so the second starts halfway:
//
//   start(reduce_scatter)  half of the operations  done, start(all_gather)  the other half  done
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

/// Where the second half of a composition starts: half of the operations that cost something are before it. Right behind the start
/// where its waits are not one in its block.
static Operation *halfway(StartOp start, ArrayRef<WaitOp> waits) {
  Operation *wait = waits.size() == 1 ? WaitOp(waits.front()).getOperation() : nullptr;
  if (!wait || wait->getBlock() != start->getBlock())
    return start->getNextNode();
  SmallVector<Operation *> between;
  for (Operation *op = start->getNextNode(); op != wait; op = op->getNextNode())
    if (!factsOf(op).cheap)
      between.push_back(op);
  size_t half = (between.size() + 1) / 2;
  return half < between.size() ? between[half] : wait;
}

Value CollectiveExporter::writeAsyncStart(OpBuilder &builder, StartOp start, ValueRange operands,
                                          ArrayRef<Location> locs, TypeRange results, const Call &call,
                                          ArrayRef<NamedAttribute> yieldAttrs) {
  Operation *asyncStart = createAsyncStart(builder, start.getLoc(), operands, results, locs);
  OpBuilder inside = OpBuilder::atBlockBegin(&asyncStart->getRegion(0).front());
  Operation *written = write(inside, start.getCollective(), asyncStart->getRegion(0).getArguments(), results, call);
  createSourceOp(inside, start.getYield().getLoc(), "stablehlo.return", written->getResults(), {}, {},
                 SourceEncoding::Properties, yieldAttrs);
  return asyncStart->getResult(0);
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
    Call call{collective.getCollectiveKind(),
              part.packing ? CollectiveDims() : dimsOf(collective, part.members.front()),
              !part.packing && parts->size() == 1};
    auto begin = [&](OpBuilder &at, ValueRange operands, TypeRange results) {
      Value future = writeAsyncStart(at, start, operands, locs, results, call, keptAttrs(start.getYield()));
      future.getDefiningOp()->setDiscardableAttrs(keptAttrs(start));
      return future;
    };
    if (part.share) {
      call.kind = CollectiveKind::ReduceScatter;
      Value first = begin(builder, sent, part.share);
      OpBuilder later(halfway(start, waits));
      Operation *done = createSourceOp(later, start.getLoc(), "stablehlo.async_done", first, part.share, {},
                                       SourceEncoding::Properties);
      call.kind = CollectiveKind::AllGather;
      futures.push_back(begin(later, done->getResults(), received));
    } else {
      futures.push_back(begin(builder, sent, received));
    }
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
