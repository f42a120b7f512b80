//===- VerifyPlan.cpp - checks a planned module -----------------------------------------------------------------===//
#include "analysis/VerifyPlan.h"

#include "analysis/IssueOrder.h"
#include "analysis/ModuleFacts.h"
#include "analysis/RankSets.h"
#include "analysis/Remarks.h"
#include "analysis/SourceShape.h"
#include "braid/passes/Fingerprint.h"
#include "braid/passes/StablehloOp.h"
#include "lowering/Incoming.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::braid {

namespace {

class PlanVerifier {
public:
  PlanVerifier(ModuleOp module, StringRef clusterHash, StalePolicy stale, StringRef category)
      : module(module), symbols(module), clusterHash(clusterHash), stale(stale), category(category),
        sets(readModuleRanks(module)) {
    certificate = module->getAttrOfType<DictionaryAttr>(BraidDialect::getCertificateAttrName());
    if (certificate)
      if (auto hash = certificate.getAs<StringAttr>("cluster_hash"))
        madeFor = hash.getValue();
    if (this->clusterHash.empty())
      this->clusterHash = madeFor;
    if (certificate)
      if (auto count = certificate.getAs<IntegerAttr>("in_flight"))
        inFlight = count.getInt();
  }

  LogicalResult verify() {
    SmallVector<Block *> blocks;
    module->walk([&](Operation *op) {
      if (auto collective = dyn_cast<CollectiveOpInterface>(op))
        verifyFresh(collective);
      if (auto start = dyn_cast<StartOp>(op))
        verifyPair(start);
    });
    module->walk([&](Block *block) { verifyFlight(*block); });
    verifyOrder();
    return success(!broken);
  }

private:
  InFlightDiagnostic error(Operation *op, StringRef rule) {
    broken = true;
    // On a module only the place is printed, not all of it.
    InFlightDiagnostic diagnostic = op == module ? emitError(placeOf(module)) : op->emitError();
    return std::move(diagnostic << "plan rule " << rule << ": ");
  }

  bool planned(StartOp start) {
    CollectiveOpInterface collective = start.getCollective();
    return collective && collective.getPlanAttr();
  }

  // V1
  void verifyFresh(CollectiveOpInterface op) {
    if (!op.getPlanAttr())
      return;
    if (clusterHash.empty()) {
      if (!saidNoCluster)
        remarkAnalysis(op->getLoc(), category, "no-cluster",
                       "fingerprints are not checked: no cluster was given and there is no certificate");
      saidNoCluster = true;
      return;
    }
    std::string expected = planFingerprint(op, clusterHash);
    if (op.getPlanAttr().getFingerprint() == expected)
      return;
    StringRef got = op.getPlanAttr().getFingerprint();
    bool elsewhere = planFingerprint(op, madeFor) == got; // nothing but the cluster differs
    std::string text = "the plan is stale, " +
                       std::string(elsewhere ? "it was made for another cluster"
                                             : "it was made for other bytes, types or groups, or another cluster") +
                       "; plan again (braid-plan); expected fingerprint " + expected + ", got '" + got.str() + "'";
    if (stale == StalePolicy::Error)
      error(op, "V1") << text;
    else
      op->emitRemark("plan rule V1: ") << text;
  }

  // V2
  void verifyPair(StartOp start) {
    if (!planned(start))
      return;
    WaitOp wait;
    for (Operation *user : start.getToken().getUsers()) {
      if (carriesTokens(user)) // in the hands of BraidToDestination, and then of BraidVerifyInFlight
        return;
      auto found = dyn_cast<WaitOp>(user);
      if (!found || wait || found->getBlock() != start->getBlock()) {
        error(start, "V2") << "the token, expected one braid.wait in the same block, got another use";
        return;
      }
      wait = found;
    }
    if (!wait)
      error(start, "V2") << "the token, expected one braid.wait, got none";
    else if (!llvm::equal(wait.getInputs(), start.getOperands()))
      error(start, "V2") << "operands of start and wait, expected the same, got different ones";
  }

