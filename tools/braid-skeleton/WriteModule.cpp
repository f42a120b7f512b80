//===- WriteModule.cpp - a schedule as a module of timed computation and collectives ------------------------------===//
//
// Each block of the scheduling problem becomes a function, the last one @main; a loop becomes an scf.for around a call. A mark, a
// tensor without elements, goes into a call and comes back, for what the loop or call waits for and who waits for it; and so does
// what a loop hands on from trip to trip, where its trips may overlap: the mark of the kernel that makes it, or the tensors that a
// collective gives. Where that is not known, all of a trip waits for the trip before. Inside a function, in the order of the schedule's events:
//
//   a kernel       braid.compute with its time. It reads (ins) what the collectives that it depends on have given, and a mark
//                  of each kernel, loop or call that it depends on. Its results (outs) are the tensors that
//                  collectives send, and its own mark.
//   a collective   the program's, with its types, groups and reduction, in the schedule's bucket and with its plan. Where
//                  several tasks made its operand, a kernel of no time gathers their marks.
//
// So the values say what depends on what: without its plans, the module is planned as the program was.
//===------------------------------------------------------------------------------------------------------------===//
#include "WriteModule.h"
#include "braid/dialect/BraidOps.h"
#include "braid/dialect/Groups.h"
#include "braid/passes/Fingerprint.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

namespace mlir::braid::skeleton {

namespace cost = ::braid::cost;

namespace {

class BlockWriter {
public:
  BlockWriter(OpBuilder &builder, const ModulePlan &plan, const cost::Schedule &schedule, bool plans, int index,
              bool closed, ValueRange arguments)
      : builder(builder), plan(plan), plans(plans), closed(closed), block(plan.program.blocks[index]),
        schedule(schedule.blocks[index]), sources(plan.operations[index]), hash(plan.pricer->cluster().hash),
        arguments(arguments), carriedTypes(typesOfCarried(builder, plan, index)), marks(block.tasks.size()),
        given(block.tasks.size()), sent(block.tasks.size()), carriedBy(block.tasks.size()) {
    for (auto [number, value] : llvm::enumerate(block.carried))
      for (int reader : value.readers)
        llvm::append_range(carriedBy[reader], argumentsOf(int(number)));
    findReaders();
  }

  /// What each value that a loop's trips hand on is made of; nothing for what no task makes.
  static SmallVector<SmallVector<Type>> typesOfCarried(OpBuilder &builder, const ModulePlan &plan, int index) {
    const cost::Block &block = plan.program.blocks[index];
    SmallVector<SmallVector<Type>> types(block.carried.size());
    for (auto [number, value] : llvm::enumerate(block.carried)) {
      const cost::Carried *made = &value;
      for (size_t hop = 0; made->from < 0 && made->passes >= 0 && hop < block.carried.size(); ++hop)
        made = &block.carried[made->passes];
      if (made->from < 0 ? made->passes >= 0 : block.tasks[made->from].kind != cost::Task::Collective)
        types[number] = {markType(builder)}; // also what all trips share
      else if (made->from >= 0)
        types[number] = llvm::to_vector(plan.operations[index][made->from]->getResultTypes());
      if (made->from >= 0 && block.tasks[made->from].kind == cost::Task::Barrier)
        types[number].clear();
    }
    return types;
  }

  /// What a function gives back: its mark, and what the trip hands on.
  SmallVector<Value> results() {
    if (closed) {
      SmallVector<Value> all;
      for (size_t task = 0; task < block.tasks.size(); ++task)
        if (last.contains(int(task)))
          depends(int(task), all);
      all.push_back(arguments[0]);
      return {kernel(builder.getUnknownLoc(), "end of " + block.name, {}, all, markType()).front()};
    }
    SmallVector<Value> values(arguments.take_front(1).begin(), arguments.take_front(1).end());
    for (auto [number, value] : llvm::enumerate(block.carried)) {
      if (carriedTypes[number].empty())
        continue;
      if (value.passes >= 0)
        llvm::append_range(values, argumentsOf(value.passes));
      else if (block.tasks[value.from].kind == cost::Task::Collective)
        llvm::append_range(values, given[value.from]);
      else
        values.push_back(marks[value.from]);
    }
    return values;
  }

