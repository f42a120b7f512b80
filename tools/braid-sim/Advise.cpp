//===- Advise.cpp - braid-sim advise: settings to use today, without Braid in the loop --------------------------===//
//
//   1. Every setting of every system is played without noise; the default and the dozen that are fastest go on.
//   2. Of those, the best by the plan's objective is the advice.
//   3. What it gains is measured on draws that did not choose it: the best of many by their own draws looks too good. A gain
//      of less than a thousandth is none.
//   4. A setting that needs what the cluster file does not say is no advice: it stands below it, with its condition.
//   5. Nor is one that needs more memory than there is. Where that is the default, the advice may be slower.
//===------------------------------------------------------------------------------------------------------------===//
#include "Advise.h"
#include "../command/Command.h"
#include "LoadModule.h"
#include "Subcommands.h"
#include "braid/passes/JsonText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;
namespace json = llvm::json;

namespace {

constexpr size_t finalists = 12;
constexpr double least = 1e-3; ///< gain

struct Advice {
  TunedSystem system;
  size_t chosen = 0; ///< setting; 0: the default
  cost::Seconds standard, predicted;
  int needing = -1; ///< setting that is faster than the advice where the cluster can do what it needs
  cost::Seconds ofNeeding;
  int given = -1; ///< setting that another advice has
  cost::Seconds ofGiven;
  double gain() const { return 1 - predicted.value / standard.value; }
  double gainOfNeeding() const { return 1 - ofNeeding.value / standard.value; }
  bool defaultFits = true, fits = true; ///< in memory; the latter: the default, or any setting
  cost::Bytes leastPeak;                ///< that any of them needs
  size_t others() const {               ///< settings beside the default that need nothing
    return llvm::count_if(system.settings, [](const Setting &setting) { return setting.needs.empty(); }) - 1;
  }
};

class Adviser {
public:
  explicit Adviser(const ModulePlan &plan) : plan(plan) {}

  Advice advise(TunedSystem system, const json::Object *given) {
    Advice advice;
    std::vector<Simulated> runs;
    std::vector<double> quiet;
    std::vector<bool> fits;
    const cost::Bytes limit = plan.options.memoryLimit;
    for (const Setting &setting : system.settings) {
      runs.push_back(setting.run());
      const Simulated &run = runs.back();
      quiet.push_back(cost::playWithoutNoise(*run.program, run.schedule, *run.pricer).total.value);
      cost::Bytes peak = cost::peakMemory(*run.program, run.schedule).bytes;
      fits.push_back(limit.value <= 0 || peak <= limit);
      advice.leastPeak = runs.size() == 1 ? peak : std::min(advice.leastPeak, peak);
    }
    advice.defaultFits = fits[0];
    std::vector<size_t> order(runs.size() - 1);
    std::iota(order.begin(), order.end(), 1);
    llvm::erase_if(order, [&](size_t i) { return !system.settings[i].needs.empty() || !fits[i]; });
    advice.fits = fits[0] || !order.empty();
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return std::tie(quiet[a], a) < std::tie(quiet[b], b); });
    if (order.size() > finalists)
      order.resize(finalists);
    // Settings that change noise alone are as fast as the default without it, so they are among the finalists, or lose.
    const cost::SampleOptions choosing = plan.options.sampling, judging = cost::unseen(choosing);
    cost::Seconds best = objective(runs[0], choosing);
    for (size_t i : order)
      if (cost::Seconds value = objective(runs[i], choosing); !fits[advice.chosen] || value < best * (1 - least)) {
        best = value;
        advice.chosen = i;
      }
    advice.standard = objective(runs[0], judging);
    advice.predicted = objective(runs[advice.chosen], judging);
    if (advice.gain() < least && fits[0]) {
      advice.chosen = 0;
      advice.predicted = advice.standard;
    }
    for (size_t i = 1; i < runs.size(); ++i)
      if (!system.settings[i].needs.empty() && fits[i])
        if (cost::Seconds value = objective(runs[i], judging);
            value < (advice.needing < 0 ? advice.predicted : advice.ofNeeding) * (1 - least)) {
          advice.needing = int(i);
          advice.ofNeeding = value;
        }
    for (size_t i = 0; given && i < runs.size(); ++i)
      if (system.settings[i].keys == *given) {
        advice.given = int(i);
        advice.ofGiven = objective(runs[i], judging);
        break;
      }
    advice.system = std::move(system);
    return advice;
  }

