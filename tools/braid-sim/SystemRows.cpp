//===- SystemRows.cpp - training systems beside a plan ----------------------------------------------------------===//
#include "SystemRows.h"
#include "DeepSpeedConfig.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;

SystemOptionsOnCommandLine::SystemOptionsOnCommandLine(llvm::cl::OptionCategory &category)
    : deepspeed(
          "deepspeed",
          llvm::cl::desc(
              "DeepSpeed's JSON: its zero_optimization configures the policy of its stage, zero-1 to 3; default: none"),
          llvm::cl::cat(category)),
      fsdpUnit(
          "fsdp-unit",
          llvm::cl::desc("least bytes of parameters in a unit of fsdp, with unit; default: the fastest of several"),
          llvm::cl::cat(category)) {}

FailureOr<cost::SystemOptions> SystemOptionsOnCommandLine::read() const {
  cost::SystemOptions options;
  if (!deepspeed.empty()) {
    std::vector<std::string> remarks;
    cost::Result<cost::ZeroOptions> zero = readDeepSpeedConfig(deepspeed, remarks);
    if (!zero) {
      llvm::errs() << "error: " << zero.error().text() << "\n";
      return failure();
    }
    for (const std::string &remark : remarks)
      llvm::errs() << "remark: " << deepspeed << ": " << remark << "\n";
    options.zero[zero->stage - 1] = *zero;
  }
  if (!fsdpUnit.empty()) {
    cost::Result<cost::Bytes> unit = cost::parseBytes(fsdpUnit);
    if (!unit) {
      llvm::errs() << "error: --fsdp-unit: " << unit.error().text() << "\n";
      return failure();
    }
    options.fsdp.emplace();
    options.fsdp->unit = *unit;
  }
  return options;
}

SystemRows mlir::braid::sim::systemRows(const ModulePlan &plan, const cost::SystemOptions &options) {
  SystemRows rows;
  for (cost::System system : cost::allSystems) {
    cost::Result<cost::SystemResult> result =
        cost::runSystem(plan.program, *plan.pricer, system, options, plan.options);
    if (result)
      rows.rows.push_back({system, std::move(*result)});
    else
      rows.inapplicable.push_back({system, result.error().text()});
  }
  return rows;
}
