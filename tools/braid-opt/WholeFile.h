//===- WholeFile.h - an output file that is whole or not there --------------------------------------------------===//
#ifndef BRAID_OPT_WHOLEFILE_H
#define BRAID_OPT_WHOLEFILE_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::braid {

/// Stock MlirOptMain writes into the output file itself: on a full disk it ends with "LLVM ERROR" and leaves a part of
/// the file, or nothing of what was there before. With this it writes a temporary file beside it, which takes the place
/// of the output when all is written. Standard output and special files (/dev/null, pipes) are written directly.
///
/// Any failure to write, also to standard output, becomes one error that names the file; the exit status is 1.
class WholeFile {
public:
  explicit WholeFile(llvm::StringRef output);
  /// The name to write to.
  llvm::StringRef name() const { return written; }
  /// `succeeded`: everything was produced. Puts the file in its place; false if that failed (reported).
  bool finish(bool succeeded);

private:
  std::string output, written;
};

} // namespace mlir::braid

#endif // BRAID_OPT_WHOLEFILE_H