private:
  cost::Seconds objective(const Simulated &run, const cost::SampleOptions &draws) const {
    return cost::objective(*run.program, run.schedule, *run.pricer, plan.options.objective,
                           cost::affordable(*run.program, draws));
  }
  const ModulePlan &plan;
};

/// Advice that was given for another cluster: system -> what it sets.
FailureOr<std::map<std::string, json::Object>> readAdvice(const std::string &path) {
  auto fail = [&](const Twine &what) {
    llvm::errs() << "error: --settings: " << path << ": " << what << "\n";
    return failure();
  };
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return fail("cannot read it: " + file.getError().message());
  llvm::Expected<json::Value> value = parseJson((*file)->getBuffer());
  if (!value)
    return fail("expected JSON: " + llvm::toString(value.takeError()));
  const json::Array *rows = value->getAsObject() ? value->getAsObject()->getArray("advice") : nullptr;
  if (!rows)
    return fail("expected what braid-sim advise --format json writes, with the key \"advice\"");
  std::map<std::string, json::Object> given;
  for (const json::Value &row : *rows) {
    const json::Object *object = row.getAsObject();
    std::optional<StringRef> system = object ? object->getString("system") : std::nullopt;
    const json::Object *setting = object ? object->getObject("setting") : nullptr;
    if (!system || !setting)
      return fail("expected \"system\" and \"setting\" in each entry of \"advice\"");
    given[system->str()] = *setting;
  }
  return given;
}

std::string shown(const json::Object &keys) {
  if (keys.empty())
    return "the default";
  return llvm::formatv("{0}", json::Value(json::Object(keys)));
}

void print(const ModulePlan &plan, const std::vector<Advice> &all, StringRef input, llvm::raw_ostream &os) {
  os << llvm::sys::path::stem(input) << " on " << plan.pricer->cluster().name << ": " << plan.ranks
     << " ranks; settings for systems without Braid, with their gain over the system's default; predicted (simulated, "
        "not "
        "measured) time of one step\n"
     << "objective: " << llvm::format("p%g", plan.options.objective.quantile * 100)
     << (plan.options.objective.kind == cost::ObjectiveKind::Training
             ? " over jobs of the mean over a job's steps (training)"
             : " over steps (serving)")
     << "\n\n";
  for (const Advice &advice : all) {
    os << llvm::format("  %-20s ", advice.system.name.c_str());
    if (!advice.system.inapplicable.empty()) {
      os << "does not apply: " << advice.system.inapplicable << "\n";
      continue;
    }
    os << llvm::format("%9s", cost::toString(advice.standard).c_str());
    if (!advice.fits)
      os << "            no advice: every setting needs more memory than " << cost::toString(plan.options.memoryLimit)
         << ", at least " << cost::toString(advice.leastPeak) << "\n";
    else if (advice.chosen == 0)
      os << "            no gain: none of " << advice.others() << " other settings is faster than the default\n";
    else {
      os << llvm::format(" -> %-9s %+.1f %%", cost::toString(advice.predicted).c_str(), -advice.gain() * 100)
         << (advice.defaultFits ? ""
                                : "; the default needs more memory than " + cost::toString(plan.options.memoryLimit))
         << "\n";
      for (const std::string &line : advice.system.settings[advice.chosen].lines)
        os << "      " << line << "\n";
    }
    if (advice.needing >= 0) {
      const Setting &setting = advice.system.settings[advice.needing];
      os << "      where " << setting.needs << ", " << cost::toString(advice.ofNeeding)
         << llvm::format(", -%.1f %%: ", advice.gainOfNeeding() * 100) << llvm::join(setting.lines, "; ") << "\n";
    }
    if (advice.given >= 0)
      os << "      the settings given, " << shown(advice.system.settings[advice.given].keys) << ": "
         << cost::toString(advice.ofGiven)
         << llvm::format(", %+.1f %% to the advice\n", (advice.ofGiven.value / advice.predicted.value - 1) * 100);
  }
  os << "\n  Braid's plan: " << cost::toString(plan.result.braid().objective) << "\n";
  for (const std::string &sentence : settingsNotModelled())
    os << "  not modelled: " << sentence << "\n";
}

