//===- VerifyInFlight.cpp - nobody touches a buffer in flight ---------------------------------------------------===//
//
// Follows every path of a function with a BufferState: what memory each buffer may be, and which memory is in flight. Loops
// are followed until nothing new is learned. What can't be told apart counts as the same.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/passes/Passes.h"
#include "lowering/BufferState.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::braid {

#define GEN_PASS_DEF_BRAIDVERIFYINFLIGHT
#include "braid/passes/Passes.h.inc"

namespace {

/// What is wrong, in the order in which it was found; one thing of each operation and collective.
class Findings {
public:
  void add(Operation *op, const Flight &flight, const Twine &what) {
    auto &known = found[op];
    for (Operation *launch : flight.launches)
      if (!llvm::any_of(known, [&](auto &each) { return each.second.contains(launch); }))
        entry(known, what).insert(launch);
  }
  void add(Operation *op, const Twine &what) { entry(found[op], what); }
  /// The operation is looked at again, knowing more.
  void forget(Operation *op) {
    if (auto known = found.find(op); known != found.end())
      known->second.clear();
  }

  /// Whether there was something.
  bool report() {
    bool any = false;
    for (auto &[op, all] : found)
      for (auto &[what, launches] : all) {
        any = true;
        auto diagnostic = op->emitError(what);
        for (Operation *launch : launches) {
          diagnostic.attachNote(launch->getLoc()) << "the collective was launched here";
          for (Operation *user : launch->getResult(0).getUsers())
            diagnostic.attachNote(user->getLoc())
                << (isa<FinishOp>(user) ? "and is finished here" : "and is passed on here");
        }
      }
    return any;
  }

private:
  using Entries = SmallVector<std::pair<std::string, llvm::SmallSetVector<Operation *, 2>>, 1>;
  static llvm::SmallSetVector<Operation *, 2> &entry(Entries &entries, const Twine &what) {
    std::string text = what.str();
    for (auto &[known, launches] : entries)
      if (known == text)
        return launches;
    return entries.emplace_back(text, llvm::SmallSetVector<Operation *, 2>()).second;
  }
  llvm::MapVector<Operation *, Entries> found;
};

bool isBuffer(Value value) { return isa<BaseMemRefType>(value.getType()); }
bool isToken(Value value) { return isa<TokenType>(value.getType()); }

class Follower {
public:
  explicit Follower(Findings &findings) : findings(findings) {}

  void follow(FunctionOpInterface function) {
    BufferState state;
    // Who calls a public function gives it buffers of their own (a rule of the interface). Arguments of other functions may
    // be one another, and globals.
    outside = function.isPublic() ? nullptr : function.getOperation();
    for (Value argument : function.getArguments())
      if (isBuffer(argument))
        state.set(argument, {BufferObject{outside ? outside : argument.getAsOpaquePointer()}});
    region(function.getFunctionBody(), std::move(state), [&](Operation *end, BufferState &after) {
      for (auto &[token, flight] : after.flights)
        findings.add(end, flight, "collective in flight, expected it to be finished before the function ends");
    });
  }

private:
  using AtEnd = llvm::function_ref<void(Operation *terminator, BufferState &state)>;

  /// Follows all blocks; `atEnd` gets each terminator that leaves the region, perhaps several times.
  void region(Region &region, BufferState entry, AtEnd atEnd) {
    llvm::MapVector<Block *, BufferState> at;
    at.insert({&region.front(), std::move(entry)});
    SmallVector<Block *> work = {&region.front()};
    while (!work.empty()) {
      Block *block = work.pop_back_val();
      BufferState state = at.find(block)->second;
      for (Operation &op : *block)
        if (!op.hasTrait<OpTrait::IsTerminator>())
          step(&op, state);
      Operation *end = block->empty() ? nullptr : &block->back();
      if (!end || !end->hasTrait<OpTrait::IsTerminator>())
        continue;
      findings.forget(end);
      inspect(end, state);
      if (block->getNumSuccessors() == 0)
        atEnd(end, state);
      for (auto [index, next] : llvm::enumerate(block->getSuccessors())) {
        BufferState passed = state;
        if (auto branch = dyn_cast<BranchOpInterface>(end)) {
          SuccessorOperands operands = branch.getSuccessorOperands(index);
          SmallVector<std::pair<Value, Value>> pairs;
          for (unsigned i = operands.getProducedOperandCount(); i < operands.size(); ++i)
            pairs.push_back({operands[i], next->getArgument(i)});
          pass(end, pairs, passed);
        }
        auto known = at.find(next);
        bool changed = known == at.end() || known->second.join(passed);
        if (known == at.end())
          at.insert({next, std::move(passed)});
        if (changed && !llvm::is_contained(work, next))
          work.push_back(next);
      }
    }
  }

