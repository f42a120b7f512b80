//===- ProgramModel.cpp - module to scheduling problem ----------------------------------------------------------===//
//
// 1. From the entry inwards, each communicating region becomes a block; blocks it nests come first.
// 2. A block's operations are grouped into units (FusedKernels.h), each of which becomes one task.
// 3. A task reads the tasks that make its operands and those that hold their memory (through reshapes, loop results,
// updates in
//    place), so that what lives is counted once and as long as it is needed.
// 4. Computation gets its time, from the roofline or the profile; what has none is said.
//===------------------------------------------------------------------------------------------------------------===//
#include "analysis/ProgramModel.h"

#include "analysis/CollectiveKeys.h"
#include "analysis/ComputeCost.h"
#include "analysis/LocatedTasks.h"
#include "analysis/LoopCuts.h"
#include "analysis/LoopTrips.h"
#include "analysis/MeasuredTimes.h"
#include "analysis/Remarks.h"
#include "analysis/SourceShape.h"
#include "analysis/UnplannedProgram.h"
#include "braid/passes/Fingerprint.h"
#include "braid/passes/StablehloOp.h"

namespace mlir::braid {

CollectiveOpInterface ProgramModel::collective(int block, int task) const {
  return cast<CollectiveOpInterface>(blocks[block].operations[task].front());
}

namespace {

class ModelBuilder {
public:
  ModelBuilder(ModuleOp module, const ModelOptions &options)
      : module(module), options(options), facts(module), ranks(readModuleRanks(module)), sets(ranks),
        costs(options.device, facts) {}

  FailureOr<ProgramModel> build();

private:
  FailureOr<int> function(FunctionOpInterface function);
  FailureOr<int> block(Block &block, const Twine &name, bool entry, cost::Seconds prologue);
  LogicalResult collectiveTask(Operation *op, cost::Task &task);
  void carried(Operation *loop, int index);
  void around(Operation *loop, cost::Block &carrying, llvm::function_ref<int(Operation *)> taskOf);
  using NestedTask = std::pair<cost::Task, SmallVector<Operation *, 1>>;
  FailureOr<std::vector<NestedTask>> nestedTasks(Operation *op, cost::Task task);
  LogicalResult addTask(const BlockUnits &units, const Unit &unit, cost::Block &plain, BlockModel &model);
  void memory(Block &block, const BlockUnits &units, const Unit &unit, cost::Task &task);
  void applyProfile();
  void explain();
  Operation *mainOperation() {
    FunctionOpInterface main = facts.main();
    return main ? main.getOperation() : nullptr;
  }
  void push(cost::Block &plain, BlockModel &model, cost::Task task, ArrayRef<Operation *> ops) {
    plain.tasks.push_back(std::move(task));
    model.operations.emplace_back(ops.begin(), ops.end());
  }

