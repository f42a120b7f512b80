//===- Diff.cpp - braid-sim diff: why two plans differ -----------------------------------------------------------===//
//
// One program under two requests (--against-...), or two planned modules (DiffModules.cpp).
//===------------------------------------------------------------------------------------------------------------===//
#include "DiffModules.h"
#include "DiffPlans.h"
#include "LoadModule.h"
#include "Subcommands.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;
namespace json = llvm::json;

static std::string kindOf(const LaunchDifference &d) {
  if (d.buckets)
    return "other buckets";
  std::string text;
  auto add = [&](bool differs, const char *what) {
    if (differs)
      text += (text.empty() ? "" : ", ") + std::string(what);
  };
  add(d.algorithm, "other algorithm");
  add(d.order, "other order");
  add(d.start, "other start");
  return text;
}

static std::string percent(double factor) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%+.1f %%", (factor - 1) * 100);
  return text;
}

static void print(const ModulePlan &a, const ModulePlan &b, const PlanDifference &d, const std::vector<Cause> &causes,
                  StringRef input, llvm::raw_ostream &os) {
  os << llvm::sys::path::stem(input) << ": A is planned for " << a.pricer->cluster().name << ", B for "
     << b.pricer->cluster().name << "; predicted (simulated, not measured)\n";
  if (d.launches.empty())
    os << "the plans are the same: " << d.same << " launches, each with the same tensors, algorithm, order and start\n";
  else
    os << d.launches.size() << (d.launches.size() == 1 ? " difference; " : " differences; ") << d.same
       << (d.same == 1 ? " launch is" : " launches are") << " the same\n";
  for (const LaunchDifference &launch : d.launches) {
    os << "\n  " << kindOf(launch) << "\n";
    for (auto [name, side] : {std::pair("A", &launch.a), std::pair("B", &launch.b)})
      for (const LaunchSide &one : *side)
        os << "    " << name << " #" << one.number << " " << one.what << ", " << one.start << "\n";
    os << "    price on A: A's choice " << cost::toString(launch.onA[0]) << ", B's " << cost::toString(launch.onA[1])
       << "; on B: A's " << cost::toString(launch.onB[0]) << ", B's " << cost::toString(launch.onB[1]) << "\n";
  }
  os << "\nstep on A: A's plan " << cost::toString(d.onA[0]) << ", B's " << cost::toString(d.onA[1]) << " ("
     << percent(d.onA[1] / d.onA[0]) << "); on B: B's plan " << cost::toString(d.onB[1]) << ", A's "
     << cost::toString(d.onB[0]) << " (" << percent(d.onB[0] / d.onB[1]) << ")\n";
  if (causes.empty())
    os << "causes: the requests do not differ\n";
  else
    os << "what differs, each put into A alone:\n";
  bool any = false;
  for (const Cause &cause : causes) {
    os << "  " << cause.key << ", " << cause.inA << " in A, " << cause.inB << " in B: ";
    if (!cause.error.empty())
      os << "not planned alone: " << cause.error << "\n";
    else if (cause.all && cause.launches)
      os << "A's plan becomes B's (" << cause.launches << " of its launches change), step " << percent(cause.step)
         << "\n";
    else if (cause.launches)
      os << "changes " << cause.launches << " of A's launches, step " << percent(cause.step) << "\n";
    else
      os << "the same launches, step " << percent(cause.step) << "\n";
    any |= cause.launches > 0;
  }
  if (!any && !causes.empty() && !d.launches.empty())
    os << "  none alone changes a bucket or an algorithm: the differences come from several together, or from order "
          "and start\n";
}

