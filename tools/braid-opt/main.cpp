//===- main.cpp - braid-opt: MlirOptMain with Braid's dialect and passes ----------------------------------------===//
//
// All of upstream is registered beside Braid, so that a program can go through stock passes and Braid's in one command.
// Source dialects that Braid reads by name (stablehlo, sdy, ...) are placeholders: their operations are kept as they
// are.
//
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/dialect/BraidDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#if defined(BRAID_HAVE_PASSES_LIBRARY) && __has_include("braid/passes/Register.h")
#include "braid/passes/Register.h"
#define BRAID_HAS_PASSES 1
#endif
#if defined(BRAID_HAVE_PASSES_LIBRARY) && __has_include("braid/passes/PlaceholderDialects.h")
#include "braid/passes/PlaceholderDialects.h"
#define BRAID_HAS_PLACEHOLDERS 1
#endif

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<mlir::braid::BraidDialect>();
#ifdef BRAID_HAS_PLACEHOLDERS
  mlir::braid::registerPlaceholderDialects(registry);
#endif
#ifdef BRAID_HAS_PASSES
  mlir::braid::registerBraidPasses();
  mlir::braid::registerBraidPipelines();
#endif
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Braid's optimizer driver\n", registry));
}
