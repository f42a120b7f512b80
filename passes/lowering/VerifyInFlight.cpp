//===- VerifyInFlight.cpp - nobody touches a buffer in flight ---------------------------------------------------===//
//
// Follows every path of a function with a BufferState: what memory each buffer may be, and which memory is in flight. Loops
// are followed until nothing new is learned, calls into the function that they call, each with the buffers that it gives.
// What can't be told apart counts as the same.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/passes/Passes.h"
#include "lowering/Findings.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <map>

namespace mlir::braid {

#define GEN_PASS_DEF_BRAIDVERIFYINFLIGHT
#include "braid/passes/Passes.h.inc"

namespace {

bool isBuffer(Value value) { return isa<BaseMemRefType>(value.getType()); }
bool isToken(Value value) { return isa<TokenType>(value.getType()); }

class Follower {
public:
  explicit Follower(Findings &findings) : findings(findings) {}

  /// A function as somebody outside of the module calls it. `careful`: with buffers of their own, as the interface of
  /// public functions asks; else arguments may be one another, and globals.
  void follow(FunctionOpInterface function, bool careful) {
    outside = careful ? nullptr : function.getOperation();
    stack = {function};
    followed.insert(function);
    const int callsBefore = calls;
    size_t known;
    do { // what is kept in memory is kept on all paths, also on those that were followed before
      known = kept.size();
      learned.clear();
      calls = callsBefore;
      BufferState state;
      for (Value argument : function.getArguments())
        if (isBuffer(argument))
          state.set(argument, BufferObject{outside ? outside : argument.getAsOpaquePointer()});
      region(function.getFunctionBody(), std::move(state), [&](Operation *end, BufferState &after) {
        for (auto &[token, flight] : after.flights)
          findings.add(end, flight, "collective in flight, expected it to be finished before the function ends");
      });
    } while (kept.size() != known);
  }

  /// Functions that were followed, from outside or by a call.
  llvm::DenseSet<Operation *> followed;

private:
  /// What is known of a loop, a branch or a call on one path of calls. It stays when the loop around it goes round again, and is
  /// followed again only where more can happen than before: else loops in loops would take trips to the power of their depth.
  struct Learned {
    llvm::MapVector<Region *, BufferState> at; ///< where a region begins
    std::optional<BufferState> after;          ///< where the operation ends; none: it doesn't

    /// Whether the region has to be followed, again.
    bool enter(Region *region, BufferState state) {
      auto known = at.find(region);
      if (known != at.end())
        return known->second.join(state);
      at.insert({region, std::move(state)});
      return true;
    }
    void leave(BufferState state) {
      if (after)
        after->join(state);
      else
        after = std::move(state);
    }
  };

  using AtEnd = llvm::function_ref<void(Operation *terminator, BufferState &state)>;

  /// Follows all blocks; `atEnd` gets each terminator that leaves the region, perhaps several times.
  void region(Region &region, BufferState entry, AtEnd atEnd) {
    loops += !region.hasOneBlock();
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
    loops -= !region.hasOneBlock();
  }

  /// Values that become arguments or results: at once, since they may trade places.
  void pass(Operation *op, ArrayRef<std::pair<Value, Value>> pairs, BufferState &state) {
    SmallVector<std::pair<Value, Value>> buffers;
    std::vector<std::pair<Value, Flight>> flights;
    for (auto [from, to] : pairs)
      if (isBuffer(to) || state.knows(from))
        buffers.push_back({from, to});
    state.pass(buffers);
    for (auto [from, to] : pairs) {
      if (!isToken(to))
        continue;
      auto flight = state.flights.find(from);
      if (flight != state.flights.end()) {
        flights.push_back({to, flight->second});
        state.flights.erase(flight);
      }
    }
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
    if (FunctionOpInterface callee = calleeOf(op))
      return call(op, callee, state);
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
        results(inner, state);
      });
    for (Value operand : op->getOperands())
      if (isToken(operand))
        misused(op, operand, state);
    stored(op, state);
    results(op, state);
  }

  /// Operations of a function that is called, or of one that is not, are different: a name for each.
  const void *named(Operation *op) {
    if (!findings.path)
      return op;
    std::unique_ptr<char> &name = names[{findings.path, op}];
    if (!name)
      name = std::make_unique<char>();
    return name.get();
  }