static json::Object toJson(const PlanDifference &d, const std::vector<Cause> &causes) {
  json::Array launches, reasons;
  auto sides = [](const std::vector<LaunchSide> &list) {
    json::Array array;
    for (const LaunchSide &one : list)
      array.push_back(
          json::Object{{"number", one.number}, {"what", one.what}, {"algorithm", one.algorithm}, {"start", one.start}});
    return array;
  };
  for (const LaunchDifference &one : d.launches)
    launches.push_back(json::Object{{"kind", kindOf(one)},
                                    {"a", sides(one.a)},
                                    {"b", sides(one.b)},
                                    {"price_on_a_s", json::Array{one.onA[0].value, one.onA[1].value}},
                                    {"price_on_b_s", json::Array{one.onB[0].value, one.onB[1].value}}});
  for (const Cause &cause : causes)
    reasons.push_back(json::Object{{"key", cause.key},
                                   {"a", cause.inA},
                                   {"b", cause.inB},
                                   {"launches_changed", cause.launches},
                                   {"becomes_b", cause.all && cause.launches > 0},
                                   {"step", cause.step},
                                   {"error", cause.error}});
  return json::Object{{"differences", std::move(launches)},
                      {"same", d.same},
                      {"step_on_a_s", json::Array{d.onA[0].value, d.onA[1].value}},
                      {"step_on_b_s", json::Array{d.onB[0].value, d.onB[1].value}},
                      {"causes", std::move(reasons)}};
}

int mlir::braid::sim::runDiff(int argc, char **argv) {
  llvm::cl::OptionCategory category("braid-sim diff");
  PlanOptionsOnCommandLine options(category);
  auto text = [&](const char *name, const char *what) {
    return std::make_unique<llvm::cl::opt<std::string>>(llvm::StringRef(name), llvm::cl::desc(what),
                                                        llvm::cl::cat(category));
  };
  llvm::cl::opt<std::string> second(llvm::cl::Positional, llvm::cl::desc("[<other.mlir>]: both are planned modules"),
                                    llvm::cl::cat(category));
  auto cluster = text("against", "B's cluster file; default: A's");
  auto engine = text("against-engine", "B's engine; default: A's"),
       objective = text("against-objective", "B's objective; default: A's");
  auto placement = text("against-placement", "B's placement; default: A's"),
       limit = text("against-memory-limit", "B's memory limit; default: A's");
  auto profile = text("against-compute-profile", "B's compute profile; default: A's"),
       target = text("against-target", "B's target; default: A's");
  llvm::cl::opt<double> quantile("against-quantile", llvm::cl::init(-1), llvm::cl::desc("B's quantile; default: A's"),
                                 llvm::cl::cat(category));
  llvm::cl::opt<std::string> format("format", llvm::cl::init("text"), llvm::cl::desc("text (default), json"),
                                    llvm::cl::cat(category));
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "why two plans differ\n");
  if (format != "text" && format != "json") {
    llvm::errs() << "error: --format: expected text or json, got '" << format << "'\n";
    return 1;
  }
  if (!second.empty())
    return diffModules({options.input, second, options.cluster, *cluster, options.placement, format == "json"});

  options.split.setValue(false); // cut plans have no common tasks
  options.loops.setValue(mlir::braid::LoopPolicy::Keep);
  PlanRequest there = options.request();
  bool asked = false;
  auto replace = [&](std::string &field, const llvm::cl::opt<std::string> &given) {
    if (given.getNumOccurrences()) {
      field = given;
      asked = true;
    }
  };
  replace(there.cluster, *cluster);
  replace(there.engine, *engine);
  replace(there.objective, *objective);
  replace(there.placement, *placement);
  replace(there.memoryLimit, *limit);
  replace(there.computeProfile, *profile);
  replace(there.target, *target);
  if (quantile.getNumOccurrences()) {
    there.quantile = quantile;
    asked = true;
  }
  if (!asked) {
    llvm::errs()
        << "error: expected a second planned module, or what B is planned for (--against CLUSTER, --against-quantile, "
           "...), got neither\n";
    return 1;
  }
  FailureOr<PlannedModule> planned = loadAndPlan(options);
  if (failed(planned))
    return 1;
  FailureOr<ModulePlan> other = planModule(*planned->module, there);
  if (failed(other))
    return 1;
  PlanDifference difference = planDifference(planned->plan, *other);
  std::vector<Cause> causes = causesOf(planned->plan, *other, options.request(), there);
  if (format == "json")
    llvm::outs() << llvm::formatv("{0:2}\n", json::Value(toJson(difference, causes)));
  else
    print(planned->plan, *other, difference, causes, options.input, llvm::outs());
  return 0;
}
