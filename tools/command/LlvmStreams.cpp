//===- LlvmStreams.cpp - standard output of tools on LLVM -----------------------------------------------------------===//
#include "Command.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/resource.h>

namespace braid::command {

/// LLVM's command line prints --help and ends the process; what then can't be written is a fatal error of the stream's end.
static void onFatalError(void *tool, const char *reason, bool) {
  llvm::StringRef why = reason;
  if (why.consume_front("IO failure on output stream: "))
    llvm::errs() << *static_cast<std::string *>(tool) << ": error: cannot write: " << why << "\n";
  else
    llvm::errs() << "LLVM ERROR: " << why << "\n";
}

/// A compiler's passes go deep. Up to what LLVM takes for granted, where the limit is one that may be raised.
static void deepenStack() {
  constexpr rlim_t wanted = 8 << 20;
  rlimit stack;
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= wanted)
    return;
  stack.rlim_cur = std::min(stack.rlim_max, wanted);
  setrlimit(RLIMIT_STACK, &stack);
}

void prepareStreams(const std::string &tool) {
  deepenStack();
  static auto *name = new std::string(tool); // lives longer than the streams
  llvm::install_fatal_error_handler(onFatalError, name);
}

std::string flushStreams() {
  std::string why;
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    why = llvm::outs().error().message();
    llvm::outs().clear_error();
  }
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return why;
  return errno ? std::strerror(errno) : why.empty() ? "not all of it could be written" : why;
}

} // namespace braid::command