  LogicalResult write() {
    const std::vector<cost::Event> &order = schedule.order;
    for (size_t at = 0; at < order.size(); ++at) {
      bool apart =
          !(at + 1 < order.size() && order[at + 1].kind == cost::Event::Wait && order[at + 1].index == order[at].index);
      LogicalResult written = order[at].kind == cost::Event::Run     ? run(order[at].index)
                              : order[at].kind == cost::Event::Start ? start(order[at].index, apart)
                                                                     : wait(order[at].index);
      if (failed(written))
        return failure();
    }
    return success();
  }

private:
  /// A collective's operand that one kernel makes is a result of that kernel.
  void findReaders() {
    for (auto [number, task] : llvm::enumerate(block.tasks)) {
      bool more = task.operands.size() > 1 || !carriedBy[number].empty();
      for (int operand : task.operands)
        (task.kind == cost::Task::Compute || more ? markWanted : taskWanted).insert(operand);
      if (task.kind == cost::Task::Collective && task.operands.size() == 1 && !more &&
          block.tasks[task.operands[0]].kind == cost::Task::Compute)
        madeBy[task.operands[0]].push_back(int(number));
      if (task.kind == cost::Task::Nested)
        for (const cost::Carried &value : plan.program.blocks[task.block].carried)
          markWanted.insert(value.init); // -1: none
    }
    for (const cost::Carried &value : block.carried)
      markWanted.insert(value.from);
    if (!closed)
      return;
    for (size_t task = 0; task < block.tasks.size(); ++task)
      last.insert(int(task));
    for (const cost::Task &task : block.tasks)
      for (int operand : task.operands)
        last.erase(operand);
    markWanted.insert(last.begin(), last.end());
  }

  /// Of the function's arguments, those of a carried value.
  ValueRange argumentsOf(int carried) const {
    size_t before = 1;
    for (int other = 0; other < carried; ++other)
      before += carriedTypes[other].size();
    return arguments.slice(before, carriedTypes[carried].size());
  }

  Location at(int task) { return NameLoc::get(builder.getStringAttr(block.tasks[task].name)); }
  Value empty(Location loc, Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return tensor::EmptyOp::create(builder, loc, tensor.getShape(), tensor.getElementType());
  }
  Type markType() { return markType(builder); }

  LogicalResult isStatic(Operation *collective) {
    for (Value value : llvm::concat<Value>(collective->getOperands(), collective->getResults()))
      if (auto type = dyn_cast<RankedTensorType>(value.getType()); !type || !type.hasStaticShape())
        return collective->emitOpError("operands, expected static shapes, so that a skeleton can be made of it, got ")
               << value.getType();
    return success();
  }

  /// What a task gives to those who depend on it.
  void depends(int task, SmallVectorImpl<Value> &values) {
    if (marks[task])
      values.push_back(marks[task]);
    llvm::append_range(values, given[task]);
  }

  /// All that a task reads; each value once.
  SmallVector<Value> inputsOf(int number) {
    SmallVector<Value> values(carriedBy[number]);
    for (int operand : block.tasks[number].operands) {
      depends(operand, values);
      auto handed = handedOn.find(operand); // a loop: what the last trip hands on
      if (handed == handedOn.end())
        continue;
      for (auto [value, results] : llvm::zip(plan.program.blocks[block.tasks[operand].block].carried, handed->second))
        if (llvm::is_contained(value.users, number))
          llvm::append_range(values, results);
    }
    if (closed && values.empty())
      values.push_back(arguments[0]);
    llvm::SetVector<Value> unique(values.begin(), values.end());
    return unique.takeVector();
  }

  /// A kernel that reads `inputs` and makes tensors of `types`.
  ResultRange kernel(Location loc, StringRef name, cost::Seconds duration, ValueRange inputs, TypeRange types) {
    SmallVector<Value> inits;
    for (Type type : types)
      inits.push_back(empty(loc, type));
    return ComputeOp::create(builder, loc, types, builder.getStringAttr(name),
                             builder.getStringAttr(ComputeOp::durationText(duration.value)), inputs, inits)
        .getResults();
  }