  /// The function that a call leads into; null: none whose body is here, or one that is being followed already.
  FunctionOpInterface calleeOf(Operation *op) {
    auto call = dyn_cast<CallOpInterface>(op);
    auto callee = call ? dyn_cast_or_null<FunctionOpInterface>(call.resolveCallableInTable(&symbols)) : nullptr;
    return callee && !callee.isExternal() && !llvm::is_contained(stack, callee) ? callee : nullptr;
  }

  void call(Operation *op, FunctionOpInterface callee, BufferState &state) {
    Learned &known = learned[{op, findings.path}];
    if (known.at.empty() && ++calls > mostCalls)
      return findings.add(op, "calls, expected at most " + Twine(mostCalls) +
                                  " on all paths together, got more: inline functions that communicate");
    for (Value operand : op->getOperands())
      if (isToken(operand))
        misused(op, operand, state);
    SmallVector<std::pair<Value, Value>> given;
    for (auto [operand, argument] : llvm::zip(op->getOperands(), callee.getArguments()))
      given.push_back({operand, argument});
    const void *before = findings.path;
    findings.path = named(op);
    stack.push_back(callee);
    followed.insert(callee);
    BufferState entry = state;
    pass(op, given, entry);
    Region &body = callee.getFunctionBody();
    if (known.enter(&body, std::move(entry))) {
      llvm::SmallDenseSet<Value> ours;
      for (auto &[token, flight] : known.at[&body].flights)
        ours.insert(token);
      region(body, known.at[&body], [&](Operation *end, BufferState &left) {
        BufferState back = left;
        back.flights.remove_if([&](auto &each) {
          if (ours.contains(each.first))
            return false;
          findings.add(end, each.second, "collective in flight, expected it to be finished before the function ends");
          return true;
        });
        SmallVector<std::pair<Value, Value>> returned;
        for (auto [operand, result] : llvm::zip(end->getOperands(), op->getResults()))
          returned.push_back({operand, result});
        pass(end, returned, back);
        back.leave(state, op->getResults());
        known.leave(std::move(back));
      });
    }
    stack.pop_back();
    findings.path = before;
    resume(op, known, state);
  }

  /// Goes on behind a loop, a branch or a call.
  void resume(Operation *op, Learned &known, BufferState &state) {
    if (known.after)
      state = *known.after;
    if (loops == 0) // nobody comes back
      learned.erase({op, findings.path});
  }

