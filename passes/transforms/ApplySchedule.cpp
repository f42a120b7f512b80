//===- ApplySchedule.cpp - a schedule written back into the module ----------------------------------------------===//
//
// The order of events becomes the order of operations: each event moves its operations to the end of the block, in
// front of the terminator, so when all have been moved they stand in the order of events. Operations without a task
// (constants) keep their place relative to what followed them: those in front of an operation in the program are moved
// before it, which is always possible, as they depend on nothing but each other.
//
// The schedule respects dependences task by task (tasks are acyclic by construction, FusedKernels.h), and operations of
// one task keep their order, so each operand is defined before its use.
//===------------------------------------------------------------------------------------------------------------===//
#include "transforms/ApplySchedule.h"

#include "analysis/ModuleFacts.h"
#include "mlir/IR/Builders.h"
#include "transforms/MergeCollectives.h"

namespace mlir::braid {

namespace {

class BlockRewriter {
public:
  BlockRewriter(ProgramModel &model, int index, const cost::BlockSchedule &schedule, BucketHook hook)
      : model(model), index(index), schedule(schedule), hook(hook), block(*model.blocks[index].block),
        builder(block.getParentOp()->getContext()), waits(schedule.buckets.size()) {
    llvm::DenseSet<Operation *> scheduled;
    for (auto &operations : model.blocks[index].operations)
      scheduled.insert(operations.begin(), operations.end());
    int position = 0;
    for (Operation &op : bodyOf(block)) {
      positions[&op] = position++;
      if (!scheduled.contains(&op))
        free.push_back(&op);
    }
  }

  void run() {
    for (size_t at = 0; at < schedule.order.size(); ++at) {
      const cost::Event &event = schedule.order[at];
      if (event.kind == cost::Event::Run) {
        for (Operation *op : model.blocks[index].operations[event.index])
          moveToEnd(op);
      } else if (event.kind == cost::Event::Start) {
        bool apart = !(at + 1 < schedule.order.size() && schedule.order[at + 1].kind == cost::Event::Wait &&
                       schedule.order[at + 1].index == event.index);
        start(event.index, apart);
      } else if (waits[event.index]) {
        waits[event.index]->moveBefore(terminator());
      }
    }
    flushFree(int(positions.size()));
  }

private:
  Operation *terminator() { return block.getTerminator(); }

  void flushFree(int before) {
    for (; nextFree < free.size() && positions.lookup(free[nextFree]) < before; ++nextFree)
      free[nextFree]->moveBefore(terminator());
  }
  void moveToEnd(Operation *op) {
    flushFree(positions.lookup(op));
    op->moveBefore(terminator());
  }

  void start(int bucket, bool apart) {
    SmallVector<CollectiveOpInterface> members;
    for (int task : schedule.buckets[bucket].tasks) {
      members.push_back(model.collective(index, task));
      flushFree(positions.lookup(members.back()));
    }
    builder.setInsertionPoint(terminator());
    CollectiveOpInterface op = mergeCollectives(builder, members);
    hook(index, bucket, op);
    if (!apart)
      return;
    SmallVector<Value> results(op->getResults());
    StartOp started = StartOp::wrap(builder, op);
    builder.setInsertionPoint(terminator());
    auto wait = WaitOp::create(builder, op->getLoc(), op->getResultTypes(), started.getToken(), started.getOperands());
    Operation *yield = started.getYield();
    for (auto [inner, outer] : llvm::zip(results, wait->getResults()))
      inner.replaceAllUsesExcept(outer, yield);
    waits[bucket] = wait;
  }

  ProgramModel &model;
  int index;
  const cost::BlockSchedule &schedule;
  BucketHook hook;
  Block &block;
  OpBuilder builder;
  std::vector<Operation *> waits;
  llvm::DenseMap<Operation *, int> positions;
  std::vector<Operation *> free;
  size_t nextFree = 0;
};

} // namespace

void applySchedule(ProgramModel &model, const cost::Schedule &schedule, BucketHook hook) {
  for (size_t index = 0; index < model.blocks.size(); ++index)
    if (model.blocks[index].block)
      BlockRewriter(model, int(index), schedule.blocks[index], hook).run();
}

} // namespace mlir::braid
