//===- LoadModule.h - a program from a file, imported and planned -----------------------------------------------===//
#ifndef BRAID_SIM_LOADMODULE_H
#define BRAID_SIM_LOADMODULE_H

#include "../command/ClusterInputs.h"
#include "braid/passes/PlanModule.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>
#include <string>

namespace mlir::braid::sim {

/// The options that every subcommand which plans a program shares. Construct it inside the subcommand, before parsing.
struct PlanOptionsOnCommandLine {
  PlanOptionsOnCommandLine(llvm::cl::OptionCategory &category);
  PlanRequest request() const;

  llvm::cl::opt<std::string> input, cluster, engine, objective, placement, memoryLimit, budget, computeProfile, target;
  llvm::cl::opt<double> quantile;
  llvm::cl::opt<bool> split;
  llvm::cl::opt<mlir::braid::LoopPolicy> loops;
  bool inlineLoops = false; ///< set by tools
  llvm::cl::opt<uint64_t> seed;
  ::braid::command::Files
      outputs; ///< that the subcommand will write: loadAndPlan refuses those that can't be written ...
  ::braid::command::Files inputs; ///< ... and those that it or the subcommand, which reads these, too, has read
};

/// A module from a file, as it stands there.
struct ParsedModule {
  std::unique_ptr<llvm::SourceMgr> sources = std::make_unique<llvm::SourceMgr>();
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
};

/// Diagnostics to stderr, with the source's line where there is one; what has no place in a file is said of the program's file. (JAX's
/// modules say that they come from nowhere, and errors about the whole program stand at the module.)
class ProgramDiagnostics {
public:
  ProgramDiagnostics(llvm::SourceMgr &sources, MLIRContext *context, const std::string &path)
      : withPlace(sources, context), without(context, [path](Diagnostic &said) { return print(said, path); }) {}

private:
  static LogicalResult print(Diagnostic &said, const std::string &path); ///< failure: leaves it to the other
  SourceMgrDiagnosticHandler withPlace;
  ScopedDiagnosticHandler without;
};
/// Failure has been reported.
FailureOr<ParsedModule> parseProgram(const std::string &path);
/// The same in the form in which it is planned.
FailureOr<ParsedModule> importProgram(const std::string &path);

/// A module, planned. Diagnostics went to stderr when `plan` failed.
struct PlannedModule {
  std::unique_ptr<llvm::SourceMgr> sources = std::make_unique<llvm::SourceMgr>();
  std::unique_ptr<MLIRContext> context;
  std::unique_ptr<ProgramDiagnostics> diagnostics; ///< also those of planning it again
  OwningOpRef<ModuleOp> module;
  ModulePlan plan;
};

/// What a pass said about an operation: mlir::remark, kept.
struct Remark {
  std::string kind;     ///< "passed", "missed", "analysis"
  std::string category; ///< the pass
  std::string name, location, text;
};

/// Looks at the outputs, parses, imports and plans; nothing is written. Failure has been reported. `remarks`: what import and planning had to say,
/// in their order.
FailureOr<PlannedModule> loadAndPlan(const PlanOptionsOnCommandLine &options, std::vector<Remark> *remarks = nullptr);
/// The same module planned for another cluster.
FailureOr<ModulePlan> planAlso(PlannedModule &planned, const PlanOptionsOnCommandLine &options,
                               llvm::StringRef cluster);

} // namespace mlir::braid::sim

#endif
