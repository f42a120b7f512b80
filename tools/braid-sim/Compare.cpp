//===- Compare.cpp - braid-sim compare: the baselines beside the plan -------------------------------------------===//
//
// One table: what people run today and the plan, each scheduled, priced and sampled by the same model; then the plan's
// collectives with their prices and runners-up. Everything printed is computed from the input.
//===------------------------------------------------------------------------------------------------------------===//
#include "Against.h"
#include "LoadModule.h"
#include "PlanPrints.h"
#include "Subcommands.h"
#include "SystemRows.h"
#include "braid/cost_models/Schedule.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;

const cost::PolicyResult &mlir::braid::sim::resultOf(const ModulePlan &plan, cost::Policy policy) {
  for (const cost::PolicyResult &result : plan.result.policies)
    if (result.policy == policy)
      return result;
  llvm_unreachable("every policy is in the result");
}

/// How far a time of the plan is above the bound (which knows no noise), as a fraction.
static double gapOf(const ModulePlan &plan, cost::Seconds time) {
  double bound = plan.result.bound.time.value;
  double gap = bound > 0 ? time.value / bound - 1 : 0;
  return std::abs(gap) < 1e-12 ? 0 : gap; // sums in another order
}

/// Whether the device, or the limit that was asked for, has less memory than it needs.
static bool aboveLimit(const ModulePlan &plan, const cost::PolicyResult &r) {
  return plan.options.memoryLimit.value > 0 && r.peak.bytes > plan.options.memoryLimit;
}

static llvm::json::Object rowToJson(const ModulePlan &plan, const cost::PolicyResult &r, const char *name,
                                    const cost::Program &program) {
  llvm::json::Object row{{"name", name},
                         {"rule", r.rule},
                         {"p50_s", r.quantiles.p50.value},
                         {"p95_s", r.quantiles.p95.value},
                         {"p99_s", r.quantiles.p99.value},
                         {"stderr_s", r.quantiles.standardError.value},
                         {"stderr_p99_s", r.quantiles.standardError99.value},
                         {"objective_s", r.objective.value},
                         {"exposed_s", r.exposed.value},
                         {"total_s", r.total.value},
                         {"collectives", r.collectives},
                         {"executed", r.executed},
                         {"bytes", r.bytes.value},
                         {"executed_bytes", r.executedBytes},
                         {"sent_bytes", cost::sentBytes(program, r.schedule, *plan.pricer)},
                         {"peak_bytes", r.peak.bytes.value},
                         {"above_memory_limit", aboveLimit(plan, r)}};
  if (plan.pricer->cluster().compute.slowed())
    row["slowed_s"] = r.slowed.value;
  return row;
}

std::vector<std::string> mlir::braid::sim::computeNoise(const ModulePlan &plan) {
  const cost::ComputeNoise &noise = plan.pricer->cluster().compute;
  const cost::PolicyResult &was = resultOf(plan, before), &is = plan.result.braid();
  std::vector<std::string> sentences;
  if (noise.slowed()) {
    llvm::raw_string_ostream(sentences.emplace_back())
        << llvm::format("beside collectives in flight kernels take %g (intra) and %g (inter) times as long: "
                        "computation is slowed by ",
                        noise.slowdown[0], noise.slowdown[1])
        << cost::toString(was.slowed) << " -> " << cost::toString(is.slowed);
  }
  if (noise.skewed()) {
    cost::SampleOptions alike = cost::unseen(plan.options.sampling);
    alike.skewed = false;
    llvm::raw_string_ostream(sentences.emplace_back())
        << llvm::format("ranks' computation differs by a sigma of %g per job and %g per step: p50 ", noise.skewPerJob,
                        noise.skewPerStep)
        << cost::toString(is.quantiles.p50) << ", and "
        << cost::toString(cost::quantiles(plan.programOf(is), is.schedule, *plan.pricer, alike).p50)
        << " if ranks were alike";
  }
  return sentences;
}

/// Blocks that communicate, but that main does not reach: their collectives are no part of the step.
static std::vector<const cost::Block *> neverRun(const ModulePlan &plan) {
  const cost::Program &program = plan.programOf(plan.result.braid());
  std::vector<double> runs = cost::runs(program);
  std::vector<const cost::Block *> blocks;
  for (size_t b = 0; b < runs.size(); ++b)
    if (runs[b] < 0 &&
        llvm::any_of(
            program.blocks[b].tasks, [](const cost::Task &task) { return task.kind == cost::Task::Collective; }))
      blocks.push_back(&program.blocks[b]);
  return blocks;
}