  ModuleOp module;
  const ModelOptions &options;
  ModuleFacts facts;
  ProgramRanks ranks;
  RankSets sets;
  CollectiveKeys keys;
  ComputeCost costs;
  ProgramModel result;
  llvm::DenseMap<Operation *, int> functionBlocks;
  llvm::DenseSet<Operation *> open; ///< functions being built: finds recursion
  /// Blocks outside of sdy.manual_computation see whole arrays, of which a rank holds a part: their bytes do not count.
  llvm::DenseSet<Block *> globalView;
  SmallVector<Operation *> barriers;
  llvm::DenseMap<Value, Value> holders; ///< memoryOf, as far as it was asked: chains of updates in place are long
};

std::string taskName(Operation *op) {
  StringRef name = op->getName().stripDialect();
  return (name + " at " + locationText(op->getLoc())).str();
}

LogicalResult ModelBuilder::collectiveTask(Operation *op, cost::Task &task) {
  auto collective = cast<CollectiveOpInterface>(op);
  FailureOr<RankSet> set = sets.of(collective);
  if (failed(set))
    return failure();
  task.kind = cost::Task::Collective;
  task.spec = specOf(collective, *set, options.engine);
  task.key = keys.of(collective, *set);
  ++result.collectives;
  if (!collective.getPlanAttr())
    return success();
  if (!options.clusterHash.empty() && !hasFreshPlan(collective, options.clusterHash)) {
    remarkMissed(op->getLoc(), options.category, "stale-plan",
                 "its plan was made for other bytes, types, groups or another cluster; it is planned again");
    return success();
  }
  task.key = -1;
  if (options.planned == PlannedPolicy::Fixed) {
    task.asynchronous = false;
    --result.collectives;
    remarkMissed(op->getLoc(), options.category, "planned", "it has a plan and keeps it");
  }
  return success();
}

/// A loop, a region, a call or a branch. Of a branch's sides the most expensive one counts; the others become blocks
/// that run zero times, so that their collectives are planned too.
FailureOr<std::vector<ModelBuilder::NestedTask>> ModelBuilder::nestedTasks(Operation *op, cost::Task task) {
  SmallVector<Operation *, 1> self{op};
  task.kind = cost::Task::Nested;
  if (FunctionOpInterface callee = facts.calleeOf(op)) {
    FailureOr<int> body = function(callee);
    if (failed(body))
      return failure();
    task.block = *body;
    return std::vector<NestedTask>{{task, self}};
  }
  auto regionBlock = [&](Region &region, const Twine &suffix, cost::Seconds prologue) {
    return block(region.front(), taskName(op) + suffix, /*entry=*/false, prologue);
  };
  if (isLoop(op)) {
    std::optional<int64_t> trips = loopTrips(op);
    task.trips = double(trips.value_or(1));
    if (!trips) {
      result.openQuestions.push_back("the trip count of " + taskName(op) + " depends on data");
      remarkMissed(op->getLoc(), options.category, "trips",
                   "its trip count depends on data: priced as one trip, and the order of collectives is not certified");
    }
    Region &body = op->getRegion(op->getNumRegions() - 1);
    cost::Seconds condition;
    for (Region &region : op->getRegions().drop_back())
      for (Block &inner : region)
        condition += costs.block(inner);
    FailureOr<int> index = regionBlock(body, "", condition);
    if (failed(index))
      return failure();
    task.block = *index;
    carried(op, *index);
    return std::vector<NestedTask>{{task, self}};
  }
  // Regions that run once (manual_computation), or sides of a branch.
  bool branch = factsOf(op).controlFlow;
  std::vector<std::pair<cost::Seconds, int>> sides;
  for (auto [number, region] : llvm::enumerate(op->getRegions())) {
    if (region.empty())
      continue;
    FailureOr<int> index = regionBlock(region, branch ? " side " + Twine(number) : Twine(""), {});
    if (failed(index))
      return failure();
    cost::Seconds total;
    for (const cost::Task &inner : result.program.blocks[*index].tasks)
      // assumption: about 10 GB/s; only compares sides
      total += inner.duration + cost::microseconds(double(inner.spec.bytes.value) * 1e-4);
    sides.emplace_back(total, *index);
  }
  if (branch) {
    result.openQuestions.push_back("the predicate of " + taskName(op) + " is not proven equal on all ranks");
    remarkMissed(
        op->getLoc(), options.category, "predicate",
        "its predicate is not proven equal on all ranks: collectives stay inside, and their order is not certified");
  }
  auto most = std::max_element(sides.begin(), sides.end(), [](auto &a, auto &b) { return a.first < b.first; });
  std::vector<NestedTask> tasks;
  for (auto it = sides.begin(); it != sides.end(); ++it) {
    bool counts = !branch || it == most;
    task.block = it->second;
    task.trips = counts ? 1 : 0;
    // One task carries the operation; the others only make their block known.
    bool carries = branch ? it == most : it == sides.begin();
    tasks.emplace_back(task, carries ? self : SmallVector<Operation *, 1>{});
    if (!carries)
      tasks.back().first.result = {};
  }
  return tasks;
}

/// What a loop hands on from trip to trip, if a collective of it may run beside another trip.
void ModelBuilder::carried(Operation *op, int index) {
  std::optional<CarryingLoop> loop = CarryingLoop::of(op);
  if (!loop || loop->trips.value_or(0) < 2 || !tripsMayOverlap(*loop, facts))
    return;
  llvm::DenseMap<Operation *, int> tasks;
  for (auto [task, ops] : llvm::enumerate(result.blocks[index].operations))
    for (Operation *inner : ops)
      tasks[inner] = int(task);
  for (auto [number, argument] : llvm::enumerate(loop->carried)) {
    cost::Carried value;
    if (Operation *maker = loop->producer(unsigned(number)))
      value.from = tasks.contains(maker) ? tasks.lookup(maker) : -1;
    else if (auto passed = llvm::find(loop->carried, loop->yields()[number]); passed != loop->carried.end())
      value.passes = int(passed - loop->carried.begin());
    for (Operation *user : argument.getUsers())
      if (auto reader = tasks.find(loop->body->findAncestorOpInBlock(*user)); reader != tasks.end())
        value.readers.push_back(reader->second);
    llvm::sort(value.readers);
    value.readers.erase(llvm::unique(value.readers), value.readers.end());
    result.program.blocks[index].carried.push_back(std::move(value));
  }
}

/// Where the first trip gets what a loop hands on, and who reads what the last one does.
void ModelBuilder::around(Operation *op, cost::Block &carrying, llvm::function_ref<int(Operation *)> taskOf) {
  std::optional<CarryingLoop> loop = CarryingLoop::of(op);
  for (auto [value, init, result] : llvm::zip(carrying.carried, loop->inits, op->getResults())) {
    if (Operation *maker = init.getDefiningOp())
      value.init = taskOf(maker);
    for (Operation *user : result.getUsers())
      if (Operation *here = op->getBlock()->findAncestorOpInBlock(*user))
        if (int reader = taskOf(here); reader >= 0)
          value.users.push_back(reader);
    llvm::sort(value.users);
    value.users.erase(llvm::unique(value.users), value.users.end());
  }
}

/// Bytes that the unit's results hold, and whether they live to the end of the block.
void ModelBuilder::memory(Block &block, const BlockUnits &units, const Unit &unit, cost::Task &task) {
  llvm::SmallPtrSet<Operation *, 8> inside(unit.ops.begin(), unit.ops.end());
  bool counts = !globalView.contains(&block);
  for (Operation *op : unit.ops) {
    for (Value value : op->getResults()) {
      bool leaves = false;
      for (Operation *user : value.getUsers()) {
        Operation *here = block.findAncestorOpInBlock(*user);
        if (here && inside.contains(here))
          continue;
        leaves = true;
        task.escapes |= here && here == block.getTerminator();
      }
      if (!leaves || !counts)
        continue;
      Value holder = memoryOf(value, facts, &holders);
      Operation *source = holder.getDefiningOp();
      // Memory of its own, or a copy of a constant that something carries on.
      bool own = holder == value || (source && (inside.contains(source) || !units.unitOf.contains(source)) &&
                                     source->getBlock() == &block);
      if (own)
        task.result += cost::Bytes{bytesOf(value)};
    }
  }
}

LogicalResult ModelBuilder::addTask(const BlockUnits &units, const Unit &unit, cost::Block &plain, BlockModel &model) {
  Operation *first = unit.ops.front();
  Block &body = *first->getBlock();
  cost::Task task;
  task.name = nameOf(unit);
  // Numbers of units here; block() turns them into numbers of tasks.
  task.operands.assign(unit.operands.begin(), unit.operands.end());
  for (Operation *op : unit.ops)
    forEachValueRead(op, [&](Value value) {
      Operation *holder = memoryOf(value, facts, &holders).getDefiningOp();
      auto it = holder ? units.unitOf.find(holder) : units.unitOf.end();
      if (it != units.unitOf.end() && it->second != units.unitOf.lookup(first))
        task.operands.push_back(it->second);
    });
  llvm::sort(task.operands);
  task.operands.erase(llvm::unique(task.operands), task.operands.end());
  memory(body, units, unit, task);
  switch (unit.kind) {
  case OpClass::Collective:
    if (failed(collectiveTask(first, task)))
      return failure();
    push(plain, model, task, unit.ops);
    return success();
  case OpClass::Nested: {
    FailureOr<std::vector<NestedTask>> tasks = nestedTasks(first, task);
    if (failed(tasks))
      return failure();
    // What has effects inside is a barrier outside; tasks without operations say so.
    cost::Task fence;
    fence.kind = cost::Task::Barrier;
    fence.name = "effects inside " + task.name;
    bool stops = facts.stopsCollectives(first);
    if (stops)
      push(plain, model, fence, {});
    for (auto &[nested, ops] : *tasks)
      push(plain, model, nested, ops);
    if (stops)
      push(plain, model, fence, {});
    return success();
  }
  case OpClass::Barrier:
    task.kind = cost::Task::Barrier;
    task.duration = costs.kernel(unit);
    barriers.push_back(first);
    push(plain, model, task, unit.ops);
    return success();
  default:
    task.kind = cost::Task::Compute;
    task.duration = costs.kernel(unit);
    push(plain, model, task, unit.ops);
    return success();
  }
}

FailureOr<int> ModelBuilder::block(Block &body, const Twine &name, bool entry, cost::Seconds prologue) {
  cost::Block plain;
  BlockModel model;
  plain.name = name.str();
  model.block = &body;
  Operation *parent = body.getParentOp();
  bool manual = parent->getName().getStringRef() == "sdy.manual_computation";
  if (llvm::any_of(body, [](Operation &op) { return op.getName().getStringRef() == "sdy.manual_computation"; }))
    globalView.insert(&body);
  // Arguments of other blocks are held by their callers.
  if ((entry && !globalView.contains(&body)) || manual)
    for (Value argument : body.getArguments())
      plain.live += cost::Bytes{bytesOf(argument)};
  std::vector<int> taskOf; // unit -> task
  if (prologue.value > 0) {
    cost::Task condition;
    condition.name = "condition of " + plain.name;
    condition.duration = prologue;
    push(plain, model, condition, {});
  }
  BlockUnits units = groupOperations(body, facts);
  for (const Unit &unit : units.units) {
    size_t before = plain.tasks.size();
    if (failed(addTask(units, unit, plain, model)))
      return failure();
    int main = int(before);
    for (size_t index = before; index < plain.tasks.size(); ++index) {
      if (!model.operations[index].empty())
        main = int(index);
      for (int &operand : plain.tasks[index].operands)
        operand = taskOf[operand];
      llvm::sort(plain.tasks[index].operands);
    }
    taskOf.push_back(main);
  }
  for (auto [task, ops] : llvm::zip(plain.tasks, model.operations))
    if (task.kind == cost::Task::Nested && !ops.empty() && !result.program.blocks[task.block].carried.empty())
      around(ops.front(), result.program.blocks[task.block], [&](Operation *op) {
        auto unit = units.unitOf.find(op);
        return unit == units.unitOf.end() ? -1 : taskOf[unit->second];
      });
  result.program.blocks.push_back(std::move(plain));
  result.blocks.push_back(std::move(model));
  return int(result.blocks.size()) - 1;
}

FailureOr<int> ModelBuilder::function(FunctionOpInterface function) {
  if (auto it = functionBlocks.find(function); it != functionBlocks.end())
    return it->second;
  if (!open.insert(function).second)
    return emitError(function.getLoc()) << "function '" << function.getName()
                                        << "': expected no recursion, it communicates and calls itself";
  if (!llvm::hasSingleElement(function.getFunctionBody()))
    return emitError(function.getLoc()) << "function '" << function.getName()
                                        << "': expected one block in a function that communicates, got several";
  FailureOr<int> index = block(function.getFunctionBody().front(), function.getName(),
                               /*entry=*/function.getOperation() == mainOperation() ||
                                   llvm::is_contained(facts.communicatingRoots(), function),
                               {});
  open.erase(function);
  if (succeeded(index))
    functionBlocks[function] = *index;
  return index;
}

/// A location's time is shared by the tasks that carry it, in proportion to their roofline; a recorded profile knows each
/// operation's own.
void ModelBuilder::applyProfile() {
  if (options.marked)
    for (auto [plain, model] : llvm::zip(result.program.blocks, result.blocks))
      for (auto [task, ops] : llvm::zip(plain.tasks, model.operations))
        if (task.kind == cost::Task::Compute)
          task.duration = markedTime(ops, task.duration);
  if (!options.profile)
    return;
  llvm::DenseMap<cost::Task *, double> measured;
  if (!options.profile->program.empty()) {
    UnplannedProgram program(module);
    for (auto [plain, model] : llvm::zip(result.program.blocks, result.blocks))
      for (auto [task, ops] : llvm::zip(plain.tasks, model.operations))
        if (task.kind == cost::Task::Compute || task.kind == cost::Task::Barrier)
          for (Operation *op : ops)
            if (auto found = options.profile->operations.find(program.key(op));
                found != options.profile->operations.end())
              measured[&task] += found->second.value;
  }
  if (!options.profile->locations.empty()) {
    LocatedTasks located(facts);
    std::vector<cost::Task *> tasks;
    for (auto [plain, model] : llvm::zip(result.program.blocks, result.blocks))
      for (auto [task, ops] : llvm::zip(plain.tasks, model.operations))
        if (task.kind == cost::Task::Compute) {
          for (Operation *op : ops)
            located.add(int(tasks.size()), op);
          tasks.push_back(&task);
        }
    for (auto &[key, time] : options.profile->locations) {
      SmallVector<int> sharers = located.find(key);
      if (sharers.empty())
        result.unmatched.emplace_back(key.str(), time);
      double roofline = 0;
      for (int task : sharers)
        roofline += tasks[task]->duration.value;
      for (int task : sharers)
        measured[tasks[task]] +=
            time.value * (roofline > 0 ? tasks[task]->duration.value / roofline : 1 / double(sharers.size()));
    }
    llvm::sort(result.unmatched, [](auto &a, auto &b) {
      return std::pair(-a.second.value, a.first) < std::pair(-b.second.value, b.first);
    });
  }
  for (auto [task, seconds] : measured)
    task->duration = {seconds};
}

/// What awaits a collective in flight that nothing runs beside, or null.
static WaitOp awaitedAtOnce(StartOp start) {
  for (Operation *next = start->getNextNode(); next; next = next->getNextNode()) {
    auto wait = dyn_cast<WaitOp>(next);
    if (wait && wait.getToken() == start.getToken())
      return wait;
    if (!wait && !isa<StartOp>(next) && !next->hasTrait<OpTrait::ConstantLike>())
      break;
  }
  return nullptr;
}

void ModelBuilder::explain() {
  for (Operation *op : barriers) {
    remarkMissed(op->getLoc(), options.category, "barrier",
                 "nothing moves across " + op->getName().getStringRef() + ": " + facts.barrierReason(op) +
                     (facts.communicates(op) ? "; its time is not in the prediction" : ""));
    if (auto start = dyn_cast<StartOp>(op))
      if (WaitOp wait = awaitedAtOnce(start))
        remarkMissed(start.getLoc(), options.category, "overlap",
                     "exposed: it is asynchronous, but awaited at once, before " + taskName(wait->getNextNode()));
  }
  if (!options.device)
    return;
  auto share = [](const char *what, const ComputeCost::Share &share) {
    return std::to_string(share.kernels) + " " + what + " " + cost::toString(share.time);
  };
  remarkAnalysis(module.getLoc(), options.category, "compute",
                 "computation, each loop body and function once: " + share("matrix products", costs.matmuls) + ", " +
                     share("fused kernels", costs.fusions) + ", " + share("others", costs.others));
  for (auto &[name, use] : costs.uncosted())
    remarkAnalysis(use.first->getLoc(), options.category, "no-cost",
                   "no cost is known for " + name + " (" + Twine(use.second) +
                       " in the module): counted as no time; a compute profile can say how long it takes");
  for (Operation *loop : costs.unknownTrips())
    remarkAnalysis(loop->getLoc(), options.category, "trips", "its trip count depends on data: counted as one trip");
}

FailureOr<ProgramModel> ModelBuilder::build() {
  result.ranks = ranks;
  result.program.ranks = int(ranks.ranks());
  if (!facts.anyCommunication())
    return std::move(result);
  FunctionOpInterface main = facts.main();
  std::vector<int> roots;
  SmallVector<FunctionOpInterface> others = facts.communicatingRoots();
  for (FunctionOpInterface root : others) {
    if (root.getOperation() == mainOperation())
      continue;
    FailureOr<int> index = function(root);
    if (failed(index))
      return failure();
    roots.push_back(*index);
    if (main)
      remarkMissed(root.getLoc(), options.category, "unreachable",
                   "function '" + root.getName() +
                       "' communicates, but main does not reach it: its time does not count");
  }
  if (main && facts.communicates(main)) {
    if (failed(function(main)))
      return failure();
  } else if (roots.size() > 1) { // no main: each root runs once, one after another
    cost::Block entry;
    BlockModel model;
    entry.name = "every function";
    for (int root : roots) {
      cost::Task task;
      task.kind = cost::Task::Nested;
      task.name = result.program.blocks[root].name;
      task.block = root;
      push(entry, model, task, {});
    }
    result.program.blocks.push_back(std::move(entry));
    result.blocks.push_back(std::move(model));
  }
  applyProfile();
  if (remarksWanted(module.getContext()))
    explain();
  return std::move(result);
}

} // namespace

FailureOr<ProgramModel> buildProgramModel(ModuleOp module, const ModelOptions &options) {
  if (failed(checkSourceShapes(module)))
    return failure();
  return ModelBuilder(module, options).build();
}

} // namespace mlir::braid
