//===- BraidPlugin.cpp - Braid inside a stock mlir-opt ----------------------------------------------------------===//
//
//   mlir-opt-22 --load-dialect-plugin=BraidPlugin.so --load-pass-plugin=BraidPlugin.so \
//     --pass-pipeline='builtin.module(braid-default-pipeline{cluster=FILE})' IN.mlir
//
// One library exports both entry points. mlir-opt loads plugins before it reads its other flags, but passes of a plugin
// are reached only through --pass-pipeline, never as flags of their own. Placeholders for StableHLO are registered only
// under names that the host has not taken: a host that links the real dialects keeps them.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/dialect/BraidDialect.h"
#include "braid/passes/PlaceholderDialects.h"
#include "braid/passes/Register.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#define BRAID_EXPORTED extern "C" __attribute__((visibility("default")))

BRAID_EXPORTED mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Braid", BRAID_VERSION, [](mlir::DialectRegistry *registry) {
            registry->insert<mlir::braid::BraidDialect>();
            mlir::braid::registerPlaceholderDialects(*registry);
          }};
}

BRAID_EXPORTED mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Braid", BRAID_VERSION, [] {
            mlir::braid::registerBraidPasses();
            mlir::braid::registerBraidPipelines();
          }};
}
