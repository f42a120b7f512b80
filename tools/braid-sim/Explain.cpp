//===- Explain.cpp - braid-sim explain: why the plan is what it is ----------------------------------------------===//
#include "LoadModule.h"
#include "PlanPrints.h"
#include "Subcommands.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;

static void printTerm(const cost::PriceTerm &term, unsigned depth, llvm::raw_ostream &os) {
  os.indent(4 + 2 * depth) << term.name << ": " << cost::toString(term.time);
  if (!term.how.empty())
    os << "  (" << term.how << ")";
  os << "\n";
  for (const cost::PriceTerm &part : term.parts)
    printTerm(part, depth + 1, os);
}

void mlir::braid::sim::printReasons(const ModulePlan &plan, int only, llvm::raw_ostream &os) {
  os << "winner: " << plan.result.braid().rule << "\nbound: " << cost::toString(plan.result.bound.time) << " ("
     << plan.result.bound.witness << "); of the objective under the same draws "
     << cost::toString(plan.result.quantileBound.objective) << "\n";
  for (const std::string &sentence : computeNoise(plan))
    os << "  " << sentence << "\n";
  for (const cost::PolicyResult &r : plan.result.policies)
    os << llvm::format("  %-11s objective %s, %+.2f %% to the plan\n", cost::name(r.policy),
                       cost::toString(r.objective).c_str(),
                       (r.objective.value / plan.result.braid().objective.value - 1) * 100);
  for (int i = 0; i < int(plan.collectives.size()); ++i) {
    if (only >= 0 && only != i)
      continue;
    const PlannedCollective &c = plan.collectives[i];
    os << "#" << i << " " << c.kind << " of " << cost::toString(cost::Bytes{c.bytes}) << " in " << c.tensors
       << (c.tensors == 1 ? " tensor over " : " tensors over ") << c.groupSize << " ranks: " << c.algorithm
       << (c.protocol.empty() ? "" : "/") << c.protocol << ", expected " << cost::toString(c.price) << "; runner-up "
       << (c.runnerUp.empty() ? "none" : c.runnerUp) << "\n";
    if (cost::toString(c.why.time) != cost::toString(c.price))
      os << "    without noise " << cost::toString(c.why.time) << ", which is made of:\n";
    printTerm(c.why, 0, os);
  }
  for (const std::string &assumption : plan.pricer->cluster().assumptions)
    os << "assumption: " << assumption << "\n";
  for (const std::string &sentence : plan.pricer->notModelled())
    os << "not modelled: " << sentence << "\n";
}

int mlir::braid::sim::runExplain(int argc, char **argv) {
  llvm::cl::OptionCategory category("braid-sim explain");
  PlanOptionsOnCommandLine options(category);
  llvm::cl::opt<int> only("collective", llvm::cl::init(-1),
                          llvm::cl::desc("number of one planned collective; default: all"), llvm::cl::cat(category));
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "why the plan is what it is\n");
  FailureOr<PlannedModule> planned = loadAndPlan(options);
  if (failed(planned))
    return 1;
  const ModulePlan &plan = planned->plan;
  int count = int(plan.collectives.size());
  if (only.getNumOccurrences() && (only < 0 || only >= count)) {
    llvm::errs() << "error: --collective: expected 0 to " << count - 1 << ", got " << only << "\n";
    return 1;
  }
  printReasons(plan, only.getNumOccurrences() ? int(only) : -1, llvm::outs());
  return 0;
}
