//===- SystemRows.h - training systems beside a plan ------------------------------------------------------------===//
#ifndef BRAID_SIM_SYSTEMROWS_H
#define BRAID_SIM_SYSTEMROWS_H

#include "braid/cost_models/Systems.h"
#include "braid/passes/PlanModule.h"
#include "llvm/Support/CommandLine.h"
#include <string>
#include <vector>

namespace mlir::braid::sim {

struct SystemRow {
  ::braid::cost::System system;
  ::braid::cost::SystemResult result;
};

struct SystemRows {
  std::vector<SystemRow> rows;
  std::vector<std::pair<::braid::cost::System, std::string>> inapplicable; ///< and why
};

/// How systems are configured; construct it inside the subcommand, before parsing.
struct SystemOptionsOnCommandLine {
  SystemOptionsOnCommandLine(llvm::cl::OptionCategory &category);
  /// Failure has been reported; what a configuration says and is not modelled goes to stderr as a remark.
  FailureOr<::braid::cost::SystemOptions> read() const;

  llvm::cl::opt<std::string> deepspeed, fsdpUnit;
};

/// All systems, or why they do not apply to the plan's program.
SystemRows systemRows(const ModulePlan &plan, const ::braid::cost::SystemOptions &options);

} // namespace mlir::braid::sim

#endif