  /// Values that become arguments or results: at once, since they may trade places.
  void pass(Operation *op, ArrayRef<std::pair<Value, Value>> pairs, BufferState &state) {
    SmallVector<std::pair<Value, BufferObjects>> buffers;
    SmallVector<std::pair<Value, Flight>> flights;
    for (auto [from, to] : pairs) {
      if (isBuffer(to))
        buffers.push_back({to, state.of(from)});
      if (!isToken(to))
        continue;
      auto flight = state.flights.find(from);
      if (flight != state.flights.end()) {
        flights.push_back({to, flight->second});
        state.flights.erase(flight);
      }
    }
    for (auto &[to, what] : buffers)
      state.set(to, std::move(what));
    for (auto &[to, flight] : flights) {
      lost(op, to, state);
      state.flights[to] = std::move(flight);
    }
  }

  /// A token gets a new value: what it held before must have been finished.
  void lost(Operation *op, Value token, BufferState &state) {
    auto held = state.flights.find(token);
    if (held == state.flights.end())
      return;
    findings.add(op, held->second, "collective in flight, expected it to be finished before its token is lost");
    state.flights.erase(held);
  }

  void step(Operation *op, BufferState &state) {
    findings.forget(op);
    if (auto finish = dyn_cast<FinishOp>(op))
      return finished(finish, state);
    inspect(op, state);
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      lost(op, launch.getToken(), state);
      Flight &flight = state.flights[launch.getToken()];
      flight.launches.insert(launch);
      for (Value sent : launch.getSent())
        flight.sends(state.of(sent));
      for (Value init : launch.getInits())
        flight.writes(state.of(init));
      return;
    }
    if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
      return regions(branch, state);
    for (Region &inside : op->getRegions()) // bodies that are not entered by control flow: what they do is done here
      inside.walk([&](Operation *inner) {
        findings.forget(inner);
        if (isa<LaunchOp, FinishOp>(inner))
          findings.add(inner,
                       "collective, expected in a function, or in loops and branches of scf or affine whose paths "
                       "are known, got one in " +
                           op->getName().getStringRef());
        inspect(inner, state);
      });
    for (Value operand : op->getOperands())
      if (isToken(operand))
        misused(op, operand, state);
    results(op, state);
  }

