//===- WholeFile.cpp - an output file that is whole or not there ------------------------------------------------===//
#include "WholeFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>

using namespace mlir::braid;

namespace {
/// For the handler of fatal errors, which LLVM's streams raise when a write fails at their end.
struct {
  std::string output, temporary;
} current;
} // namespace

static void report(llvm::StringRef why) {
  llvm::StringRef name = current.output == "-" ? "standard output" : llvm::StringRef(current.output);
  llvm::errs() << "error: cannot write '" << name << "': " << why << "\n";
}

static void onFatalError(void *, const char *reason, bool) {
  llvm::StringRef why = reason;
  if (!current.temporary.empty())
    std::remove(current.temporary.c_str());
  if (why.consume_front("IO failure on output stream: "))
    report(why);
  else
    llvm::errs() << "LLVM ERROR: " << why << "\n";
}

WholeFile::WholeFile(llvm::StringRef name) : output(name), written(name) {
  llvm::remove_fatal_error_handler(); // this one knows the file
  llvm::install_fatal_error_handler(onFatalError);
  bool special = false;
  if (output != "-") {
    llvm::sys::fs::file_status status;
    std::error_code missing = llvm::sys::fs::status(output, status);
    special = !missing && status.type() != llvm::sys::fs::file_type::regular_file;
    llvm::SmallString<128> target; // a link stays a link
    if (!missing && !special && !llvm::sys::fs::real_path(output, target))
      output = target.str().str();
    if (!special) {
      written = output + "." + std::to_string(llvm::sys::Process::getProcessId()) + ".part";
      current.temporary = written;
      llvm::sys::RemoveFileOnSignal(written);
    }
  }
  current.output = name.str();
}

bool WholeFile::finish(bool succeeded) {
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    report(llvm::outs().error().message());
    llvm::outs().clear_error();
    succeeded = false;
  }
  if (current.temporary.empty())
    return succeeded;
  if (succeeded && llvm::sys::fs::exists(written))
    if (std::error_code failed = llvm::sys::fs::rename(written, output)) {
      report(failed.message());
      succeeded = false;
    }
  llvm::sys::fs::remove(written);
  llvm::sys::DontRemoveFileOnSignal(written);
  current.temporary.clear();
  return succeeded;
}
