//===- PlannedLaunches.cpp - the launches of a planned module, as they stand in its text ------------------------===//
#include "braid/passes/PlannedLaunches.h"
#include "analysis/CollectiveKeys.h"
#include "analysis/ModuleFacts.h"
#include "analysis/UnplannedProgram.h"
#include "braid/passes/LocationText.h"
#include "mlir/IR/Matchers.h"

namespace mlir::braid {

namespace {

class TextReader {
public:
  explicit TextReader(ModuleOp module) : module(module), program(module), sets(readModuleRanks(module)) {}

  FailureOr<PlannedText> read() {
    PlannedText text;
    text.program = program.hash();
    LogicalResult result = success();
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto start = dyn_cast<StartOp>(op);
      auto collective = start ? dyn_cast<CollectiveOpInterface>(start.getCollective().getOperation())
                              : dyn_cast<CollectiveOpInterface>(op);
      if (!collective || !isPlannable(collective.getCollectiveKind()))
        return WalkResult::advance();
      if (failed(result = launch(op, collective, op->getOperands(), text)))
        return WalkResult::interrupt();
      return start ? WalkResult::skip() : WalkResult::advance();
    });
    if (failed(result))
      return failure();
    return text;
  }

private:
  LogicalResult launch(Operation *op, CollectiveOpInterface collective, ValueRange sent, PlannedText &text) {
    FailureOr<RankSet> set = sets.of(collective);
    if (failed(set))
      return failure();
    PlannedLaunch launch;
    PlanAttr plan = collective.getPlanAttr();
    std::optional<cost::Engine> engine;
    if (plan) {
      engine = plan.getEngine() == EngineKind::Nccl ? cost::Engine::Nccl : cost::Engine::Braid;
      launch.algorithm = (plan.getAlgorithm() + (plan.getProtocol().empty() ? "" : "/" + plan.getProtocol())).str();
    }
    launch.spec = specOf(collective, *set, engine);
    for (Value value : sent)
      launch.tensors.push_back(originOf(value));
    for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
      if (computes(before) && before->getNumResults() && !matchPattern(before, m_Constant())) {
        launch.start = program.key(before);
        launch.behind = before->getName().getStringRef().str() + " at " + locationText(before->getLoc());
        break;
      }
    if (auto start = dyn_cast<StartOp>(op))
      for (Operation *after = op->getNextNode(); after && !waitsFor(after, start); after = after->getNextNode())
        launch.beside += computes(after);
    text.launches.push_back(std::move(launch));
    return success();
  }

  static bool computes(Operation *op) { return !isa<CollectiveOpInterface, StartOp, WaitOp>(op); }
  static bool waitsFor(Operation *op, StartOp start) {
    auto wait = dyn_cast<WaitOp>(op);
    return wait && wait.getToken() == start.getToken();
  }

  /// Who made the value, through the collectives that it passed.
  std::string originOf(Value value) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return "argument " + std::to_string(cast<BlockArgument>(value).getArgNumber());
    Operation *op = result.getOwner();
    unsigned number = result.getResultNumber();
    if (auto wait = dyn_cast<WaitOp>(op))
      if (auto start = wait.getToken().getDefiningOp<StartOp>())
        return "after " + originOf(start.getOperands()[std::min<unsigned>(number, start.getOperands().size() - 1)]);
    if (isa<CollectiveOpInterface>(op) && op->getNumOperands())
      return "after " + originOf(op->getOperand(std::min(number, op->getNumOperands() - 1)));
    if (program.copyOf(op))
      return program.key(op) + "#" + std::to_string(number);
    return "unknown";
  }

  ModuleOp module;
  UnplannedProgram program;
  RankSets sets;
};

} // namespace

FailureOr<PlannedText> readPlannedLaunches(ModuleOp module) { return TextReader(module).read(); }

} // namespace mlir::braid