llvm::json::Object mlir::braid::sim::planToJson(const ModulePlan &plan, const SystemRows &systems) {
  llvm::json::Array policies, collectives, inapplicable;
  for (const cost::PolicyResult &r : plan.result.policies) {
    if (r.policy == cost::Policy::Braid) // the plan is the last row
      for (const SystemRow &row : systems.rows) {
        llvm::json::Object object = rowToJson(plan, row.result.result, cost::name(row.system), row.result.step.program);
        object["bound_s"] = row.result.bound.time.value;
        object["update_saves_s"] = row.result.step.updateSaves.value;
        policies.push_back(std::move(object));
      }
    policies.push_back(rowToJson(plan, r, cost::name(r.policy), plan.programOf(r)));
  }
  for (const auto &[system, why] : systems.inapplicable)
    inapplicable.push_back(llvm::json::Object{{"name", cost::name(system)}, {"why", why}});
  for (const PlannedCollective &c : plan.collectives)
    collectives.push_back(llvm::json::Object{{"kind", c.kind},
                                             {"bytes", c.bytes},
                                             {"tensors", c.tensors},
                                             {"group_size", c.groupSize},
                                             {"fabric", c.fabric},
                                             {"algorithm", c.algorithm},
                                             {"protocol", c.protocol},
                                             {"price_s", c.price.value},
                                             {"runner_up", c.runnerUp}});
  llvm::json::Array notModelled, never;
  for (const cost::Block *block : neverRun(plan))
    never.push_back(block->name);
  for (const std::string &sentence : plan.pricer->notModelled())
    notModelled.push_back(sentence);
  llvm::json::Object object{
      {"ranks", plan.ranks},
      {"cluster", plan.pricer->cluster().name},
      {"engine", cost::name(plan.pricer->engine())},
      {"objective", plan.options.objective.kind == cost::ObjectiveKind::Training ? "training" : "serving"},
      {"quantile", plan.options.objective.quantile},
      {"before", cost::name(before)},
      {"policies", std::move(policies)},
      {"not_applicable", std::move(inapplicable)},
      {"bound_s", plan.result.bound.time.value},
      {"bound_witness", plan.result.bound.witness},
      {"bound_objective_s", plan.result.quantileBound.objective.value},
      {"bound_p50_s", plan.result.quantileBound.p50.value},
      {"bound_p95_s", plan.result.quantileBound.p95.value},
      {"bound_p99_s", plan.result.quantileBound.p99.value},
      {"gap", gapOf(plan, plan.result.braid().objective)},
      {"gap_without_noise", gapOf(plan, plan.result.braid().total)},
      {"margin", marginOf(plan)},
      {"plan", std::move(collectives)},
      {"never_run", std::move(never)},
      {"not_modelled", std::move(notModelled)}};
  if (std::vector<std::string> sentences = computeNoise(plan); !sentences.empty())
    object["compute_noise"] = llvm::json::Array(sentences);
  return object;
}

static std::string percent(double fraction) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f %%", fraction * 100);
  return text;
}

static void printPolicies(const ModulePlan &plan, const SystemRows &systems, llvm::raw_ostream &os) {
  os << llvm::format("  %-18s %10s %9s %10s %10s %9s %9s %9s %10s %10s %9s %9s\n", "policy", "launches", "executed",
                     "bytes", "sent", "p50", "p95", "p99", "+- of p50", "objective", "exposed", "peak");
  bool marked = false;
  auto print = [&](const cost::PolicyResult &r, std::string label, const cost::Program &program) {
    cost::Bytes sent{int64_t(cost::sentBytes(program, r.schedule, *plan.pricer))};
    os << llvm::format("  %-18s %10lld %9.0f %10s %10s %9s %9s %9s %10s %10s %9s %9s%s\n", label.c_str(),
                       (long long)r.collectives, r.executed, cost::toString(r.bytes).c_str(),
                       cost::toString(sent).c_str(), cost::toString(r.quantiles.p50).c_str(),
                       cost::toString(r.quantiles.p95).c_str(), cost::toString(r.quantiles.p99).c_str(),
                       cost::toString(r.quantiles.standardError).c_str(), cost::toString(r.objective).c_str(),
                       cost::toString(r.exposed).c_str(), cost::toString(r.peak.bytes).c_str(),
                       aboveLimit(plan, r) ? " *" : "");
    marked |= aboveLimit(plan, r);
  };
  for (const cost::PolicyResult &r : plan.result.policies) {
    std::string label = cost::name(r.policy);
    if (r.policy == before)
      label += " (before)";
    if (r.policy == cost::Policy::Braid) {
      label += " (after)";
      for (const SystemRow &row : systems.rows)
        print(row.result.result, cost::name(row.system), row.result.step.program);
    }
    print(r, label, plan.programOf(r));
  }
  if (marked)
    os << "  * needs more memory than there is: " << cost::toString(plan.options.memoryLimit) << "\n";
  for (const SystemRow &row : systems.rows)
    os << "  " << cost::name(row.system) << ": " << row.result.step.how << "\n";
  // The same reason once.
  for (size_t i = 0; i < systems.inapplicable.size(); ++i) {
    const std::string &why = systems.inapplicable[i].second;
    std::string names;
    for (size_t j = 0; j < systems.inapplicable.size(); ++j)
      if (systems.inapplicable[j].second == why) {
        if (j < i)
          break;
        names += (names.empty() ? "" : ", ") + std::string(cost::name(systems.inapplicable[j].first));
      }
    if (!names.empty())
      os << "  does not apply: " << names << ": " << why << "\n";
  }
  double saves = 0;
  for (const SystemRow &row : systems.rows)
    saves = std::max(saves, row.result.step.updateSaves.value);
  if (saves > 0)
    os << "  not counted: " << cost::toString(cost::Seconds{saves})
       << " of computation that fsdp and zero save where each rank updates its shard only\n";
}