  LogicalResult run(int number) {
    const cost::Task &task = block.tasks[number];
    if (task.kind == cost::Task::Nested)
      return nested(number, at(number));
    if (Operation *source = sources[number]) // communication that no planner moves
      return asItStands(source, at(number));
    bool wanted = markWanted.contains(number);
    if (task.duration.value <= 0 && !wanted && !madeBy.contains(number))
      return success();
    SmallVector<Value> inputs = inputsOf(number);
    SmallVector<Type> types;
    for (int collective : madeBy.lookup(number)) {
      if (failed(isStatic(sources[collective])))
        return failure();
      llvm::append_range(types, sources[collective]->getOperandTypes());
    }
    size_t tensors = types.size();
    if (wanted)
      types.push_back(markType());
    ResultRange results = kernel(at(number), task.name, task.duration, inputs, types);
    size_t next = 0;
    for (int collective : madeBy.lookup(number))
      for (size_t i = 0; i < sources[collective]->getNumOperands(); ++i)
        sent[collective].push_back(results[next++]);
    if (wanted)
      marks[number] = results[tensors];
    return success();
  }

  LogicalResult nested(int number, Location loc) {
    const cost::Task &task = block.tasks[number];
    SmallVector<Value> inputs = inputsOf(number);
    Value mark = inputs.empty() ? empty(loc, markType())
                 : inputs.size() == 1 && inputs[0].getType() == markType()
                     ? inputs[0]
                     : kernel(loc, "operands of " + task.name, {}, inputs, markType()).front();
    int64_t trips = std::llround(task.trips);
    std::string callee = functionName(task.block);
    if (trips < 1)
      marks[number] = mark;
    else if (trips == 1)
      marks[number] = func::CallOp::create(builder, loc, callee, markType(), mark).getResult(0);
    if (trips <= 1)
      return success();
    auto bound = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value).getResult(); };
    Value first = bound(0), last = bound(trips), step = bound(1);
    SmallVector<Value> inits{mark};
    SmallVector<SmallVector<Type>> types = typesOfCarried(builder, plan, task.block);
    for (auto [value, of] : llvm::zip(plan.program.blocks[task.block].carried, types))
      llvm::append_range(inits, initOf(value.init, of, loc));
    auto loop = scf::ForOp::create(builder, loc, first, last, step, inits);
    marks[number] = loop.getResult(0);
    ValueRange results = loop.getResults().drop_front();
    for (const SmallVector<Type> &of : types) {
      handedOn[number].push_back(llvm::to_vector(results.take_front(of.size())));
      results = results.drop_front(of.size());
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    auto call = func::CallOp::create(builder, loc, callee, loop.getResultTypes(), loop.getRegionIterArgs());
    scf::YieldOp::create(builder, loc, call.getResults());
    return success();
  }

  /// What a carried value is in the first trip. `maker`: the task that gives it, or -1.
  SmallVector<Value> initOf(int maker, ArrayRef<Type> types, Location loc) {
    SmallVector<Value> made;
    if (maker >= 0)
      depends(maker, made);
    if (llvm::equal(ValueRange(made).getTypes(), types))
      return made;
    if (!made.empty() && !types.empty())
      return llvm::to_vector_of<Value>(kernel(loc, "operands of a loop", {}, made, types));
    SmallVector<Value> values;
    for (Type type : types)
      values.push_back(empty(loc, type));
    return values;
  }

  /// The tensors that one member of a bucket sends.
  LogicalResult operandsOf(int number, SmallVectorImpl<Value> &operands) {
    Operation *source = sources[number];
    if (failed(isStatic(source)))
      return failure();
    SmallVector<Value> inputs = inputsOf(number);
    if (!sent[number].empty()) {
      llvm::append_range(operands, sent[number]);
    } else if (inputs.empty()) {
      for (Type type : source->getOperandTypes())
        operands.push_back(empty(at(number), type));
    } else {
      llvm::append_range(operands, kernel(at(number), "operands of " + block.tasks[number].name, {}, inputs,
                                          source->getOperandTypes()));
    }
    return success();
  }

