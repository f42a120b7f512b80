//===- main.cpp - braid-skeleton: the communication of a job, without its model ---------------------------------===//
//
// Reads a program (StableHLO of a JAX job, or any module that braid-import reads), plans it for Braid's runtime, and writes
// what a step does as plain JSON: timed compute tasks, and its collectives with their sizes, groups, order and algorithms.
// braid-run-skeleton executes it. With --predict it prints what the model says of the same schedules, for comparison: the
// skeleton itself holds no time of a collective.
//
//   {"format": "braid-skeleton 1", "program": "...", "cluster": "...", "hash": "...", "ranks": 8,
//    "schedules": [{"policy": "xla-30mib",
//      "collectives": [{"kind": "all_reduce", "bytes": 4096, "tensors": 2, "type": "f32", "fabric": "inter",
//                       "groups": [[0, 1], ...], "pairs": [[0, 1], ...], "algorithm": "ring", "segments": 1, "channels": 1}],
//      "blocks": [[["compute", seconds, "name"], ["start", collective], ["wait", collective], ["run", block, trips]], ...]}]}
//                                        callees first; the last block is the step
//===------------------------------------------------------------------------------------------------------------===//
#include "../braid-sim/LoadModule.h"
#include "braid/cost_models/Schedule.h"
#include "braid/runtime/trace/AtomicFile.h"
#include "llvm/Support/Format.h"
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

static json::Value groupsOf(const std::vector<std::vector<int>> &groups) {
  json::Array rows;
  for (const std::vector<int> &group : groups) {
    json::Array row;
    for (int rank : group)
      if (rank >= 0) // padding
        row.push_back(rank);
    rows.push_back(std::move(row));
  }
  return rows;
}

static json::Value collectiveOf(const cost::Block &block, const cost::Bucket &bucket, const cost::Pricer &pricer,
                                int ranks) {
  cost::CollectiveSpec spec = cost::mergedSpec(block, bucket);
  const cost::Candidate &candidate = pricer.candidates(spec)[bucket.candidate];
  std::vector<std::vector<int>> groups = spec.groups ? spec.groups->groups : std::vector<std::vector<int>>();
  if (groups.empty() && spec.kind != cost::CollectiveKind::Permute) {
    groups.emplace_back(ranks);
    for (int rank = 0; rank < ranks; ++rank)
      groups[0][rank] = rank;
  }
  json::Array pairs;
  if (spec.groups)
    for (auto [source, target] : spec.groups->pairs)
      pairs.push_back(json::Array{source, target});
  return json::Object{{"kind", ::braid::algorithms::name(spec.kind)},
                      {"bytes", spec.bytes.value},
                      {"tensors", spec.tensors},
                      {"type", spec.elementType},
                      {"fabric", cost::name(pricer.fabric(spec))},
                      {"groups", groupsOf(groups)},
                      {"pairs", std::move(pairs)},
                      {"algorithm", candidate.algorithm},
                      {"segments", candidate.chunks},
                      {"channels", candidate.channels}};
}

static json::Value scheduleOf(const cost::PolicyResult &result, const cost::Program &program,
                              const cost::Pricer &pricer) {
  json::Array collectives, blocks;
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    const cost::Block &block = program.blocks[b];
    int first = int(collectives.size());
    for (const cost::Bucket &bucket : result.schedule.blocks[b].buckets)
      collectives.push_back(collectiveOf(block, bucket, pricer, program.ranks));
    json::Array events;
    for (const cost::Event &event : result.schedule.blocks[b].order) {
      if (event.kind != cost::Event::Run) {
        events.push_back(json::Array{event.kind == cost::Event::Start ? "start" : "wait", first + event.index});
        continue;
      }
      const cost::Task &task = block.tasks[event.index];
      if (task.kind == cost::Task::Nested)
        events.push_back(json::Array{"run", task.block, task.trips});
      else if (task.duration.value > 0)
        events.push_back(json::Array{"compute", task.duration.value, task.name});
    }
    blocks.push_back(std::move(events));
  }
  return json::Object{
      {"policy", cost::name(result.policy)}, {"collectives", std::move(collectives)}, {"blocks", std::move(blocks)}};
}