  /// What the buffers are that an operation gives.
  void results(Operation *op, BufferState &state) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    for (Value result : op->getResults()) {
      if (!isBuffer(result))
        continue;
      if (effects && effects.getEffectOnValue<MemoryEffects::Allocate>(result)) {
        state.allocate(result, op);
      } else if (auto global = dyn_cast<memref::GetGlobalOp>(op)) {
        const void *name = outside ? outside : global.getNameAttr().getAttr().getAsOpaquePointer();
        globals.insert(name);
        state.set(result, {BufferObject{name}});
      } else if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
        state.set(result, state.of(view.getViewSource()));
      } else if (isa<arith::SelectOp, memref::ExtractStridedMetadataOp>(op)) {
        BufferObjects either;
        for (Value operand : op->getOperands())
          if (isBuffer(operand))
            either.add(state.of(operand));
        state.set(result, std::move(either));
      } else {
        state.set(result, BufferObjects::unknown());
      }
    }
  }

  void regions(RegionBranchOpInterface op, BufferState &state) {
    llvm::MapVector<Region *, BufferState> at;
    std::optional<BufferState> after;
    SmallVector<Region *> work;
    auto enter = [&](Operation *from, BufferState passed, RegionSuccessor to, OperandRange operands) {
      SmallVector<std::pair<Value, Value>> pairs;
      for (auto [operand, input] : llvm::zip(operands, to.getSuccessorInputs()))
        pairs.push_back({operand, input});
      pass(from, pairs, passed);
      if (to.isParent()) {
        if (after)
          after->join(passed);
        else
          after = std::move(passed);
        return;
      }
      Region *region = to.getSuccessor();
      auto known = at.find(region);
      bool changed = known == at.end() || known->second.join(passed);
      if (known == at.end())
        at.insert({region, std::move(passed)});
      if (changed && !llvm::is_contained(work, region))
        work.push_back(region);
    };
    SmallVector<RegionSuccessor> first;
    op.getSuccessorRegions(RegionBranchPoint::parent(), first);
    for (RegionSuccessor successor : first)
      enter(op, state, successor, op.getEntrySuccessorOperands(successor));
    while (!work.empty()) {
      Region *next = work.pop_back_val();
      if (next->empty())
        continue;
      region(*next, at.find(next)->second, [&](Operation *end, BufferState &left) {
        auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(end);
        if (!terminator)
          return;
        SmallVector<RegionSuccessor> successors;
        terminator.getSuccessorRegions(SmallVector<Attribute>(end->getNumOperands()), successors);
        for (RegionSuccessor successor : successors)
          enter(end, left, successor, terminator.getSuccessorOperands(successor));
      });
    }
    if (after)
      state = std::move(*after);
    for (Value result : op->getResults())
      if (isBuffer(result) && !state.objects.count(result.getAsOpaquePointer()))
        state.set(result, BufferObjects::unknown());
  }

  void finished(FinishOp finish, BufferState &state) {
    auto found = state.flights.find(finish.getToken());
    if (found == state.flights.end()) // F5
      return findings.add(
          finish, "token, expected a collective in flight, got one that is finished already, or comes from a caller");
    Flight flight = std::move(found->second);
    state.flights.erase(found);
    if (!flight.everywhere)
      findings.add(finish, flight,
                   "token, expected a collective in flight on every path to here, got one only on some");
    for (auto [index, init] : llvm::enumerate(finish.getInits())) // F4
      if (!state.of(init).mayBe(flight.written))
        findings.add(finish, flight, "destination " + Twine(index) + ", expected the buffer of the launch");
    for (auto [index, input] : llvm::enumerate(finish.getInputs()))
      if (!state.of(input).mayBe(flight.read))
        findings.add(finish, flight, "input " + Twine(index) + ", expected the buffer of the launch");
    inspect(finish, state); // what else is in flight
  }

  void misused(Operation *op, Value token, BufferState &state) {
    auto found = state.flights.find(token);
    if (found == state.flights.end())
      return;
    findings.add(op, found->second, "token, expected to be finished, or passed on by loops and branches");
    state.flights.erase(found);
  }

  /// Compares what an operation does with what is in flight.
  void inspect(Operation *op, BufferState &state) {
    if (state.flights.empty())
      return;
    if (auto call = dyn_cast<func::CallOp>(op); call && call.getCallee() == "braid_module_mark")
      return; // reads the clock
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects) {
      if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || op->hasTrait<OpTrait::IsTerminator>() ||
          isa<RegionBranchOpInterface>(op))
        return; // what it holds is inspected; what it passes on is followed
      for (auto &[token, flight] : state.flights) {
        bool given = llvm::any_of(op->getOperands(), [&](Value operand) {
          return isBuffer(operand) && (state.of(operand).mayBe(flight.read) || state.of(operand).mayBe(flight.written));
        });
        if (given || isReachable(flight.read) || isReachable(flight.written)) // F3
          findings.add(op, flight, "buffer in flight, expected no operation of unknown effects to get it");
      }
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    for (MemoryEffects::EffectInstance &effect : instances) {
      if (isa<MemoryEffects::Allocate>(effect.getEffect()) ||
          effect.getResource() != SideEffects::DefaultResource::get())
        continue;
      if (Value memory = effect.getValue()) {
        if (!isa<TensorType, TokenType>(memory.getType())) // a pointer that is no buffer may be any
          inspect(op, effect, memory, state);
        continue;
      }
      for (Value operand : op->getOperands()) // it does not say which
        if (isBuffer(operand))
          inspect(op, effect, operand, state);
    }
  }

  void inspect(Operation *op, MemoryEffects::EffectInstance &effect, Value buffer, BufferState &state) {
    BufferObjects touched = state.of(buffer);
    bool reads = isa<MemoryEffects::Read>(effect.getEffect());
    StringRef verb = reads ? "read" : isa<MemoryEffects::Write>(effect.getEffect()) ? "write" : "free";
    bool frees = isa<MemoryEffects::Free>(effect.getEffect());
    for (auto &[token, flight] : state.flights) {
      // Deallocation asks at run time who owns a buffer; where it may be one of several, so does the runtime (F6).
      if (frees && !flight.mustHold(touched))
        continue;
      if (touched.mayBe(flight.written)) // F2
        findings.add(op, flight, "buffer in flight, expected nobody to " + verb + " what the collective writes");
      else if (!reads && touched.mayBe(flight.read)) // F1
        findings.add(op, flight, "buffer in flight, expected nobody to " + verb + " what the collective reads");
    }
  }

  /// Whether a function that is called may reach it without being given it.
  bool isReachable(const BufferObjects &objects) {
    return llvm::any_of(objects, [&](const BufferObject &object) {
      return object.isUnknown() || object.name == outside || globals.contains(object.name);
    });
  }

  Findings &findings;
  const void *outside =
      nullptr; ///< the name of all memory that comes from a caller; null: callers are known to be careful
  llvm::SmallPtrSet<const void *, 4> globals;
};

struct VerifyInFlight : public impl::BraidVerifyInFlightBase<VerifyInFlight> {
  void runOnOperation() override {
    Findings findings;
    getOperation()->walk([&](FunctionOpInterface function) {
      bool launches = function->walk([](LaunchOp) { return WalkResult::interrupt(); }).wasInterrupted() ||
                      function->walk([](FinishOp) { return WalkResult::interrupt(); }).wasInterrupted();
      if (launches)
        Follower(findings).follow(function);
    });
    if (findings.report())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace mlir::braid