/// Where a row of the table has a smaller time than the plan: what the plan was chosen by instead, or what the row needs.
static void printBetterElsewhere(const ModulePlan &plan, const SystemRows &systems, llvm::raw_ostream &os) {
  const cost::PolicyResult &is = plan.result.braid();
  auto print = [&](const cost::PolicyResult &other, const std::string &name) {
    std::string columns;
    auto look = [&](const char *column, cost::Seconds its, cost::Seconds ours) {
      if (cost::toString(its) != cost::toString(ours) && its < ours)
        columns += (columns.empty() ? "" : ", ") + std::string(column) + " " + cost::toString(its) + " for " +
                   cost::toString(ours);
    };
    look("p50", other.quantiles.p50, is.quantiles.p50);
    look("p95", other.quantiles.p95, is.quantiles.p95);
    look("p99", other.quantiles.p99, is.quantiles.p99);
    look("exposed", other.exposed, is.exposed);
    if (columns.empty())
      return;
    os << "  " << name << " is better in " << columns;
    if (aboveLimit(plan, other))
      os << "; it needs " << cost::toString(other.peak.bytes) << ", the plan has "
         << cost::toString(plan.options.memoryLimit);
    else
      os << "; the plan is chosen by the objective, " << cost::toString(is.objective) << " for "
         << cost::toString(other.objective);
    os << "\n";
  };
  for (const cost::PolicyResult &r : plan.result.policies)
    if (r.policy != cost::Policy::Braid)
      print(r, cost::name(r.policy));
  for (const SystemRow &row : systems.rows)
    print(row.result.result, cost::name(row.system));
}

static void printCollectives(const ModulePlan &plan, llvm::raw_ostream &os) {
  os << llvm::format("  %3s %-15s %10s %8s %6s %-7s %-25s %-8s %9s  %s\n", "#", "kind", "bytes", "tensors", "ranks",
                     "fabric", "algorithm", "protocol", "price", "runner-up");
  for (size_t i = 0; i < plan.collectives.size(); ++i) {
    const PlannedCollective &c = plan.collectives[i];
    os << llvm::format("  %3zu %-15s %10s %8d %6d %-7s %-25s %-8s %9s  %s\n", i, c.kind.c_str(),
                       cost::toString(cost::Bytes{c.bytes}).c_str(), c.tensors, c.groupSize, c.fabric.c_str(),
                       c.algorithm.c_str(), c.protocol.c_str(), cost::toString(c.price).c_str(),
                       c.runnerUp.empty() ? "none" : c.runnerUp.c_str());
  }
  for (size_t i = 0; i < plan.collectives.size(); ++i)
    if (const PlannedCollective &c = plan.collectives[i]; !c.runnerUp.empty() && c.runnerUpPrice < c.price)
      os << "  # " << i << ": the runner-up alone takes " << cost::toString(c.runnerUpPrice) << " for "
         << cost::toString(c.price)
         << "; the choice is that of the whole step's objective, in which collectives overlap computation and each "
            "other\n";
}