  LogicalResult start(int bucketNumber, bool apart) {
    const cost::Bucket &bucket = schedule.buckets[bucketNumber];
    cost::CollectiveSpec spec = cost::mergedSpec(block, bucket);
    const cost::Candidate &candidate = plan.pricer->candidates(spec)[bucket.candidate];
    SmallVector<Value> operands;
    SmallVector<Type> types;
    SmallVector<Location> locations;
    NamedAttrList attrs;
    for (int task : bucket.tasks) {
      if (failed(operandsOf(task, operands)))
        return failure();
      llvm::append_range(types, sources[task]->getResultTypes());
      locations.push_back(at(task));
      for (StringRef name : {"dims", "split_dims", "concat_dims"})
        if (auto dims = sources[task]->getAttrOfType<DenseI64ArrayAttr>(name)) {
          SmallVector<int64_t> all;
          if (auto before = dyn_cast_or_null<DenseI64ArrayAttr>(attrs.get(name)))
            llvm::append_range(all, before.asArrayRef());
          llvm::append_range(all, dims.asArrayRef());
          attrs.set(name, builder.getDenseI64ArrayAttr(all));
        }
    }
    Operation *first = sources[bucket.tasks.front()];
    for (StringRef name : {"reduction", "root"})
      if (Attribute attr = first->getAttr(name))
        attrs.set(name, attr);
    ranks(spec, attrs);
    if (candidate.algorithm == "none") { // groups of one rank: nothing is sent
      hand(bucket, operands);
      return success();
    }
    Location loc = builder.getFusedLoc(locations);
    auto op =
        cast<CollectiveOpInterface>(create(loc, first->getName(), operands, types, attrs, first->getNumRegions()));
    if (plans)
      op.setPlanAttr(PlanAttr::get(builder.getContext(), EngineKind::Braid, candidate.algorithm, candidate.protocol,
                                   candidate.channels, candidate.chunks, candidate.path, planFingerprint(op, hash)));
    if (apart)
      started[bucketNumber] = {StartOp::wrap(builder, op), types};
    else
      hand(bucket, op->getResults());
    return success();
  }

  LogicalResult wait(int bucketNumber) {
    auto found = started.find(bucketNumber);
    if (found == started.end())
      return success(); // it stood alone
    auto &[start, types] = found->second;
    auto waited = WaitOp::create(builder, start.getLoc(), types, start.getToken(), start.getOperands());
    hand(schedule.buckets[bucketNumber], waited->getResults());
    return success();
  }

  /// Results of a bucket, member by member.
  void hand(const cost::Bucket &bucket, ValueRange results) {
    for (int task : bucket.tasks) {
      size_t count = sources[task]->getNumResults();
      if (markWanted.contains(task) || taskWanted.contains(task))
        given[task] = llvm::to_vector(results.take_front(count));
      results = results.drop_front(count);
    }
  }

  /// Groups and pairs as the ranks that they mean.
  void ranks(const cost::CollectiveSpec &spec, NamedAttrList &attrs) {
    if (spec.kind == cost::CollectiveKind::Permute) {
      SmallVector<int64_t> flat;
      for (auto [source, target] : spec.groups->pairs)
        flat.append({source, target});
      auto type = RankedTensorType::get({int64_t(flat.size() / 2), 2}, builder.getI64Type());
      attrs.set("pairs", DenseIntElementsAttr::get(type, flat));
      return;
    }
    SmallVector<SmallVector<int64_t>> rows;
    if (spec.groups)
      for (const std::vector<int> &group : spec.groups->groups) {
        rows.emplace_back();
        for (int rank : group)
          if (rank >= 0) // padding
            rows.back().push_back(rank);
      }
    if (rows.empty())
      rows.push_back(llvm::to_vector(llvm::seq<int64_t>(0, plan.program.ranks)));
    attrs.set("groups", compressGroups(GroupsAttr::get(builder.getContext(), rows)));
  }

  Operation *create(Location loc, OperationName name, ValueRange operands, TypeRange types, const NamedAttrList &attrs,
                    unsigned regions) {
    OperationState state(loc, name);
    state.addOperands(operands);
    state.addTypes(types);
    state.addAttributes(attrs);
    for (unsigned region = 0; region < regions; ++region)
      state.addRegion();
    return builder.create(state);
  }

