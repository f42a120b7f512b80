//===- ModuleFacts.cpp - classes of operations ------------------------------------------------------------------===//
#include "analysis/ModuleFacts.h"

#include "analysis/LoopTrips.h"
#include "braid/dialect/BraidOps.h"
#include "braid/passes/StablehloOp.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::braid {

ModuleFacts::ModuleFacts(ModuleOp module) : module(module), symbols(module) {
  SmallVector<Operation *> work;
  module->walk([&](Operation *op) {
    if (isa<CollectiveOpInterface, StartOp, WaitOp>(op))
      work.push_back(op);
    if (FunctionOpInterface callee = calleeOf(op))
      callers[callee].push_back(op);
    for (FunctionOpInterface callee : computationsOf(op))
      callers[callee].push_back(op);
  });
  // From each collective outwards: the operations around it, and the calls of the function it is in.
  while (!work.empty()) {
    for (Operation *op = work.pop_back_val(); op && op != module.getOperation(); op = op->getParentOp()) {
      if (!communicating.insert(op).second)
        break;
      if (auto it = callers.find(op); it != callers.end())
        work.append(it->second.begin(), it->second.end());
    }
  }
}

FunctionOpInterface ModuleFacts::calleeOf(Operation *op) const {
  SymbolRefAttr name;
  if (auto call = dyn_cast<CallOpInterface>(op))
    name = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
  else if (!op->isRegistered() && factsOf(op).call)
    name = getSourceAttr<SymbolRefAttr>(op, "decomposition");
  if (!name)
    return {};
  return symbols.lookup<FunctionOpInterface>(name.getRootReference());
}

SmallVector<FunctionOpInterface> ModuleFacts::computationsOf(Operation *op) const {
  SmallVector<FunctionOpInterface> functions;
  if (op->getName().stripDialect() != "custom_call")
    return functions;
  if (auto names = getSourceAttr<ArrayAttr>(op, "called_computations"))
    for (auto name : names.getAsRange<SymbolRefAttr>())
      if (auto function = symbols.lookup<FunctionOpInterface>(name.getRootReference()))
        functions.push_back(function);
  return functions;
}

bool ModuleFacts::fusesWhole(FunctionOpInterface function) {
  auto [it, inserted] = fusesWholeMemo.try_emplace(function, false); // false also ends a recursion
  if (!inserted || function.isExternal() || !llvm::hasSingleElement(function.getFunctionBody()))
    return fusesWholeMemo.lookup(function);
  bool fuses = true;
  for (Operation &op : bodyOf(function.getFunctionBody().front())) {
    OpClass kind = classify(&op);
    fuses &= kind == OpClass::Free || kind == OpClass::Fusible;
  }
  return fusesWholeMemo[function] = fuses;
}

bool ModuleFacts::effectFree(Operation *root) {
  auto [it, inserted] = effectFreeMemo.try_emplace(root, false);
  if (!inserted)
    return it->second;
  bool free = !root->walk([&](Operation *op) {
                     if (communicates(op))
                       return WalkResult::interrupt();
                     OpFacts facts = factsOf(op);
                     if (facts.call) {
                       FunctionOpInterface callee = calleeOf(op);
                       return callee && !callee.isExternal() && effectFree(callee) ? WalkResult::advance()
                                                                                   : WalkResult::interrupt();
                     }
                     for (FunctionOpInterface called : computationsOf(op))
                       if (called.isExternal() || !effectFree(called))
                         return WalkResult::interrupt();
                     bool harmless = facts.known && !facts.barrier;
                     return harmless || op == root ? WalkResult::advance() : WalkResult::interrupt();
                   })
                   .wasInterrupted();
  if (!isa<FunctionOpInterface>(root)) {
    OpFacts facts = factsOf(root);
    free &= facts.known && !facts.barrier;
  }
  return effectFreeMemo[root] = free;
}

bool ModuleFacts::stopsCollectives(Operation *op) {
  OpClass kind = classify(op);
  if (kind != OpClass::Nested)
    return kind == OpClass::Barrier;
  auto [it, inserted] = stopsMemo.try_emplace(op, false);
  if (!inserted)
    return it->second;
  FunctionOpInterface callee = calleeOf(op);
  bool stops = false;
  for (Region &region : (callee ? callee.getOperation() : op)->getRegions())
    for (Block &block : region)
      for (Operation &inner : bodyOf(block))
        stops |= stopsCollectives(&inner);
  return stopsMemo[op] = stops;
}

OpClass ModuleFacts::barrier(Operation *op, StringRef reason) {
  reasons[op] = reason;
  return OpClass::Barrier;
}

OpClass ModuleFacts::classify(Operation *op) {
  if (auto it = classes.find(op); it != classes.end())
    return it->second;
  OpClass kind = compute(op);
  classes[op] = kind;
  return kind;
}