json::Object toJson(const ModulePlan &plan, std::vector<Advice> &all) {
  json::Array rows, inapplicable;
  for (Advice &advice : all) {
    if (!advice.system.inapplicable.empty()) {
      inapplicable.push_back(json::Object{{"system", advice.system.name}, {"why", advice.system.inapplicable}});
      continue;
    }
    const Setting &setting = advice.system.settings[advice.chosen];
    json::Object row{{"system", advice.system.name},
                     {"setting", json::Object(setting.keys)},
                     {"lines", json::Array(setting.lines)},
                     {"default_s", advice.standard.value},
                     {"predicted_s", advice.predicted.value},
                     {"gain", advice.gain()},
                     {"default_above_memory_limit", !advice.defaultFits},
                     {"above_memory_limit", !advice.fits},
                     {"settings_tried", int64_t(advice.system.settings.size())}};
    if (advice.needing >= 0) {
      const Setting &needing = advice.system.settings[advice.needing];
      row["where"] = json::Object{{"needs", needing.needs},
                                  {"setting", json::Object(needing.keys)},
                                  {"lines", json::Array(needing.lines)},
                                  {"predicted_s", advice.ofNeeding.value},
                                  {"gain", advice.gainOfNeeding()}};
    }
    if (advice.given >= 0) {
      row["given"] = json::Object(advice.system.settings[advice.given].keys);
      row["given_s"] = advice.ofGiven.value;
    }
    rows.push_back(std::move(row));
  }
  return json::Object{
      {"cluster", plan.pricer->cluster().name},
      {"ranks", plan.ranks},
      {"objective", plan.options.objective.kind == cost::ObjectiveKind::Training ? "training" : "serving"},
      {"quantile", plan.options.objective.quantile},
      {"advice", std::move(rows)},
      {"not_applicable", std::move(inapplicable)},
      {"not_modelled", json::Array(settingsNotModelled())},
      {"plan_s", plan.result.braid().objective.value}};
}

} // namespace

int mlir::braid::sim::runAdvise(int argc, char **argv) {
  llvm::cl::OptionCategory category("braid-sim advise");
  PlanOptionsOnCommandLine options(category);
  llvm::cl::opt<std::string> format("format", llvm::cl::init("text"), llvm::cl::desc("text (default), json"),
                                    llvm::cl::cat(category));
  llvm::cl::opt<std::string> settings(
      "settings", llvm::cl::desc("advice for another cluster (JSON): what its settings would take here; default: none"),
      llvm::cl::cat(category));
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "settings of PyTorch, DeepSpeed, Megatron-LM, XLA and NCCL\n");
  if (format != "text" && format != "json") {
    llvm::errs() << "error: --format: expected text or json, got '" << format << "'\n";
    return 1;
  }
  std::map<std::string, json::Object> given;
  if (!settings.empty()) {
    FailureOr<std::map<std::string, json::Object>> read = readAdvice(settings);
    if (failed(read))
      return 1;
    given = std::move(*read);
  }
  FailureOr<PlannedModule> planned = loadAndPlan(options);
  if (failed(planned))
    return 1;
  const ModulePlan &plan = planned->plan;
  std::vector<Advice> all;
  for (TunedSystem &system : tunedSystems(plan, options.placement, options.request().target == "stablehlo")) {
    if (!system.inapplicable.empty()) {
      all.emplace_back().system = std::move(system);
      continue;
    }
    auto found = given.find(system.name);
    std::string name = system.name;
    all.push_back(Adviser(plan).advise(std::move(system), found == given.end() ? nullptr : &found->second));
    if (found != given.end() && all.back().given < 0) {
      llvm::errs() << "error: --settings: " << settings << ": " << name << ": expected settings that advise tries, got "
                   << shown(found->second) << "\n";
      return 1;
    }
  }
  if (format == "json")
    llvm::outs() << llvm::formatv("{0:2}\n", json::Value(toJson(plan, all)));
  else
    print(plan, all, options.input, llvm::outs());
  return 0;
}