static json::Array seconds(std::vector<cost::Seconds> times) {
  json::Array values;
  for (cost::Seconds time : times)
    values.push_back(time.value);
  return values;
}

static double quantileOf(std::vector<cost::Seconds> times, double q) {
  std::sort(times.begin(), times.end());
  return times[size_t(q * double(times.size() - 1) + 0.5)].value;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::OptionCategory category("braid-skeleton");
  PlanOptionsOnCommandLine options(category);
  options.engine.setInitialValue("braid");
  options.target.setInitialValue("braid");
  llvm::cl::opt<std::string> output("o", llvm::cl::init("-"), llvm::cl::desc("file to write; default: standard output"),
                                    llvm::cl::cat(category));
  llvm::cl::list<std::string> policies("policy", llvm::cl::CommaSeparated, llvm::cl::cat(category),
                                       llvm::cl::desc("schedules to write; default: xla-30mib,braid"));
  llvm::cl::opt<std::string> predict("predict", llvm::cl::desc("write the model's step times (JSON) to this file"),
                                     llvm::cl::cat(category));
  llvm::cl::opt<int> jobs("jobs", llvm::cl::init(1), llvm::cl::desc("predict: jobs"), llvm::cl::cat(category));
  llvm::cl::opt<int> steps("steps", llvm::cl::init(1000), llvm::cl::desc("predict: steps of each job"),
                           llvm::cl::cat(category));
  llvm::cl::opt<uint64_t> firstJob("first-job", llvm::cl::init(0), llvm::cl::desc("predict: number of the first job"),
                                   llvm::cl::cat(category));
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "a program's communication as a benchmark, without its model\n");
  FailureOr<PlannedModule> planned = loadAndPlan(options);
  if (failed(planned))
    return 1;
  const ModulePlan &plan = planned->plan;
  if (plan.result.policies.empty()) {
    llvm::errs() << "error: " << options.input << ": expected a program with collectives, got one without\n";
    return 1;
  }
  std::vector<std::string> asked(policies.begin(), policies.end());
  if (asked.empty())
    asked = {"xla-30mib", "braid"};
  json::Array schedules, predictions;
  for (const std::string &name : asked) {
    auto chosen = std::find_if(plan.result.policies.begin(), plan.result.policies.end(),
                               [&](const cost::PolicyResult &r) { return name == cost::name(r.policy); });
    if (chosen == plan.result.policies.end()) {
      llvm::errs() << "error: --policy: expected a policy of braid-sim compare, got '" << name << "'\n";
      return 1;
    }
    schedules.push_back(scheduleOf(*chosen, plan.program, *plan.pricer));
    if (predict.empty())
      continue;
    std::vector<cost::Seconds> times =
        cost::stepTimes(plan.program, chosen->schedule, *plan.pricer, options.seed, firstJob, jobs, steps);
    double noNoise = cost::playWithoutNoise(plan.program, chosen->schedule, *plan.pricer).total.value;
    predictions.push_back(json::Object{{"policy", name},
                                       {"no_noise_s", noNoise},
                                       {"p50_s", quantileOf(times, 0.5)},
                                       {"p95_s", quantileOf(times, 0.95)},
                                       {"steps_s", seconds(times)}});
  }
  const cost::Cluster &cluster = plan.pricer->cluster();
  auto write = [](const std::string &path, json::Value value) {
    std::string text = llvm::formatv("{0:2}\n", value).str();
    if (path == "-") {
      llvm::outs() << text;
      return true;
    }
    std::string error = ::braid::trace::writeAtomically(path, text);
    if (!error.empty())
      llvm::errs() << "error: " << error << "\n";
    return error.empty();
  };
  bool written = write(output, json::Object{{"format", "braid-skeleton 1"},
                                            {"program", llvm::sys::path::filename(options.input)},
                                            {"cluster", cluster.name},
                                            {"hash", cluster.hash},
                                            {"ranks", plan.program.ranks},
                                            {"schedules", std::move(schedules)}});
  if (written && !predict.empty())
    written = write(predict, json::Object{{"predictions", std::move(predictions)}});
  return written ? 0 : 1;
}
