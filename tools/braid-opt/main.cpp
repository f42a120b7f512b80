//===- main.cpp - braid-opt: MlirOptMain with Braid's dialect and passes ----------------------------------------===//
//
// All of upstream is registered beside Braid, so that a program can go through stock passes and Braid's in one command.
// Source dialects that Braid reads by name (stablehlo, sdy, ...) are placeholders: their operations are kept as they
// are.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "../command/ClusterInputs.h"
#include "WholeFile.h"
#include "braid/dialect/BraidDialect.h"
#include "braid/passes/PlaceholderDialects.h"
#include "braid/passes/Register.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

/// MLIR reads an empty file as an empty module, which would be "planned" without a word. Most likely an export failed.
static bool isEmptyFile(llvm::StringRef name) {
  if (name == "-")
    return false;
  auto file = llvm::MemoryBuffer::getFile(name);
  return file && (*file)->getBuffer().trim().empty();
}

/// Files of the clusters that options of passes name: "--braid-plan=cluster=FILE ...", "braid-plan{cluster=FILE}".
static braid::command::Files clusterInputs(llvm::ArrayRef<char *> arguments) {
  braid::command::Files inputs;
  for (llvm::StringRef argument : arguments)
    for (size_t at = 0; (at = argument.find("cluster=", at)) != llvm::StringRef::npos;) {
      llvm::StringRef path = argument.substr(at += llvm::StringRef("cluster=").size());
      path = path.take_until([](char c) { return c == ' ' || c == '}' || c == ','; });
      inputs = braid::command::clusterInputs("cluster", path.trim("\"'").str(), std::move(inputs));
    }
  return inputs;
}

int main(int argc, char **argv) {
  braid::command::Tool tool("braid-opt");
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<mlir::braid::BraidDialect>();
  mlir::braid::registerPlaceholderDialects(registry);
  mlir::braid::registerBraidPasses();
  mlir::braid::registerBraidPipelines();

  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "Braid's optimizer driver\n", registry);
  if (isEmptyFile(input)) {
    llvm::errs() << input << ": error: expected a program, got an empty file\n";
    return EXIT_FAILURE;
  }
  if (braid::command::Files inputs = clusterInputs({argv, size_t(argc)}); !inputs.empty())
    if (std::string error = braid::command::checkOutputs({{"-o", output}}, inputs); !error.empty()) {
      llvm::errs() << "error: " << error << "\n";
      return EXIT_FAILURE;
    }
  mlir::braid::WholeFile file(output);
  bool succeeded = mlir::succeeded(mlir::MlirOptMain(argc, argv, input, file.name(), registry));
  return tool.finish(file.finish(succeeded) ? EXIT_SUCCESS : EXIT_FAILURE);
}
