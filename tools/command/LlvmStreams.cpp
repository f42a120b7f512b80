//===- LlvmStreams.cpp - standard output of tools on LLVM -----------------------------------------------------------===//
#include "Command.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
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

/// A compiler's passes go deep, in the first thread and in others. Where the limit may be raised, up to what LLVM takes for
/// granted; a stack on which it would only crash is an error.
static void deepenStack(const std::string &tool) {
  constexpr rlim_t wanted = 8 << 20, least = 1 << 20;
  rlimit stack;
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= wanted)
    return;
  rlimit more = {wanted, std::max(stack.rlim_max, wanted)};
  if (setrlimit(RLIMIT_STACK, &more) != 0) { // without the right to raise the hard limit
    more = {std::min(stack.rlim_max, wanted), stack.rlim_max};
    setrlimit(RLIMIT_STACK, &more);
  }
  if (more.rlim_cur < least) {
    std::fprintf(stderr, "%s: error: stack: expected a limit of at least %d KiB (ulimit -s), got %d KiB\n",
                 tool.c_str(), int(least >> 10), int(more.rlim_cur >> 10));
    std::exit(1);
  }
#ifdef __GLIBC__ // which has taken the size of other threads' stacks from the limit that was
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, more.rlim_cur);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
#endif
}

void prepareStreams(const std::string &tool) {
  deepenStack(tool);
  static auto *name = new std::string(tool); // lives longer than the streams
  llvm::install_fatal_error_handler(onFatalError, name);
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &out) { out << versionOf(*name) << "\n"; });
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