  /// A loop that hands tokens on, or what ends a trip of one.
  static bool carriesTokens(Operation *op) {
    Operation *loop = op->hasTrait<OpTrait::IsTerminator>() ? op->getParentOp() : op;
    return isa<scf::ForOp, scf::WhileOp>(loop) && llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TokenType>);
  }

  /// The planned starts whose token this may be: one, or all that a loop hands on in its place.
  void startsOf(Value token, SmallVectorImpl<StartOp> &starts) {
    llvm::SetVector<Value> reached;
    reached.insert(token);
    for (size_t index = 0; index < reached.size(); ++index) {
      Value value = reached[index];
      if (auto start = value.getDefiningOp<StartOp>()) {
        if (planned(start) && !llvm::is_contained(starts, start))
          starts.push_back(start);
        continue;
      }
      Operation *from = isa<BlockArgument>(value) ? value.getParentBlock()->getParentOp() : value.getDefiningOp();
      if (auto branch = dyn_cast_or_null<RegionBranchOpInterface>(from))
        for (Value incoming : incomingValues(branch, value))
          reached.insert(incoming);
    }
  }
  /// What is in flight where these values are, one start for each token.
  void addTokens(ValueRange values, SmallVectorImpl<StartOp> &flight) {
    for (Value value : values)
      if (isa<TokenType>(value.getType())) {
        SmallVector<StartOp> own;
        startsOf(value, own);
        if (!own.empty())
          flight.push_back(own.front());
      }
  }
  void removeTokens(ValueRange values, SmallVectorImpl<StartOp> &flight) {
    for (Value value : values)
      if (isa<TokenType>(value.getType())) {
        SmallVector<StartOp> own;
        startsOf(value, own);
        if (!own.empty())
          llvm::erase(flight, own.front());
      }
  }

  /// What runs where an operation is, in its regions and in the functions that it names.
  struct Inside {
    bool communicates = false, effects = false;
  };

  void addFunction(Inside &inside, SymbolRefAttr symbol) {
    auto callee = symbol ? symbols.lookup<FunctionOpInterface>(symbol.getRootReference()) : FunctionOpInterface();
    if (!callee || callee.isExternal()) {
      inside.effects = true;
      return;
    }
    auto [it, inserted] = functions.try_emplace(callee);
    if (inserted) {
      Inside found;
      for (Operation &op : callee.getFunctionBody().getOps())
        add(found, &op);
      functions[callee] = found;
    }
    Inside found = functions.lookup(callee);
    inside.communicates |= found.communicates;
    inside.effects |= found.effects;
  }

  void add(Inside &inside, Operation *op) {
    if (isa<CollectiveOpInterface, StartOp, WaitOp>(op)) {
      inside.communicates = true;
      return;
    }
    OpFacts facts = factsOf(op);
    if (auto call = dyn_cast<CallOpInterface>(op))
      addFunction(inside, dyn_cast<SymbolRefAttr>(call.getCallableForCallee()));
    else if (facts.call)
      addFunction(inside, getSourceAttr<SymbolRefAttr>(op, "decomposition"));
    else if (!facts.terminator)
      inside.effects |= !facts.known || facts.barrier;
    if (!op->isRegistered())
      if (auto names = getSourceAttr<ArrayAttr>(op, "called_computations"))
        for (auto name : names.getAsRange<SymbolRefAttr>())
          addFunction(inside, name);
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        add(inside, &inner);
  }

