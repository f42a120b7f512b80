//===- Compile.cpp - parse, lower, compile ----------------------------------------------------------------------===//
//
// The compiler runs in the process that starts the ranks, so all of them get the same code by fork. MLIR's threads are off:
// a process with threads cannot be forked safely.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "Compile.h"
#include "Entry.h"

#include "braid/dialect/BraidOps.h"
#include "braid/dialect/Groups.h"
#include "braid/passes/LocationText.h"
#include "braid/passes/Passes.h"
#include "braid/passes/PlaceholderDialects.h"
#include "braid/runtime/algorithms/Paths.h"
#include "braid/runtime/trace/AtomicFile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <set>

using namespace mlir;

namespace braid::run {

namespace {

class JitProgram : public Program {
public:
  explicit JitProgram(DialectRegistry &registry) : context(registry, MLIRContext::Threading::DISABLED) {}

  void (*entry())(void **) override { return function; }
  /// By way of a temporary file, which is all that the engine can write.
  std::string writeObject(const std::string &path) override {
    SmallString<128> temporary;
    if (std::error_code code = llvm::sys::fs::createTemporaryFile("braid-run", "o", temporary))
      return "expected to write a temporary file, got: " + code.message();
    llvm::FileRemover remover(temporary);
    engine->dumpToObjectFile(temporary);
    auto object = llvm::MemoryBuffer::getFile(temporary);
    if (!object || (*object)->getBufferSize() == 0)
      return "expected to write a temporary file, got nothing in " + temporary.str().str();
    return ::braid::trace::writeAtomically(path, (*object)->getBuffer().str());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::function<llvm::Error(llvm::Module *)> optimize;
  std::unique_ptr<ExecutionEngine> engine;
  void (*function)(void **) = nullptr;
};

/// What braid-mark-compute has left on the module.
std::string marksOf(ModuleOp module) {
  llvm::json::Array rows;
  if (auto marks = module->getAttrOfType<ArrayAttr>("braid.marks"))
    for (auto mark : marks.getAsRange<DictionaryAttr>()) {
      llvm::json::Object row;
      for (NamedAttribute field : mark)
        row[field.getName().getValue()] = cast<StringAttr>(field.getValue()).getValue();
      rows.push_back(std::move(row));
    }
  auto program = module->getAttrOfType<StringAttr>("braid.program");
  llvm::json::Object top{{"program", program ? program.getValue() : ""}, {"marks", std::move(rows)}};
  return llvm::formatv("{0}", llvm::json::Value(std::move(top))).str();
}

/// What says of itself that its place is unknown (programs printed with locations, bytecode) is in this file, so that errors name it.
void nameFile(ModuleOp module, StringRef file) {
  Location somewhere = FileLineColLoc::get(module.getContext(), file, 0, 0);
  module->walk([&](Operation *op) {
    if (isa<UnknownLoc>(op->getLoc()))
      op->setLoc(somewhere);
  });
}

/// A text that the compiled object exports.
void addText(ModuleOp module, StringRef symbol, std::string text) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  text.push_back(0);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::External, symbol,
                         builder.getStringAttr(text));
}

} // namespace

int64_t elementBytesOf(RankedTensorType type) {
  std::optional<int64_t> bytes = mlir::braid::elementBytes(type.getElementType());
  return bytes.value_or(0);
}

/// The connections that its plans ask for together.
static std::string pathsOf(ModuleOp module) {
  ::braid::algorithms::Paths all, one;
  module.walk([&](mlir::braid::CollectiveOpInterface op) {
    if (mlir::braid::PlanAttr plan = op.getPlanAttr(); plan && !plan.getPath().empty())
      if (::braid::algorithms::Paths::read(plan.getPath().str(), one).empty())
        all.add(one);
  });
  return all.empty() ? "" : all.spelling();
}

/// The engines of its plans, as BRAID_ENGINE names them; empty: Braid's own alone.
static std::string enginesOf(ModuleOp module) {
  std::set<std::string> names;
  module.walk([&](mlir::braid::CollectiveOpInterface op) {
    if (mlir::braid::PlanAttr plan = op.getPlanAttr(); plan && plan.getEngine() != mlir::braid::EngineKind::Braid)
      names.insert(mlir::braid::stringifyEngineKind(plan.getEngine()).str());
  });
  return names.empty() ? "" : "braid," + llvm::join(names, ",");
}

