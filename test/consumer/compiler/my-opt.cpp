// The smallest mlir-opt with Braid's dialect, passes and pipeline.
#include "braid/dialect/BraidDialect.h"
#include "braid/passes/PlaceholderDialects.h"
#include "braid/passes/Register.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, mlir::braid::BraidDialect>();
  mlir::braid::registerPlaceholderDialects(registry);
  mlir::braid::registerBraidPasses();
  mlir::braid::registerBraidPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "my optimizer\n", registry));
}