  // V3, V4: one pass over each block with the set of what is in flight.
  void verifyFlight(Block &block) {
    SmallVector<StartOp> flight;
    addTokens(block.getArguments(), flight); // of the trip before
    for (Operation &op : block) {
      if (isa<WaitOp>(op) || carriesTokens(&op))
        removeTokens(op.getOperands(), flight);
      if (isa<WaitOp>(op))
        continue;
      CollectiveOpInterface issued = dyn_cast<CollectiveOpInterface>(op);
      if (auto start = dyn_cast<StartOp>(op))
        issued = start.getCollective();
      if (flight.empty() && !isa<StartOp>(op)) {
        addTokens(op.getResults(), flight); // of a loop that hands them on
        continue;
      }
      if (issued && !flight.empty() && !isPlannable(issued.getCollectiveKind())) {
        auto diagnostic = error(&op, "V4")
                          << "in flight here, expected nothing, since no planner moves a '"
                          << stringifyCollectiveKind(issued.getCollectiveKind()) << "', got a collective";
        diagnostic.attachNote(flight.front()->getLoc()) << "which started here";
      } else if (issued && isPlannable(issued.getCollectiveKind())) {
        verifyTogether(issued, flight);
      } else if (!issued && !op.hasTrait<OpTrait::IsTerminator>() && !factsOf(&op).terminator) {
        Inside inside;
        add(inside, &op);
        if (inside.communicates || inside.effects) {
          auto diagnostic = error(&op, "V4") << "in flight here, expected nothing, since it "
                                             << (inside.communicates ? "communicates" : "has effects or is not known")
                                             << ", got a collective";
          diagnostic.attachNote(flight.front()->getLoc()) << "which started here";
        }
      }
      addTokens(op.getResults(), flight);
    }
  }

  void verifyTogether(CollectiveOpInterface issued, ArrayRef<StartOp> flight) {
    FailureOr<RankSet> set = sets.of(issued);
    if (failed(set)) {
      broken = true;
      return;
    }
    int64_t same = 0;
    for (StartOp other : flight) {
      FailureOr<RankSet> otherSet = sets.of(other.getCollective());
      if (failed(otherSet))
        continue;
      CollectiveKind kind = issued.getCollectiveKind(), otherKind = other.getCollective().getCollectiveKind();
      if (otherSet->communicator(otherKind) == set->communicator(kind)) {
        ++same;
        continue;
      }
      if (shareTwoRanks(*set->groups, *otherSet->groups)) {
        auto diagnostic =
            error(issued, "V3")
            << "collectives of different groups in flight together, expected at most one rank in common, got two "
               "or more";
        diagnostic.attachNote(other->getLoc()) << "the other one started here";
      }
    }
    if (inFlight > 0 && same + 1 > inFlight)
      error(issued, "V3") << "collectives in flight on one communicator, expected at most " << inFlight << ", got "
                          << same + 1;
  }

  // V5
  void verifyOrder() {
    if (!certificate)
      return;
    IssueOrder order = issueOrder(module);
    auto stated = certificate.getAs<StringAttr>("order");
    if (stated && stated.getValue() != order.all)
      error(module, "V5") << "order of collectives, expected hash " << stated.getValue() << " (braid.certificate), got "
                          << order.all;
    auto orders = certificate.getAs<DictionaryAttr>("orders");
    if (!orders)
      return;
    for (const auto &[name, hash] : order.communicators)
      if (auto entry = orders.getAs<StringAttr>(name); !entry || entry.getValue() != hash)
        error(module, "V5") << "order on communicator " << name << ", expected hash "
                            << (entry ? entry.getValue() : StringRef("none")) << " (braid.certificate), got " << hash;
  }

  ModuleOp module;
  SymbolTable symbols;
  StringRef clusterHash;
  StringRef madeFor; ///< the cluster of the certificate
  StalePolicy stale;
  StringRef category;
  RankSets sets;
  DictionaryAttr certificate;
  int64_t inFlight = 0;
  llvm::DenseMap<Operation *, Inside> functions;
  bool broken = false, saidNoCluster = false;
};

} // namespace

LogicalResult verifyPlan(ModuleOp module, StringRef clusterHash, StalePolicy stale, StringRef category) {
  if (failed(checkSourceShapes(module)))
    return failure();
  return PlanVerifier(module, clusterHash, stale, category).verify();
}

} // namespace mlir::braid