  /// A rooted collective, a message, a barrier, and what the program itself starts and awaits.
  LogicalResult asItStands(Operation *source, Location loc) {
    if (auto wait = dyn_cast<WaitOp>(source)) {
      auto token = dyn_cast_or_null<StartOp>(copies.lookup(wait.getStart()));
      if (!token)
        return wait.emitOpError(
            "token, expected one of a start in the same block, so that a skeleton can be made of it");
      WaitOp::create(builder, loc, wait.getResultTypes(), token.getToken(), token.getOperands());
      return success();
    }
    if (failed(isStatic(isa<StartOp>(source) ? cast<StartOp>(source).getCollective() : source)))
      return failure();
    IRMapping mapping;
    for (Value operand : source->getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, empty(loc, operand.getType()));
    Operation *copy = builder.clone(*source, mapping);
    copies[source] = copy;
    copy->walk([](CollectiveOpInterface collective) {
      for (StringRef name : {"source", "channel", "accumulate"})
        collective->removeAttr(name);
      for (NamedAttribute attr : llvm::to_vector(collective->getDiscardableAttrs()))
        collective->removeDiscardableAttr(attr.getName());
      for (Region &region : collective->getRegions())
        region.getBlocks().clear();
    });
    return success();
  }

public:
  static Type markType(OpBuilder &builder) { return RankedTensorType::get({0}, builder.getI8Type()); }
  static std::string functionName(int block) { return "block_" + std::to_string(block); }

private:
  OpBuilder &builder;
  const ModulePlan &plan;
  const bool plans;
  const bool closed; ///< all of a trip waits for all of the one before
  const cost::Block &block;
  const cost::BlockSchedule &schedule;
  const std::vector<Operation *> &sources; ///< of each task that communicates
  const std::string hash;
  const ValueRange arguments; ///< of the function: a mark, and what the trip is handed
  const SmallVector<SmallVector<Type>> carriedTypes;
  llvm::DenseSet<int> markWanted, taskWanted;
  llvm::DenseSet<int> last;                     ///< of a closed block: tasks that none of it waits for
  llvm::DenseMap<int, SmallVector<int>> madeBy; ///< kernel -> collectives whose operands are its results
  std::vector<Value> marks;                     ///< of each task
  std::vector<SmallVector<Value>> given;        ///< results of each collective
  std::vector<SmallVector<Value>> sent;         ///< operands of each collective that a kernel has made
  std::vector<SmallVector<Value>> carriedBy;    ///< arguments that each task reads
  llvm::DenseMap<int, SmallVector<SmallVector<Value>>>
      handedOn; ///< of a loop whose trips may overlap: by carried value
  llvm::DenseMap<int, std::pair<StartOp, SmallVector<Type>>> started; ///< by bucket
  llvm::DenseMap<Operation *, Operation *> copies;
};

/// Blocks that run in a loop of which is not known what a trip hands on: its trips run one after another.
std::vector<char> closedBlocks(const cost::Program &program) {
  std::vector<char> closed(program.blocks.size());
  for (size_t index = program.blocks.size(); index-- > 0;) // callers come after what they run
    for (const cost::Task &task : program.blocks[index].tasks)
      if (task.kind == cost::Task::Nested)
        closed[task.block] |= program.blocks[task.block].carried.empty() && (closed[index] || task.trips > 1);
  return closed;
}

} // namespace

FailureOr<OwningOpRef<ModuleOp>> writeModule(ModuleOp program, const ModulePlan &plan, const cost::Schedule &schedule,
                                             bool plans, StringRef title) {
  MLIRContext *context = program.getContext();
  context->loadDialect<arith::ArithDialect, func::FuncDialect, scf::SCFDialect, tensor::TensorDialect>();
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, loc);
  for (StringRef name : {"mhlo.num_replicas", "mhlo.num_partitions"})
    if (Attribute attr = program->getAttr(name))
      (*module)->setAttr(name, attr);
  if (moduleRanks(*module).total() != plan.ranks) { // found from its meshes or groups
    (*module)->setAttr("mhlo.num_replicas", builder.getI32IntegerAttr(1));
    (*module)->setAttr("mhlo.num_partitions", builder.getI32IntegerAttr(int32_t(plan.ranks)));
  }
  (*module)->setAttr("braid.skeleton", builder.getStringAttr(title));
  Type mark = BlockWriter::markType(builder);
  size_t count = plan.program.blocks.size();
  std::vector<char> closed = closedBlocks(plan.program);
  for (size_t index = 0; index < count; ++index) {
    builder.setInsertionPointToEnd(module->getBody());
    bool entry = index + 1 == count;
    SmallVector<Type> types;
    if (!entry)
      types.push_back(mark);
    for (const SmallVector<Type> &carried : BlockWriter::typesOfCarried(builder, plan, int(index)))
      llvm::append_range(types, carried);
    auto function = func::FuncOp::create(builder, loc, entry ? "main" : BlockWriter::functionName(int(index)),
                                         builder.getFunctionType(types, types));
    if (!entry)
      function.setPrivate();
    builder.setInsertionPointToStart(function.addEntryBlock());
    BlockWriter writer(builder, plan, schedule, plans, int(index), closed[index], function.getArguments());
    if (failed(writer.write()))
      return failure();
    func::ReturnOp::create(builder, loc, entry ? SmallVector<Value>() : writer.results());
  }
  return module;
}

} // namespace mlir::braid::skeleton
