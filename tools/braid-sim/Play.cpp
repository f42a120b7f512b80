//===- Play.cpp - braid-sim play: one policy's schedule, played without noise -----------------------------------===//
#include "LoadModule.h"
#include "PlanPrints.h"
#include "Subcommands.h"
#include "SystemRows.h"
#include "braid/cost_models/Schedule.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;

/// In a timeline.
constexpr int shownRanks = 8;

static std::string policyNames(const cost::PlanResult &result) {
  std::string names;
  for (const cost::PolicyResult &r : result.policies)
    names += std::string(cost::name(r.policy)) + ", ";
  for (cost::System system : cost::allSystems)
    names +=
        std::string(cost::name(system)) + (system == cost::allSystems[std::size(cost::allSystems) - 1] ? "" : ", ");
  return names;
}

llvm::json::Object mlir::braid::sim::playedToJson(const cost::Played &played) {
  llvm::json::Array intervals;
  for (const cost::Interval &i : played.timeline) {
    llvm::json::Object interval{{"name", i.name},
                                {"track", i.bucket < 0 ? "compute" : cost::name(i.fabric)},
                                {"begin_s", i.begin.value},
                                {"end_s", i.end.value}};
    if (i.bucket >= 0) {
      interval["block"] = i.block;
      interval["bucket"] = i.bucket;
      interval["exposed_s"] = i.exposed.value;
    }
    intervals.push_back(std::move(interval));
  }
  return llvm::json::Object{{"total_s", played.total.value},
                            {"compute_s", played.compute.value},
                            {"exposed_s", played.exposed.value},
                            {"slowed_s", played.slowed.value},
                            {"timeline", std::move(intervals)}};
}

int mlir::braid::sim::runPlay(int argc, char **argv) {
  llvm::cl::OptionCategory category("braid-sim play");
  PlanOptionsOnCommandLine options(category);
  SystemOptionsOnCommandLine systemOptions(category);
  llvm::cl::opt<std::string> policy("policy", llvm::cl::init("braid"),
                                    llvm::cl::desc("whose schedule to play; default: braid"), llvm::cl::cat(category));
  llvm::cl::opt<std::string> timeline("timeline",
                                      llvm::cl::desc("write a Perfetto timeline, of the first 8 ranks; default: none"),
                                      llvm::cl::cat(category));
  llvm::cl::opt<std::string> format("format", llvm::cl::init("text"), llvm::cl::desc("text (default), json"),
                                    llvm::cl::cat(category));
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "play one policy's schedule without noise\n");
  if (format != "text" && format != "json") {
    llvm::errs() << "error: --format: expected text or json, got '" << format << "'\n";
    return 1;
  }
  options.outputs = {{"--timeline", timeline}};
  FailureOr<cost::SystemOptions> systemsAsked = systemOptions.read();
  if (failed(systemsAsked))
    return 1;
  FailureOr<PlannedModule> planned = loadAndPlan(options);
  if (failed(planned))
    return 1;
  const ModulePlan &plan = planned->plan;
  std::optional<cost::Played> found;
  for (const cost::PolicyResult &r : plan.result.policies)
    if (policy == cost::name(r.policy))
      found = cost::playWithoutNoise(plan.programOf(r), r.schedule, *plan.pricer, true);
  if (std::optional<cost::System> system = cost::parseSystem(policy)) {
    cost::Result<cost::SystemStep> step = cost::systemStep(plan.program, *plan.pricer, *system, *systemsAsked);
    if (!step) {
      llvm::errs() << "error: --policy: " << policy << " does not apply: " << step.error().text() << "\n";
      return 1;
    }
    found = cost::playWithoutNoise(step->program, step->schedule, *plan.pricer, true);
  }
  if (!found) {
    llvm::errs() << "error: --policy: expected one of " << policyNames(plan.result) << ", got '" << policy << "'\n";
    return 1;
  }
  const cost::Played &played = *found;
  if (!timeline.empty()) {
    // A process for each rank, like the measured timeline of braid-run: in the prediction all ranks are alike.
    std::vector<std::pair<std::string, cost::Played>> ranks;
    for (int rank = 0; rank < std::min(plan.program.ranks, shownRanks); ++rank)
      ranks.emplace_back("rank " + std::to_string(rank), played);
    std::string error = cost::writeTimeline(ranks, timeline);
    if (!error.empty()) {
      llvm::errs() << "error: " << error << "\n";
      return 1;
    }
    ::braid::command::sayWritten(timeline, std::to_string(ranks.size()) + " timelines");
  }
  if (format == "json") {
    llvm::json::Object object = playedToJson(played);
    object["policy"] = policy.getValue();
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
    return 0;
  }
  llvm::outs() << policy << ": step " << cost::toString(played.total) << ", compute " << cost::toString(played.compute)
               << (played.slowed.value > 0 ? " (slowed by " + cost::toString(played.slowed) + ")" : "")
               << ", exposed communication " << cost::toString(played.exposed) << " (simulated, no noise)\n";
  for (const cost::Interval &i : played.timeline)
    if (i.bucket >= 0)
      llvm::outs() << llvm::format("  %10s .. %-10s  ", cost::toString(i.begin).c_str(), cost::toString(i.end).c_str())
                   << cost::name(i.fabric) << "  " << i.name << "\n";
  return 0;
}
