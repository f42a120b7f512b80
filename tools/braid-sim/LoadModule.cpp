//===- LoadModule.cpp - a program from a file, imported and planned ---------------------------------------------===//
#include "LoadModule.h"
#include "braid/dialect/BraidDialect.h"
#include "braid/passes/LocationText.h"
#include "braid/passes/Passes.h"
#include "braid/passes/PlaceholderDialects.h"
#include "braid/passes/Register.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::braid;
using namespace mlir::braid::sim;

PlanOptionsOnCommandLine::PlanOptionsOnCommandLine(llvm::cl::OptionCategory &category)
    : input(llvm::cl::Positional, llvm::cl::Required, llvm::cl::desc("<program.mlir>"), llvm::cl::cat(category)),
      cluster("cluster", llvm::cl::desc("cluster file (YAML); default: the module's braid.cluster"),
              llvm::cl::cat(category)),
      engine("engine", llvm::cl::init("nccl"), llvm::cl::desc("who runs the collectives: nccl (default), braid"),
             llvm::cl::cat(category)),
      objective("objective", llvm::cl::init("training"),
                llvm::cl::desc("training: mean over a job's steps at the quantile over jobs; serving: quantile over "
                               "steps; default: training"),
                llvm::cl::cat(category)),
      placement("placement", llvm::cl::init("packed"),
                llvm::cl::desc("packed (default), or host:gpu,host:gpu,... one per rank"), llvm::cl::cat(category)),
      memoryLimit("memory-limit", llvm::cl::desc("peak bytes per device, with unit; default: the device's memory"),
                  llvm::cl::cat(category)),
      budget("budget",
             llvm::cl::desc("time that the search may add to a greedy plan, with unit, counted as work; 0: greedy; "
                            "default: 10 s"),
             llvm::cl::cat(category)),
      computeProfile("compute-profile", llvm::cl::desc("JSON with measured times by location; default: roofline"),
                     llvm::cl::cat(category)),
      target("target",
             llvm::cl::desc("who runs the result: stablehlo, braid; default: braid with engine braid, else stablehlo"),
             llvm::cl::cat(category)),
      quantile("quantile", llvm::cl::init(-1), llvm::cl::desc("0 to 1; default: the cluster's profile"),
               llvm::cl::cat(category)),
      split("split", llvm::cl::init(true),
            llvm::cl::desc("try the program with its large collectives cut, too; default: on"),
            llvm::cl::cat(category)),
      loops("loops", llvm::cl::init(LoopPolicy::Auto), loopPolicyValues(),
            llvm::cl::desc("whether collectives may run in the next trip of a loop; default: auto"),
            llvm::cl::cat(category)),
      seed("seed", llvm::cl::init(1), llvm::cl::desc("of all draws; default: 1"), llvm::cl::cat(category)) {}

PlanRequest PlanOptionsOnCommandLine::request() const {
  PlanRequest request;
  request.cluster = cluster;
  request.engine = engine;
  request.objective = objective;
  request.placement = placement;
  request.memoryLimit = memoryLimit;
  request.budget = budget;
  request.computeProfile = computeProfile;
  request.target = target.getNumOccurrences() ? target.getValue() : engine == "braid" ? "braid" : "stablehlo";
  request.seed = seed;
  request.split = split;
  request.loops = loops;
  request.inlineLoops = inlineLoops;
  if (quantile.getNumOccurrences())
    request.quantile = quantile;
  return request;
}

namespace {

class Listener : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Listener(std::vector<Remark> &remarks) : remarks(remarks) {}
  void streamOptimizationRemark(const remark::detail::Remark &said) override {
    Remark kept{said.getRemarkTypeString().lower(), said.getCombinedCategoryName().str(), said.getRemarkName().str(),
                locationText(said.getLocation()), ""};
    for (const auto &argument : said.getArgs())
      kept.text += argument.val;
    remarks.push_back(std::move(kept));
  }

private:
  std::vector<Remark> &remarks;
};

} // namespace