  /// What the buffers are that an operation gives. A tensor is followed if it stands for a buffer (to_tensor).
  void results(Operation *op, BufferState &state) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    bool isFree = isMemoryEffectFree(op) || isa<bufferization::ToTensorOp, bufferization::ToBufferOp>(op);
    for (auto [index, result] : llvm::enumerate(op->getResults())) {
      if (!isBuffer(result) && !isa<TensorType>(result.getType()))
        continue;
      if (effects && effects.getEffectOnValue<MemoryEffects::Allocate>(result)) {
        const void *name = named(op);
        if (isa<memref::AllocaOp>(op))
          scopes[name] = op->getParentWithTrait<OpTrait::AutomaticAllocationScope>();
        state.allocate(result, name);
        continue;
      }
      if (auto global = dyn_cast<memref::GetGlobalOp>(op)) {
        const void *name = outside ? outside : global.getNameAttr().getAttr().getAsOpaquePointer();
        globals.insert(name);
        state.set(result, BufferObject{name});
        continue;
      }
      SmallVector<Buffer> sources; // the buffers that it is made from
      for (Value operand : op->getOperands())
        if (isFree && (isBuffer(operand) || state.knows(operand)))
          if (!isa<memref::DistinctObjectsOp>(op) || op->getOperand(index) == operand)
            sources.push_back(state.of(operand));
      if (sources.size() == 1)
        state.set(result, sources.front().objects, sources.front().identity);
      else if (!sources.empty())
        state.setEither(result, sources);
      else if (isBuffer(result))
        state.set(result, BufferObjects::unknown());
    }
  }

  /// A buffer that is put into another one may come out of it anywhere.
  void stored(Operation *op, BufferState &state) {
    for (Value holder : op->getOperands()) {
      auto type = dyn_cast<BaseMemRefType>(holder.getType());
      if (!type || !isa<BaseMemRefType>(type.getElementType()))
        continue;
      for (Value buffer : op->getOperands())
        if (buffer.getType() == type.getElementType())
          for (const BufferObject &object : state.of(buffer).objects)
            kept.insert(object.name);
    }
  }

  /// Memory of an alloca ends with the operation around it, at each of its ends.
  void scopeEnds(Operation *scope, Operation *end, BufferState &state) {
    for (auto &[token, flight] : state.flights)
      for (const Buffer &buffer : llvm::concat<Buffer>(flight.read, flight.written))
        if (llvm::any_of(buffer.objects, [&](const BufferObject &object) {
              auto known = scopes.find(object.name);
              return known != scopes.end() && known->second == scope;
            }))
          findings.add(
              end, flight,
              "buffer in flight, expected memory that outlives the collective, got a memref.alloca that ends here");
  }

  void regions(RegionBranchOpInterface op, BufferState &state) {
    Learned &known = learned[{op, findings.path}];
    loops += op.hasLoop();
    SmallVector<Region *> work;
    auto enter = [&](Operation *from, BufferState passed, RegionSuccessor to, OperandRange operands) {
      SmallVector<std::pair<Value, Value>> pairs;
      for (auto [operand, input] : llvm::zip(operands, to.getSuccessorInputs()))
        pairs.push_back({operand, input});
      pass(from, pairs, passed);
      passed.leave(state, to.getSuccessorInputs());
      if (to.isParent())
        known.leave(std::move(passed));
      else if (known.enter(to.getSuccessor(), std::move(passed)) && !llvm::is_contained(work, to.getSuccessor()))
        work.push_back(to.getSuccessor());
    };
    SmallVector<RegionSuccessor> first;
    op.getSuccessorRegions(RegionBranchPoint::parent(), first);
    for (RegionSuccessor successor : first)
      enter(op, state, successor, op.getEntrySuccessorOperands(successor));
    while (!work.empty()) {
      Region *next = work.pop_back_val();
      if (next->empty())
        continue;
      region(*next, known.at.find(next)->second, [&](Operation *end, BufferState &left) {
        auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(end);
        if (!terminator)
          return;
        if (op->hasTrait<OpTrait::AutomaticAllocationScope>())
          scopeEnds(op, end, left);
        SmallVector<RegionSuccessor> successors;
        terminator.getSuccessorRegions(SmallVector<Attribute>(end->getNumOperands()), successors);
        for (RegionSuccessor successor : successors)
          enter(end, left, successor, terminator.getSuccessorOperands(successor));
      });
    }
    loops -= op.hasLoop();
    resume(op, known, state);
    for (Value result : op->getResults())
      if (isBuffer(result) && !state.knows(result))
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
      if (!state.mayBe(state.of(init), flight.written))
        findings.add(finish, flight, "destination " + Twine(index) + ", expected the buffer of the launch");
    for (auto [index, input] : llvm::enumerate(finish.getInputs()))
      if (!state.mayBe(state.of(input), flight.read))
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
    if (!op->hasTrait<OpTrait::IsTerminator>() && !isa<RegionBranchOpInterface>(op))
      for (Value operand : op->getOperands())
        if (isa<TensorType>(operand.getType()) && state.knows(operand))
          for (auto &[token, flight] : state.flights)
            if (state.mayBe(state.of(operand), flight.written)) // F2
              findings.add(op, flight, "buffer in flight, expected nobody to read what the collective writes");
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects) {
      if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || op->hasTrait<OpTrait::IsTerminator>() ||
          isa<RegionBranchOpInterface>(op))
        return; // what it holds is inspected; what it passes on is followed
      for (auto &each : state.flights) {
        const Flight &flight = each.second;
        bool given = llvm::any_of(op->getOperands(), [&](Value operand) {
          Buffer buffer = isBuffer(operand) ? state.of(operand) : behind(operand, state);
          return state.mayBe(buffer, flight.read) || state.mayBe(buffer, flight.written);
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
        if (memory.getDefiningOp() == op && effects.getEffectOnValue<MemoryEffects::Allocate>(memory))
          continue;                                        // its own, new
        if (!isa<TensorType, TokenType>(memory.getType())) // a pointer that is no buffer may be any
          inspect(op, effect, state.of(memory), state);
        continue;
      }
      for (Value operand : op->getOperands()) // it does not say which
        inspect(op, effect, isBuffer(operand) ? state.of(operand) : behind(operand, state), state);
    }
  }

  /// The buffers whose address a number or a pointer is computed from.
  Buffer behind(Value value, BufferState &state) {
    BufferObjects objects;
    SmallVector<Value> work = {value};
    llvm::SmallPtrSet<Value, 8> seen;
    while (!work.empty()) {
      Value next = work.pop_back_val();
      Operation *op = next.getDefiningOp();
      if (!op || !seen.insert(next).second || !isMemoryEffectFree(op))
        continue;
      bool takes = isa<memref::ExtractAlignedPointerAsIndexOp, UnrealizedConversionCastOp>(op);
      for (Value operand : op->getOperands())
        if (!isBuffer(operand))
          work.push_back(operand);
        else if (takes)
          objects.add(state.of(operand).objects);
    }
    return {objects, nullptr};
  }

  void inspect(Operation *op, MemoryEffects::EffectInstance &effect, const Buffer &touched, BufferState &state) {
    bool reads = isa<MemoryEffects::Read>(effect.getEffect());
    StringRef verb = reads ? "read" : isa<MemoryEffects::Write>(effect.getEffect()) ? "write" : "free";
    bool frees = isa<MemoryEffects::Free>(effect.getEffect());
    for (auto &[token, flight] : state.flights) {
      // Deallocation asks at run time who owns a buffer, and so does the runtime, where it may be one of several (F6).
      if (frees && (!flight.mustHold(touched.objects) || isAskedFirst(op)))
        continue;
      if (state.mayBe(touched, flight.written)) // F2
        findings.add(op, flight, "buffer in flight, expected nobody to " + verb + " what the collective writes");
      else if (!reads && state.mayBe(touched, flight.read)) // F1
        findings.add(op, flight, "buffer in flight, expected nobody to " + verb + " what the collective reads");
    }
  }

  /// Whether an operation depends on what deallocation has found out: addresses compared here, or in a table that it fills.
  static bool isAskedFirst(Operation *op) {
    auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
    SmallVector<Value> work;
    if (branch)
      work.push_back(branch.getCondition());
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (!work.empty()) {
      Operation *from = work.pop_back_val().getDefiningOp();
      if (!from || !seen.insert(from).second)
        continue;
      if (isa<memref::ExtractAlignedPointerAsIndexOp, memref::LoadOp>(from))
        return true;
      if (isMemoryEffectFree(from))
        llvm::append_range(work, from->getOperands());
    }
    return false;
  }

  /// Whether a function that is called may reach it without being given it.
  bool isReachable(ArrayRef<Buffer> buffers) {
    return llvm::any_of(buffers, [&](const Buffer &buffer) {
      return llvm::any_of(buffer.objects, [&](const BufferObject &object) {
        return object.isUnknown() || object.name == outside || globals.contains(object.name) ||
               kept.contains(object.name);
      });
    });
  }

  static constexpr int mostCalls = 20000;

  Findings &findings;
  SymbolTableCollection symbols;
  std::map<std::pair<Operation *, const void *>, Learned> learned; ///< by operation and path of calls
  int loops = 0;                                                   ///< around what is followed now
  SmallVector<FunctionOpInterface> stack; ///< the function that is followed, and the calls that led to it
  int calls = 0;
  std::map<std::pair<const void *, Operation *>, std::unique_ptr<char>> names;
  /// The name of all memory that comes from a caller; null: callers are known to be careful.
  const void *outside = nullptr;
  llvm::SmallPtrSet<const void *, 4> globals;
  llvm::SmallPtrSet<const void *, 4> kept;          ///< memory that was put into memory
  llvm::DenseMap<const void *, Operation *> scopes; ///< what memory of an alloca ends with
};

struct VerifyInFlight : public impl::BraidVerifyInFlightBase<VerifyInFlight> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    markAllAnalysesPreserved();
    auto isPart = [](Operation *op) {
      return isa<LaunchOp, FinishOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
    };
    if (!module.walk(isPart).wasInterrupted())
      return;
    // From outside: public functions, those that somebody has the address of, and then what nobody calls.
    Findings findings;
    Follower follower(findings);
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, module);
    SmallVector<FunctionOpInterface> inner;
    module.walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      bool isAddressed =
          llvm::any_of(users.getUsers(function), [](Operation *user) { return !isa<CallOpInterface>(user); });
      if (function.isPublic() || isAddressed)
        follower.follow(function, /*careful=*/!isAddressed);
      else
        inner.push_back(function);
    });
    for (FunctionOpInterface function : inner)
      if (!follower.followed.contains(function)) // dead, but what is in it is looked at
        follower.follow(function, /*careful=*/true);
    if (findings.report())
      signalPassFailure();
  }
};

} // namespace
} // namespace mlir::braid
