//===- MarkCompute.cpp - marks between which a run measures computation -----------------------------------------===//
//
// Before each operation that the planner gives a time, in each block that it schedules, stands a call
//
//   braid_module_mark(N)      N: row of the module's attribute braid.marks
//
// and the time until the next mark, launch or finish is that operation's. A row has the operation's key, which no plan and
// no position changes (UnplannedProgram.h), and the name of the kernel that a predicted timeline shows it in.
//===------------------------------------------------------------------------------------------------------------===//
#include "analysis/ComputeCost.h"
#include "analysis/UnplannedProgram.h"
#include "braid/dialect/BraidOps.h"
#include "braid/passes/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::braid {

#define GEN_PASS_DEF_BRAIDMARKCOMPUTE
#include "braid/passes/Passes.h.inc"

namespace {

class Marker {
public:
  explicit Marker(ModuleOp module)
      : module(module), program(module), facts(module), unplannedFacts(program.module()),
        costs(&device, unplannedFacts) {
    // A device on which everything that takes time takes at least a second: what has a time, not how long.
    device.launch = cost::Seconds{1};
    device.memoryBandwidth = cost::BytesPerSecond{1e9};
    device.memoryEfficiency = device.matmulEfficiency = 1;
    device.peak["f32"] = cost::FlopsPerSecond{1e9};
  }

  void run() {
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && (facts.communicates(function) || function.isPublic()))
        for (Block &block : function.getBody())
          mark(block);
    Builder builder(module.getContext());
    module->setAttr("braid.program", builder.getStringAttr(program.hash()));
    module->setAttr("braid.marks", builder.getArrayAttr(rows));
  }

private:
  /// Also what has no known cost: a profile can say it.
  bool takesTime(const Unit &unit) {
    auto unknown = [&] {
      int sum = 0;
      for (auto &[name, use] : costs.uncosted())
        sum += use.second;
      return sum;
    };
    int before = unknown();
    return costs.kernel(unit).value > 0 || unknown() != before;
  }

  void mark(Block &block) {
    std::string number = std::to_string(blocks++);
    BlockUnits units = groupOperations(*program.copyOf(&block), unplannedFacts);
    SmallVector<std::optional<bool>> timed(units.units.size());
    for (Operation &op : llvm::make_early_inc_range(bodyOf(block))) {
      if (isa<CollectiveOpInterface, StartOp, WaitOp>(op))
        continue;
      if (facts.communicates(&op)) {
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            mark(inner);
        continue;
      }
      Operation *copy = program.copyOf(&op);
      auto unit = copy ? units.unitOf.find(copy) : units.unitOf.end();
      if (unit == units.unitOf.end())
        continue;
      std::optional<bool> &counts = timed[unit->second];
      if (!counts)
        counts = takesTime(units.units[unit->second]);
      if (*counts)
        insert(&op, nameOf(units.units[unit->second]), number + "." + std::to_string(unit->second));
    }
  }

  void insert(Operation *op, const std::string &name, const std::string &kernel) {
    Builder attr(module.getContext());
    rows.push_back(attr.getDictionaryAttr(
        {attr.getNamedAttr("key", attr.getStringAttr(program.key(op))),
         attr.getNamedAttr("kernel", attr.getStringAttr(kernel)), attr.getNamedAttr("name", attr.getStringAttr(name)),
         attr.getNamedAttr("operation",
                           attr.getStringAttr(op->getName().getStringRef() + " at " + locationText(op->getLoc())))}));
    OpBuilder builder(op);
    Value number = arith::ConstantOp::create(builder, op->getLoc(), builder.getI64IntegerAttr(rows.size() - 1));
    if (!function) {
      OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
      function = func::FuncOp::create(top, module.getLoc(), "braid_module_mark",
                                      builder.getFunctionType(builder.getI64Type(), {}));
      function.setPrivate();
    }
    func::CallOp::create(builder, op->getLoc(), function, ValueRange(number));
  }

  ModuleOp module;
  UnplannedProgram program;
  ModuleFacts facts, unplannedFacts;
  cost::Device device;
  ComputeCost costs;
  SmallVector<Attribute> rows;
  func::FuncOp function;
  int blocks = 0;
};

struct MarkCompute : public impl::BraidMarkComputeBase<MarkCompute> {
  void runOnOperation() override { Marker(getOperation()).run(); }
};

} // namespace
} // namespace mlir::braid
