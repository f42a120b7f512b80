//===- MeasuredTimes.cpp - times that stay with their operations --------------------------------------------------===//
#include "analysis/MeasuredTimes.h"

#include "analysis/OpWork.h"
#include "mlir/IR/Builders.h"

namespace mlir::braid {

static constexpr StringLiteral attribute = "braid.measured_seconds";

static double weightOf(Operation *op) {
  double bytes = 1;
  for (Value result : op->getResults())
    bytes += double(bytesOf(result));
  return bytes;
}

static void mark(Operation *op, double seconds) {
  op->setDiscardableAttr(attribute, Builder(op).getF64FloatAttr(seconds));
}

static FloatAttr markOf(Operation *op) { return dyn_cast_or_null<FloatAttr>(op->getDiscardableAttr(attribute)); }

void markTimes(const ProgramModel &model, const IRMapping &copies) {
  for (auto [plain, block] : llvm::zip(model.program.blocks, model.blocks))
    for (auto [task, ops] : llvm::zip(plain.tasks, block.operations)) {
      if (task.kind != cost::Task::Compute)
        continue;
      double all = 0;
      for (Operation *op : ops)
        all += weightOf(op);
      for (Operation *op : ops)
        if (Operation *copy = copies.lookupOrNull(op))
          mark(copy, task.duration.value * weightOf(op) / all);
    }
}

void unmarkTime(Operation *op) { op->removeDiscardableAttr(attribute); }
void unmarkTimes(ModuleOp module) { module->walk(unmarkTime); }

cost::Seconds markedTime(ArrayRef<Operation *> ops, cost::Seconds said) {
  double marked = 0, unmarked = 0, all = 0;
  for (Operation *op : ops) {
    double weight = weightOf(op);
    all += weight;
    if (FloatAttr time = markOf(op))
      marked += time.getValueAsDouble();
    else
      unmarked += weight;
  }
  return {marked + (all > 0 ? said.value * unmarked / all : said.value)};
}

} // namespace mlir::braid