std::unique_ptr<Program> compile(const CompileOptions &options) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  registry.insert<mlir::braid::BraidDialect>();
  mlir::braid::registerPlaceholderDialects(registry);
  auto program = std::make_unique<JitProgram>(registry);

  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &program->context);
  program->context.printOpOnDiagnostic(false);
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(options.file, &message);
  if (!file || file->getBuffer().trim().empty()) {
    llvm::errs() << (file ? options.file + ": error: expected a program, got an empty file" : "error: " + message)
                 << "\n";
    return nullptr;
  }
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  program->module = parseSourceFile<ModuleOp>(sources, &program->context);
  if (!program->module)
    return nullptr;
  ModuleOp module = *program->module;
  nameFile(module, options.file);
  auto entry = module.lookupSymbol<func::FuncOp>(options.entry);
  if (!entry) {
    emitError(mlir::braid::placeOf(module)) << "entry, expected a func.func @" << options.entry << ", got none";
    return nullptr;
  }
  program->ranks = mlir::braid::rankCountOf(module, &program->exactly);
  program->paths = pathsOf(module);
  program->engines = enginesOf(module);

  // Marks name operations as the planner does, so they are set while the entry takes and gives what it did for the planner.
  PassManager planned(&program->context), lower(&program->context);
  mlir::braid::LowerPipelineOptions lowering;
  lowering.cluster = options.cluster;
  lowering.marks = options.marks;
  mlir::braid::buildPlannedPipeline(planned, lowering);
  mlir::braid::buildLowerPlannedPipeline(lower);
  if (failed(planned.run(module)) || failed(prepareEntry(entry, *program)) || failed(lower.run(module)))
    return nullptr;
  if (options.dumpLlvm) {
    module->print(llvm::outs());
    return program;
  }

  if (options.marks) {
    program->marks = marksOf(module);
    addText(module, kMarksSymbol, program->marks);
  }
  addText(module, kDescriptionSymbol, program->describe());

  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder) {
    llvm::errs() << "braid-run: error: no code generator for this machine: " << toString(builder.takeError()) << '\n';
    return nullptr;
  }
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  if (options
          .keepObject) { // for a linker. A JIT's own default is the large model, whose addresses are text relocations
    builder->setRelocationModel(llvm::Reloc::PIC_);
    builder->setCodeModel(llvm::CodeModel::Small);
  }
  auto machine = builder->createTargetMachine();
  auto compiler = builder->createTargetMachine();
  if (llvm::Error error = llvm::joinErrors(machine.takeError(), compiler.takeError())) {
    llvm::errs() << "braid-run: error: no target machine: " << toString(std::move(error)) << '\n';
    return nullptr;
  }
  program->machine = std::move(*machine);
  program->optimize = makeOptimizingTransformer(3, 0, program->machine.get());
  ExecutionEngineOptions engine;
  engine.transformer = program->optimize; // kept in the program: it is only referred to
  engine.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  engine.enablePerfNotificationListener = false; // each run would leave a dump for perf in the home directory's .debug
  SmallVector<StringRef> libraries;
  if (!options.runtime.empty())
    libraries.push_back(options.runtime);
  engine.sharedLibPaths = libraries;
  engine.enableObjectDump = options.keepObject;
  auto made = ExecutionEngine::create(module, engine, options.keepObject ? std::move(*compiler) : nullptr);
  if (!made) {
    llvm::errs() << "braid-run: error: compiling: " << toString(made.takeError()) << '\n';
    return nullptr;
  }
  program->engine = std::move(*made);
  auto function = program->engine->lookupPacked("_mlir_ciface_braid_module_entry");
  if (!function) {
    llvm::errs() << "braid-run: error: entry @" << options.entry << ": " << toString(function.takeError()) << '\n';
    return nullptr;
  }
  program->function = *function;
  return program;
}

} // namespace braid::run