LogicalResult ProgramDiagnostics::print(Diagnostic &said, const std::string &path) {
  if (said.getLocation()->findInstanceOf<FileLineColLoc>())
    return failure();
  const char *severity = said.getSeverity() == DiagnosticSeverity::Error     ? "error"
                         : said.getSeverity() == DiagnosticSeverity::Warning ? "warning"
                         : said.getSeverity() == DiagnosticSeverity::Remark  ? "remark"
                                                                             : "note";
  llvm::errs() << path << ": " << severity << ": ";
  if (!isa<UnknownLoc>(said.getLocation()))
    llvm::errs() << locationText(said.getLocation()) << ": ";
  llvm::errs() << said << "\n";
  for (Diagnostic &note : said.getNotes())
    if (failed(print(note, path)))
      llvm::errs() << locationText(note.getLocation()) << ": note: " << note << "\n";
  return success();
}

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registry.insert<BraidDialect>();
  registerPlaceholderDialects(registry);
  return std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
}

static OwningOpRef<ModuleOp> parse(const std::string &path, llvm::SourceMgr &sources, MLIRContext &context) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &message);
  if (!file) {
    llvm::errs() << "error: " << message << "\n";
    return nullptr;
  }
  if (file->getBuffer().trim().empty()) {
    llvm::errs() << path << ": error: expected a program, got an empty file\n";
    return nullptr;
  }
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, &context);
}

/// The form in which programs are planned.
static LogicalResult prepare(ModuleOp module) {
  registerBraidPasses();
  PassManager manager(module.getContext());
  return success(succeeded(parsePassPipeline("braid-import,braid-simplify,braid-scatter-reductions", manager)) &&
                 succeeded(manager.run(module)));
}

FailureOr<ParsedModule> mlir::braid::sim::parseProgram(const std::string &path) {
  ParsedModule parsed;
  parsed.context = makeContext();
  ProgramDiagnostics handler(*parsed.sources, parsed.context.get(), path);
  parsed.module = parse(path, *parsed.sources, *parsed.context);
  if (!parsed.module)
    return failure();
  return parsed;
}

/// Says what is wrong with the files that the options name as outputs. `option`: that names the cluster file.
static LogicalResult checkOutputs(const PlanOptionsOnCommandLine &options, const char *option,
                                  const std::string &cluster) {
  ::braid::command::Files inputs = options.inputs;
  inputs.push_back({"the program", options.input});
  inputs.push_back({"--compute-profile", options.computeProfile});
  std::string error = ::braid::command::checkOutputs(
      options.outputs, ::braid::command::clusterInputs(option, cluster, std::move(inputs)));
  if (error.empty())
    return success();
  llvm::errs() << "error: " << error << "\n";
  return failure();
}

FailureOr<ParsedModule> mlir::braid::sim::importProgram(const std::string &path) {
  FailureOr<ParsedModule> parsed = parseProgram(path);
  if (failed(parsed))
    return failure();
  ProgramDiagnostics handler(*parsed->sources, parsed->context.get(), path);
  if (failed(prepare(*parsed->module)))
    return failure();
  return parsed;
}

FailureOr<PlannedModule> mlir::braid::sim::loadAndPlan(const PlanOptionsOnCommandLine &options,
                                                       std::vector<Remark> *remarks) {
  PlannedModule planned;
  if (failed(checkOutputs(options, "--cluster", options.cluster)))
    return failure();
  planned.context = makeContext();
  MLIRContext &context = *planned.context;

  if (remarks && failed(remark::enableOptimizationRemarks(context, std::make_unique<Listener>(*remarks),
                                                          std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                                          {".*", ".*", ".*", ".*", ".*"})))
    return failure();

  planned.diagnostics = std::make_unique<ProgramDiagnostics>(*planned.sources, &context, options.input);
  planned.module = parse(options.input, *planned.sources, context);
  if (!planned.module)
    return failure();
  auto named = (*planned.module)->getAttrOfType<StringAttr>(BraidDialect::getClusterAttrName());
  if (named && options.cluster.empty() && failed(checkOutputs(options, "braid.cluster", named.str())))
    return failure();
  if (failed(prepare(*planned.module)))
    return failure();
  FailureOr<ModulePlan> plan = planModule(*planned.module, options.request());
  if (failed(plan))
    return failure();
  if (!plan->pricer) {
    llvm::errs() << options.input << ": error: expected a program with collectives to plan, got none\n";
    return failure();
  }
  planned.plan = std::move(*plan);
  if (remarks)
    remarkPlan(planned.plan);
  return planned;
}

FailureOr<ModulePlan> mlir::braid::sim::planAlso(PlannedModule &planned, const PlanOptionsOnCommandLine &options,
                                                 llvm::StringRef cluster) {
  PlanRequest request = options.request();
  request.cluster = cluster.str();
  return planModule(*planned.module, request);
}
