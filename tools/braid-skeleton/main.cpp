//===- main.cpp - braid-skeleton: the communication of a job, without its model ---------------------------------===//
//
//   braid-skeleton program.mlir --cluster CLUSTER.yaml --policy xla-30mib,braid -o skeleton-%p.mlir
//
// Reads a program (StableHLO of a JAX job, or any module that braid-import reads), plans it for Braid's runtime, and writes
// what a step does as a module: timed braid.compute, and the program's collectives with their sizes, groups, order and
// plans. braid-run executes it like any other. With --predict it writes what the model says of the same schedules, for
// comparison: the skeleton itself holds no time of a collective.
//===------------------------------------------------------------------------------------------------------------===//
#include "../braid-sim/LoadModule.h"
#include "../command/Command.h"
#include "WriteModule.h"
#include "braid/cost_models/Schedule.h"
#include "braid/runtime/algorithms/Nearest.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;
namespace json = llvm::json;

static double quantileOf(std::vector<cost::Seconds> times, double q) {
  std::sort(times.begin(), times.end());
  return times[size_t(q * double(times.size() - 1) + 0.5)].value;
}

static bool write(const std::string &path, const std::string &text) {
  if (path == "-") {
    llvm::outs() << text;
    return true;
  }
  std::string error = ::braid::command::writeFile(path, text);
  if (!error.empty())
    llvm::errs() << "error: " << error << "\n";
  return error.empty();
}

/// The program as it is written. Where its plan has loops pipelined, their bodies are in one block, which says what a trip hands on.
static FailureOr<PlannedModule> loadWithLoops(PlanOptionsOnCommandLine &options) {
  {
    FailureOr<PlannedModule> planned = loadAndPlan(options);
    if (failed(planned) || !planned->plan.cut)
      return planned;
  }
  options.loops = LoopPolicy::Keep;
  options.inlineLoops = true;
  return loadAndPlan(options);
}

static int run(int argc, char **argv) {
  llvm::cl::OptionCategory category("braid-skeleton");
  PlanOptionsOnCommandLine options(category);
  options.engine.setInitialValue("braid");
  options.engine.setDescription("braid (default), whose runtime executes skeletons");
  options.target.setInitialValue("braid");
  llvm::cl::opt<std::string> output("o", llvm::cl::init("-"), llvm::cl::cat(category),
                                    llvm::cl::desc("file to write, %p is the policy; default: standard output"));
  llvm::cl::list<std::string> policies("policy", llvm::cl::CommaSeparated, llvm::cl::cat(category),
                                       llvm::cl::desc("policies of braid-sim compare; default: braid"));
  llvm::cl::opt<bool> noPlans("no-plans", llvm::cl::cat(category),
                              llvm::cl::desc("leave out how each collective is run, so that other passes may plan it"));
  llvm::cl::opt<std::string> predict("predict", llvm::cl::desc("write the model's step times (JSON) to this file"),
                                     llvm::cl::cat(category));
  llvm::cl::opt<int> jobs("jobs", llvm::cl::init(1), llvm::cl::desc("predict: jobs"), llvm::cl::cat(category));
  llvm::cl::opt<int> steps("steps", llvm::cl::init(1000), llvm::cl::desc("predict: steps of each job"),
                           llvm::cl::cat(category));
  llvm::cl::opt<uint64_t> firstJob("first-job", llvm::cl::init(0), llvm::cl::desc("predict: number of the first job"),
                                   llvm::cl::cat(category));
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "a program's communication as a benchmark, without its model\n");
  if (options.engine != "braid") {
    llvm::errs() << "error: --engine: expected braid, whose runtime executes skeletons, got '" << options.engine
                 << "'\n";
    return 1;
  }
  std::vector<std::string> asked(policies.begin(), policies.end());
  if (asked.empty())
    asked = {"braid"};
  if (asked.size() > 1 && output != "/dev/null" && output.find("%p") == std::string::npos) {
    llvm::errs() << "error: -o: expected %p in the name of a file for each of " << asked.size() << " policies, got '"
                 << output << "'\n";
    return 1;
  }
  options.outputs = {{"-o", output}, {"--predict", predict}};
  options.split = false; // a skeleton stands for the program as it is written
  FailureOr<PlannedModule> planned = loadWithLoops(options);
  if (failed(planned))
    return 1;
  const ModulePlan &plan = planned->plan;
  if (plan.result.policies.empty()) {
    llvm::errs() << "error: " << options.input << ": expected a program with collectives, got one without\n";
    return 1;
  }
  json::Array predictions;
  for (const std::string &name : asked) {
    auto chosen = std::find_if(plan.result.policies.begin(), plan.result.policies.end(),
                               [&](const cost::PolicyResult &r) { return name == cost::name(r.policy); });
    if (chosen == plan.result.policies.end()) {
      std::vector<std::string> known;
      for (const cost::PolicyResult &result : plan.result.policies)
        known.push_back(cost::name(result.policy));
      llvm::errs()
          << "error: --policy: expected a policy of braid-sim compare that runs the program's own collectives ("
          << llvm::join(known, ", ") << "), got '" << name << "'" << ::braid::algorithms::didYouMean(name, known)
          << "\n";
      return 1;
    }
    if (output != "/dev/null") {
      std::string title =
          (llvm::sys::path::filename(options.input) + ", " + name + ", on " + plan.pricer->cluster().name).str();
      FailureOr<OwningOpRef<ModuleOp>> module =
          skeleton::writeModule(*planned->module, plan, chosen->schedule, !noPlans, title);
      if (failed(module) || failed(verify(**module)))
        return 1;
      std::string text, path = output;
      llvm::raw_string_ostream stream(text);
      (*module)->print(stream);
      if (size_t at = path.find("%p"); at != std::string::npos)
        path.replace(at, 2, name);
      if (!write(path, text))
        return 1;
    }
    if (predict.empty())
      continue;
    std::vector<cost::Seconds> times =
        cost::stepTimes(plan.program, chosen->schedule, *plan.pricer, options.seed, firstJob, jobs, steps);
    json::Array values;
    for (cost::Seconds time : times)
      values.push_back(time.value);
    double noNoise = cost::playWithoutNoise(plan.program, chosen->schedule, *plan.pricer).total.value;
    predictions.push_back(json::Object{{"policy", name},
                                       {"no_noise_s", noNoise},
                                       {"p50_s", quantileOf(times, 0.5)},
                                       {"p95_s", quantileOf(times, 0.95)},
                                       {"steps_s", std::move(values)}});
  }
  if (predict.empty())
    return 0;
  json::Value all = json::Object{{"predictions", std::move(predictions)}};
  return write(predict, llvm::formatv("{0:2}\n", all).str()) ? 0 : 1;
}

int main(int argc, char **argv) {
  ::braid::command::Tool tool("braid-skeleton");
  llvm::InitLLVM init(argc, argv);
  return tool.finish(run(argc, argv));
}
