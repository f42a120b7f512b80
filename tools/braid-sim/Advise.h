//===- Advise.h - what can be set in systems that people run, as policies to simulate ---------------------------===//
#ifndef BRAID_SIM_ADVISE_H
#define BRAID_SIM_ADVISE_H

#include "braid/cost_models/Systems.h"
#include "braid/passes/PlanModule.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mlir::braid::sim {

/// What runs under a setting.
struct Simulated {
  std::shared_ptr<const ::braid::cost::Program> program;
  ::braid::cost::Schedule schedule;
  std::shared_ptr<const ::braid::cost::Pricer> pricer;
};

struct Setting {
  llvm::json::Object keys;        ///< what is set, by the names that the system gives it; of all settings different
  std::vector<std::string> lines; ///< to paste
  std::function<Simulated()> run;
  std::string needs = ""; ///< what the cluster must be able to do, which its file does not say; else empty
};

struct TunedSystem {
  std::string name;
  std::vector<Setting> settings; ///< the first is the system's default
  std::string inapplicable;      ///< why; else empty
};

/// Systems and their settings for the plan's program on the plan's cluster. The same program gives the same settings on every
/// cluster of as many ranks, so that advice for one can be simulated on another. `placement`: as the plan was asked for.
std::vector<TunedSystem> tunedSystems(const ModulePlan &plan, const std::string &placement, bool exported);

/// What is often set, and has no effect in this model.
std::vector<std::string> settingsNotModelled();

} // namespace mlir::braid::sim

#endif
