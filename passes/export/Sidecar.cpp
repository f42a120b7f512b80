//===- Sidecar.cpp - what a consumer must be told beside the program -------===//
//
// XLA merges collectives itself. These options switch that off, so that those of a planned program are those that run. Its scheduler may
// still move what does not depend on each other; no option holds it to the order of the text.
//
//===----------------------------------------------------------------------===//

#include "braid/passes/Export.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

std::vector<std::string> mlir::braid::xlaFlags(XlaBackend backend) {
  if (backend == XlaBackend::Cpu) // merges every independent all_reduce into one, also across barriers
    return {"--xla_disable_hlo_passes=cpu-all-reduce-combiner"};
  return {// merges collectives up to these sizes in bytes
          "--xla_gpu_all_reduce_combine_threshold_bytes=0", "--xla_gpu_all_gather_combine_threshold_bytes=0",
          "--xla_gpu_reduce_scatter_combine_threshold_bytes=0"};
}

LogicalResult mlir::braid::writeXlaSidecar(Location loc, StringRef path) {
  auto fail = [&](const Twine &why) { return emitError(loc) << "sidecar '" << path << "': " << why; };
  llvm::json::Object sidecar{
      {"consumer", "jax"},
      {"how", "set the environment variable XLA_FLAGS to the flags of the backend, separated by blanks"},
      {"xla_flags", llvm::json::Object{{"cpu", llvm::json::Array(xlaFlags(XlaBackend::Cpu))},
                                       {"gpu", llvm::json::Array(xlaFlags(XlaBackend::Gpu))}}}};

  int descriptor;
  SmallString<128> temporary;
  if (std::error_code error = llvm::sys::fs::createUniqueFile(path + ".%%%%%%", descriptor, temporary))
    return fail("expected a writable place, got: " + error.message());
  llvm::FileRemover removeOnFailure(temporary);
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << llvm::formatv("{0:2}", llvm::json::Value(std::move(sidecar))) << "\n";
  os.close();
  if (os.has_error()) { // a full disk
    std::string why = os.error().message();
    os.clear_error();
    return fail("expected to write it all, got: " + why);
  }
  if (std::error_code error = llvm::sys::fs::rename(temporary, path))
    return fail("expected a writable place, got: " + error.message());
  removeOnFailure.releaseFile();
  return success();
}
