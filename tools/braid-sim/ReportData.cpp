//===- ReportData.cpp - what braid-sim report says, as JSON and as text -----------------------------------------===//
//
// Nothing is priced or sampled here: plans come from planModule, their JSON and text from compare, play and explain.
//===------------------------------------------------------------------------------------------------------------===//
#include "PlanPrints.h"
#include "Report.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;
namespace json = llvm::json;

namespace {

/// A launch in the text of a schedule. Times are per step, without noise.
struct Launch {
  int block, bucket;
  std::string name; ///< of its first collective
  cost::CollectiveSpec spec;
  const cost::Candidate *candidate;
  cost::Fabric fabric;
  double runs;
  cost::Seconds inFlight, exposed;
};

struct PlayedPolicy {
  const char *label;
  const cost::PolicyResult &policy;
  cost::Played played;
  std::vector<Launch> launches; ///< in issue order
};

} // namespace

/// Of each bucket the first execution in the timeline. A run of a block begins and ends with nothing in flight and has no
/// noise, so all of its runs are alike.
static std::map<std::pair<int, int>, const cost::Interval *> firstExecutions(const cost::Played &played) {
  std::map<std::pair<int, int>, const cost::Interval *> first;
  for (const cost::Interval &interval : played.timeline)
    if (interval.bucket >= 0)
      first.insert({{interval.block, interval.bucket}, &interval});
  return first;
}

static PlayedPolicy playPolicy(const ModulePlan &plan, const char *label, const cost::PolicyResult &policy) {
  const cost::Program &program = plan.programOf(policy);
  PlayedPolicy played{label, policy, cost::playWithoutNoise(program, policy.schedule, *plan.pricer, true), {}};
  auto executions = firstExecutions(played.played);
  std::vector<double> runs = cost::runs(program);
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    if (runs[b] < 0) // main does not reach it
      continue;
    const cost::Block &block = program.blocks[b];
    const cost::BlockSchedule &schedule = policy.schedule.blocks[b];
    for (const cost::Event &event : schedule.order) {
      if (event.kind != cost::Event::Start)
        continue;
      const cost::Bucket &bucket = schedule.buckets[event.index];
      cost::CollectiveSpec spec = cost::mergedSpec(block, bucket);
      Launch launch{int(b),
                    event.index,
                    block.tasks[bucket.tasks.front()].name,
                    spec,
                    &plan.pricer->candidates(spec)[bucket.candidate],
                    plan.pricer->fabric(spec),
                    runs[b],
                    {},
                    {}};
      if (auto found = executions.find({launch.block, launch.bucket}); found != executions.end()) {
        launch.inFlight = launch.runs * (found->second->end - found->second->begin);
        launch.exposed = launch.runs * found->second->exposed;
      }
      played.launches.push_back(std::move(launch));
    }
  }
  return played;
}

static std::vector<PlayedPolicy> playBoth(const ModulePlan &plan) {
  return {playPolicy(plan, "before", resultOf(plan, before)), playPolicy(plan, "after", plan.result.braid())};
}

static json::Object toJson(const cost::PriceTerm &term) {
  json::Array parts;
  for (const cost::PriceTerm &part : term.parts)
    parts.push_back(toJson(part));
  return json::Object{{"name", term.name}, {"time_s", term.time.value}, {"how", term.how}, {"parts", std::move(parts)}};
}

static json::Object toJson(const PlayedPolicy &played) {
  json::Object object = playedToJson(played.played);
  json::Array launches;
  for (const Launch &l : played.launches)
    launches.push_back(json::Object{{"block", l.block},
                                    {"bucket", l.bucket},
                                    {"name", l.name},
                                    {"kind", ::braid::algorithms::name(l.spec.kind)},
                                    {"bytes", l.spec.bytes.value},
                                    {"tensors", l.spec.tensors},
                                    {"group_size", l.spec.groups ? l.spec.groups->size() : 0},
                                    {"fabric", cost::name(l.fabric)},
                                    {"algorithm", l.candidate->algorithm},
                                    {"protocol", l.candidate->protocol},
                                    {"runs", l.runs},
                                    {"in_flight_s", l.inFlight.value},
                                    {"exposed_s", l.exposed.value}});
  object["label"] = played.label;
  object["policy"] = cost::name(played.policy.policy);
  object["launches"] = std::move(launches);
  return object;
}

json::Object mlir::braid::sim::reportToJson(const Report &report) {
  const ModulePlan &plan = report.plan;
  json::Object object = planToJson(plan, report.systems);
  json::Array &collectives = *object.getArray("plan");
  for (size_t i = 0; i < plan.collectives.size(); ++i) {
    json::Object &row = *collectives[i].getAsObject();
    row["location"] = plan.collectives[i].location;
    row["why"] = toJson(plan.collectives[i].why);
  }
  json::Array timelines, alternatives, remarks;
  for (const PlayedPolicy &played : playBoth(plan))
    timelines.push_back(toJson(played));
  for (const cost::Alternative &a : plan.result.alternatives)
    alternatives.push_back(json::Object{{"rule", a.rule},
                                        {"objective_s", a.objective.value},
                                        {"collectives", a.collectives},
                                        {"same_launches", a.sameLaunches}});
  for (const Remark &r : report.remarks)
    remarks.push_back(json::Object{
        {"kind", r.kind}, {"pass", r.category}, {"name", r.name}, {"location", r.location}, {"text", r.text}});
  object["program"] = llvm::sys::path::stem(report.input);
  object["command"] = report.command;
  object["timelines"] = std::move(timelines);
  object["alternatives"] = std::move(alternatives);
  object["remarks"] = std::move(remarks);
  object["assumptions"] = json::Array(plan.pricer->cluster().assumptions);
  object["open_questions"] = json::Array(plan.openQuestions);
  return object;
}

static void printLaunches(const PlayedPolicy &played, llvm::raw_ostream &os) {
  os << played.label << ", " << cost::name(played.policy.policy) << ": step " << cost::toString(played.played.total)
     << ", exposed communication " << cost::toString(played.played.exposed) << ", per step and without noise\n";
  os << llvm::format("  %3s %-15s %10s %7s %8s %-7s %-24s %9s %9s  %s\n", "#", "kind", "bytes", "tensors", "runs",
                     "fabric", "algorithm", "in flight", "exposed", "first");
  for (size_t i = 0; i < played.launches.size(); ++i) {
    const Launch &l = played.launches[i];
    std::string algorithm = l.candidate->algorithm + (l.candidate->protocol.empty() ? "" : "/") + l.candidate->protocol;
    os << llvm::format("  %3zu %-15s %10s %7d %8g %-7s %-24s %9s %9s  %s\n", i, ::braid::algorithms::name(l.spec.kind),
                       cost::toString(l.spec.bytes).c_str(), l.spec.tensors, l.runs, cost::name(l.fabric),
                       algorithm.c_str(), cost::toString(l.inFlight).c_str(), cost::toString(l.exposed).c_str(),
                       l.name.c_str());
  }
}

std::string mlir::braid::sim::reportToText(const Report &report) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printPlan(report.plan, report.systems, report.input, os);
  for (const PlayedPolicy &played : playBoth(report.plan)) {
    os << "\n";
    printLaunches(played, os);
  }
  os << "\n";
  printReasons(report.plan, -1, os);
  for (const std::string &question : report.plan.openQuestions)
    os << "not certified: " << question << "\n";
  os << "\n";
  for (const Remark &r : report.remarks)
    os << r.location << ": " << r.kind << " " << r.category << " (" << r.name << "): " << r.text << "\n";
  os << "\nmade by: " << report.command << "\n";
  return text;
}
