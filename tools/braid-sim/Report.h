//===- Report.h - a plan with its timelines and reasons, as data, as text and as a page -------------------------===//
#ifndef BRAID_SIM_REPORT_H
#define BRAID_SIM_REPORT_H

#include "LoadModule.h"
#include "SystemRows.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace mlir::braid::sim {

struct Report {
  const ModulePlan &plan;
  const SystemRows &systems;
  std::string input;   ///< path of the program
  std::string command; ///< that makes the report again
  std::vector<Remark> remarks;
};

/// What compare, play and explain say, in one object. "timelines": before and after, each with "launches", one row for each
/// launch in the text of that schedule, in issue order: what it is, how often it runs in a step, its time in flight and
/// how long computation waits for it, per step and without noise. The latter add up to the policy's "exposed_s".
llvm::json::Object reportToJson(const Report &report);

/// The same for people at a terminal.
std::string reportToText(const Report &report);

/// The page of report/, with `data` in it. It asks nothing of the network.
std::string reportToHtml(llvm::json::Object data);

} // namespace mlir::braid::sim

#endif