void mlir::braid::sim::printPlan(const ModulePlan &plan, const SystemRows &systems, llvm::StringRef input,
                                 llvm::raw_ostream &os) {
  const cost::Cluster &cluster = plan.pricer->cluster();
  const cost::Objective &objective = plan.options.objective;
  os << llvm::sys::path::stem(input) << " on " << cluster.name << ": " << plan.ranks << " ranks, engine "
     << cost::name(plan.pricer->engine()) << "; predicted (simulated, not measured) time of one step, all draws fresh\n"
     << "objective: " << llvm::format("p%g", objective.quantile * 100)
     << (objective.kind == cost::ObjectiveKind::Training ? " over jobs of the mean over a job's steps (training)"
                                                         : " over steps (serving)")
     << "\n\n";
  printPolicies(plan, systems, os);
  const cost::PolicyResult &was = resultOf(plan, before), &is = plan.result.braid();
  os << "\n  after: " << is.rule << "\n  objective " << cost::toString(was.objective) << " -> "
     << cost::toString(is.objective) << " ("
     << percent(was.objective.value > 0 ? is.objective.value / was.objective.value - 1 : 0)
     << "), exposed communication " << cost::toString(was.exposed) << " -> " << cost::toString(is.exposed)
     << "\n  lower bound " << cost::toString(plan.result.bound.time) << " (" << plan.result.bound.witness << "), gap "
     << percent(gapOf(plan, is.objective)) << " (" << percent(gapOf(plan, is.total)) << " without noise)\n";
  const cost::QuantileBound &drawn = plan.result.quantileBound;
  os << "  under the same draws no schedule's objective is below " << cost::toString(drawn.objective) << " (gap "
     << percent(drawn.objective.value > 0 ? is.objective / drawn.objective - 1 : 0) << "), nor its p50, p95, p99 below "
     << cost::toString(drawn.p50) << ", " << cost::toString(drawn.p95) << ", " << cost::toString(drawn.p99) << "\n";
  for (const std::string &sentence : computeNoise(plan))
    os << "  " << sentence << "\n";
  double margin = marginOf(plan);
  printBetterElsewhere(plan, systems, os);
  if (margin >= 0)
    os << "  margin: the best other buckets or algorithms tried lose by " << percent(margin) << "\n";
  os << "\n";
  if (plan.collectives.empty())
    os << "  no collectives to plan\n";
  else
    printCollectives(plan, os);
  for (const cost::Block *block : neverRun(plan))
    os << "  left out: the collectives of " << block->name << ", which main does not reach\n";
  for (const std::string &sentence : plan.pricer->notModelled())
    os << "  not modelled: " << sentence << "\n";
}

/// Before and after as two processes of one Perfetto timeline.
static int writeComparison(const ModulePlan &plan, const std::string &path) {
  auto played = [&](const cost::PolicyResult &r) {
    return cost::playWithoutNoise(plan.programOf(r), r.schedule, *plan.pricer, true);
  };
  std::string error =
      cost::writeTimeline({{std::string("before: ") + cost::name(before), played(resultOf(plan, before))},
                           {"after: braid", played(plan.result.braid())}},
                          path);
  if (error.empty()) {
    ::braid::command::sayWritten(path, "2 timelines");
    return 0;
  }
  llvm::errs() << "error: " << error << "\n";
  return 1;
}

int mlir::braid::sim::runCompare(int argc, char **argv) {
  llvm::cl::OptionCategory category("braid-sim compare");
  PlanOptionsOnCommandLine options(category);
  SystemOptionsOnCommandLine systemOptions(category);
  llvm::cl::opt<std::string> format("format", llvm::cl::init("text"), llvm::cl::desc("text (default), json"),
                                    llvm::cl::cat(category));
  llvm::cl::opt<std::string> timeline("timeline",
                                      llvm::cl::desc("write a Perfetto timeline of before and after; default: none"),
                                      llvm::cl::cat(category));
  llvm::cl::opt<std::string> against(
      "against", llvm::cl::desc("another cluster file: does the fabric change the plan? default: none"),
      llvm::cl::cat(category));
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "the baselines beside the plan\n");
  if (format != "text" && format != "json") {
    llvm::errs() << "error: --format: expected text or json, got '" << format << "'\n";
    return 1;
  }
  options.outputs = {{"--timeline", timeline}};
  options.inputs = ::braid::command::clusterInputs("--against", against);
  FailureOr<cost::SystemOptions> systemsAsked = systemOptions.read();
  if (failed(systemsAsked))
    return 1;
  FailureOr<PlannedModule> planned = loadAndPlan(options);
  if (failed(planned))
    return 1;
  SystemRows systems = systemRows(planned->plan, *systemsAsked);
  if (!timeline.empty())
    if (int status = writeComparison(planned->plan, timeline))
      return status;
  std::optional<Difference> difference;
  std::string other;
  if (!against.empty()) {
    FailureOr<ModulePlan> there = planAlso(*planned, options, against);
    if (failed(there))
      return 1;
    difference = differenceOf(planned->plan, *there);
    other = there->pricer->cluster().name;
  }
  if (format == "json") {
    llvm::json::Object object = planToJson(planned->plan, systems);
    if (difference)
      object["against"] = toJson(*difference, other);
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
  } else {
    printPlan(planned->plan, systems, options.input, llvm::outs());
    if (difference)
      llvm::outs() << toText(*difference, planned->plan.pricer->cluster().name, other);
  }
  return 0;
}
