//===- ComputeCost.cpp - the roofline ---------------------------------------------------------------------------===//
#include "analysis/ComputeCost.h"

#include "analysis/LoopTrips.h"
#include "braid/dialect/BraidOps.h"
#include "braid/passes/StablehloOp.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::braid {

/// Arithmetic beside the matrix units, and f32 products that must keep their precision, run at the rate listed for f32.
double ComputeCost::peakRate(const OpWork &work) const {
  if (work.peak.empty())
    return 0;
  auto f32 = device->peak.find("f32");
  if (f32 != device->peak.end() && (!work.matmul || (work.highest && work.peak == "f32")))
    return f32->second.value * (work.matmul ? device->matmulEfficiency : 1);
  return device->dotPeak(work.peak).value * (work.matmul ? device->matmulEfficiency : 1);
}

cost::Seconds ComputeCost::roofline(const OpWork &work) const {
  double memory = work.bytes / (device->memoryBandwidth.value * device->memoryEfficiency);
  double rate = peakRate(work);
  double arithmetic = rate > 0 ? work.flops / rate : 0;
  return cost::Seconds{std::max(memory, arithmetic)} + device->launch;
}

/// One operation of arithmetic per element of the result, or of the operand of a reduction.
double ComputeCost::flops(Operation *op) {
  if (isView(op))
    return 0;
  if (FunctionOpInterface function = facts.calleeOf(op)) {
    double sum = 0;
    for (Operation &inner : bodyOf(function.getFunctionBody().front()))
      sum += facts.classify(&inner) == OpClass::Free ? 0 : flops(&inner);
    return sum;
  }
  int64_t elements = op->getNumResults() ? elementsOf(op->getResult(0)) : 0;
  if (op->getNumOperands())
    elements = std::max(elements, elementsOf(op->getOperand(0)));
  return double(elements);
}

static void count(ComputeCost::Share &share, cost::Seconds time) {
  if (time.value == 0)
    return;
  ++share.kernels;
  share.time += time;
}

cost::Seconds ComputeCost::fused(const Unit &unit) {
  llvm::SmallPtrSet<Operation *, 8> inside(unit.ops.begin(), unit.ops.end());
  OpWork work;
  bool viewOnly = true;
  llvm::MapVector<Value, int64_t> read;
  llvm::SetVector<Value> written;
  for (Operation *op : unit.ops) {
    viewOnly &= isRecomputed(op, facts) || (op->isRegistered() && factsOf(op).cheap);
    work.flops += flops(op);
    for (OpOperand &use : op->getOpOperands()) {
      Operation *source = use.get().getDefiningOp();
      bool outer = !source || (!inside.contains(source) && facts.classify(source) != OpClass::Free);
      if (outer)
        read[loadedValue(use.get(), facts)] += bytesRead(use, facts);
    }
    for (Value result : op->getResults()) {
      bool leaves = llvm::any_of(result.getUsers(), [&](Operation *user) {
        Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
        return !here || !inside.contains(here);
      });
      if (leaves)
        written.insert(loadedValue(result, facts));
    }
  }
  if (viewOnly)
    return {};
  for (auto &[value, bytes] : read)
    work.bytes += double(std::min(bytes, bytesOf(value)));
  for (Value value : written)
    if (Operation *source = value.getDefiningOp(); source && inside.contains(source))
      work.bytes += double(bytesWritten(value, facts));
  work.peak = "f32";
  return roofline(work);
}

cost::Seconds ComputeCost::block(Block &block) {
  cost::Seconds sum;
  for (const Unit &unit : groupOperations(block, facts).units)
    sum += kernel(unit);
  return sum;
}

cost::Seconds ComputeCost::callee(FunctionOpInterface function) {
  auto [it, inserted] = functionTimes.try_emplace(function, cost::Seconds{});
  if (!inserted || function.isExternal())
    return it->second;
  cost::Seconds sum;
  for (Block &body : function.getFunctionBody())
    sum += block(body);
  return functionTimes[function] = sum;
}

cost::Seconds ComputeCost::single(Operation *op) {
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    count(others, {compute.getSeconds()});
    return {compute.getSeconds()};
  }
  OpFacts known = factsOf(op);
  if (known.orders || known.cheap)
    return {};
  if (FunctionOpInterface function = facts.calleeOf(op))
    return callee(function);
  if (isLoop(op)) {
    auto trips = loopTrips(op);
    if (!trips)
      unknownLoops.push_back(op);
    cost::Seconds once;
    for (Region &region : op->getRegions())
      for (Block &body : region)
        once += block(body);
    return once * double(trips.value_or(1));
  }
  if (known.controlFlow) { // a branch: the most expensive side
    cost::Seconds most;
    for (Region &region : op->getRegions()) {
      cost::Seconds side;
      for (Block &body : region)
        side += block(body);
      most = std::max(most, side);
    }
    return most;
  }
  StringRef name = op->getName().getStringRef();
  if (name == "sdy.manual_computation" || name == "sdy.named_computation") {
    cost::Seconds sum;
    for (Block &body : op->getRegion(0))
      sum += block(body);
    return sum;
  }
  std::optional<OpWork> work = workOf(op);
  if (!work) {
    auto &entry = unknown[name];
    if (entry.second++ == 0)
      entry.first = op;
    return {};
  }
  cost::Seconds time = roofline(*work);
  count(work->matmul ? matmuls : others, time);
  return time;
}

cost::Seconds ComputeCost::kernel(const Unit &unit) {
  if (!device)
    return {};
  switch (unit.kind) {
  case OpClass::Fusible: {
    cost::Seconds time = fused(unit);
    count(fusions, time);
    return time;
  }
  case OpClass::Kernel:
    return single(unit.ops.front());
  case OpClass::Barrier: {
    // Communication that is left as it is has no price here; the model says so itself.
    Operation *op = unit.ops.front();
    return facts.communicates(op) ? cost::Seconds{} : single(op);
  }
  default:
    return {};
  }
}

} // namespace mlir::braid