OpClass ModuleFacts::compute(Operation *op) {
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    if (!isPlannable(collective.getCollectiveKind()))
      return barrier(op, "it is a rooted collective, a message or a barrier, which no planner moves");
    if (!collective.getOperandBytes())
      return barrier(op, "its size is dynamic and no braid.size_hint says how many bytes it has");
    return OpClass::Collective;
  }
  if (isa<StartOp, WaitOp>(op))
    return barrier(op, "it is already asynchronous");
  OpFacts facts = factsOf(op);
  if (communicates(op)) {
    if (!computationsOf(op).empty())
      return barrier(op, "it communicates in a function that it names");
    for (Region &region : op->getRegions())
      if (!region.empty() && !llvm::hasSingleElement(region))
        return barrier(op, "it communicates in a region of several blocks");
    if (isLoop(op))
      for (Region &region : op->getRegions().drop_back())
        for (Operation &inner : region.getOps())
          if (communicates(&inner))
            return barrier(op, "it communicates in the condition of a loop");
    if (FunctionOpInterface callee = calleeOf(op))
      return llvm::hasSingleElement(callee.getFunctionBody())
                 ? OpClass::Nested
                 : barrier(op, "it calls a function of several blocks that communicates");
    return facts.known ? OpClass::Nested : barrier(op, "it communicates inside an operation that is not known");
  }
  if (!facts.known)
    return barrier(op, "unknown operation");
  if (facts.barrier)
    return barrier(op, "it has effects");
  for (FunctionOpInterface called : computationsOf(op))
    if (called.isExternal() || !effectFree(called))
      return barrier(op, "a function that it names has effects");
  if (facts.call) {
    FunctionOpInterface callee = calleeOf(op);
    if (!callee || callee.isExternal())
      return barrier(op, "the function it calls is not in the module");
    if (!effectFree(callee))
      return barrier(op, "the function it calls has effects");
  } else if (op->getNumRegions() && !effectFree(op)) {
    return barrier(op, "it has effects in a region");
  }
  bool fusible = facts.fusible || (facts.call && fusesWhole(calleeOf(op)));
  bool cheap = facts.cheap || fusible;
  if (facts.orders || !cheap)
    return OpClass::Kernel;
  // Made from constants only: each reader recomputes it, as compilers do.
  bool fromConstants = llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *source = operand.getDefiningOp();
    return source && source->getBlock() == op->getBlock() && classify(source) == OpClass::Free;
  });
  if (fromConstants)
    return OpClass::Free;
  return fusible ? OpClass::Fusible : OpClass::Kernel;
}

FunctionOpInterface ModuleFacts::main() const { return symbols.lookup<FunctionOpInterface>("main"); }

SmallVector<FunctionOpInterface> ModuleFacts::communicatingRoots() const {
  SmallVector<FunctionOpInterface> roots;
  for (Operation &op : *ModuleOp(module).getBody())
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      if (communicates(function) && !callers.contains(function))
        roots.push_back(function);
  return roots;
}

llvm::iterator_range<Block::iterator> bodyOf(Block &block) {
  auto end = block.end();
  if (!block.empty() && (block.back().hasTrait<OpTrait::IsTerminator>() || factsOf(&block.back()).terminator))
    --end;
  return {block.begin(), end};
}

//===- locations ------------------------------------------------------------------------------------------------===//

static void collectKeys(Location location, SmallVectorImpl<std::string> &files, SmallVectorImpl<std::string> &names) {
  if (auto file = dyn_cast<FileLineColLoc>(location)) {
    files.push_back(
        (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str());
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    collectKeys(name.getChildLoc(), files, names);
    names.push_back(name.getName().str());
  } else if (auto site = dyn_cast<CallSiteLoc>(location)) {
    collectKeys(site.getCallee(), files, names);
    collectKeys(site.getCaller(), files, names);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      collectKeys(part, files, names);
  } else if (auto opaque = dyn_cast<OpaqueLoc>(location)) {
    collectKeys(opaque.getFallbackLocation(), files, names);
  }
}

SmallVector<std::string> locationKeys(Location location) {
  SmallVector<std::string> files, names;
  collectKeys(location, files, names);
  files.append(names);
  return files;
}

Location placeOf(ModuleOp module) {
  auto place = module.getLoc()->findInstanceOf<FileLineColLoc>();
  return place && place.getLine() == 0 && !module.getBody()->empty() ? module.getBody()->front().getLoc()
                                                                     : module.getLoc();
}

std::string locationText(Location location) {
  SmallVector<std::string> keys = locationKeys(location);
  return keys.empty() ? "unknown location" : keys.front();
}

} // namespace mlir::braid
