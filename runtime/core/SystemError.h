//===- SystemError.h - what the operating system refused, and what to do about it ----------------------------------===//
#ifndef BRAID_RUNTIME_CORE_SYSTEMERROR_H
#define BRAID_RUNTIME_CORE_SYSTEMERROR_H

#include "core/Outcome.h"
#include <cerrno>
#include <cstddef>
#include <cstdio>

namespace braid::runtime {

/// "listen on 127.0.0.1:80: Permission denied", from errno. Where a limit was met, the limit and the way out:
/// "...: Too many open files (this process may have 64 descriptors open: ulimit -n)".
Outcome systemOutcome(const std::string &what, int error = errno);

/// Whether this process can open `count` descriptors more: tried, so that a rank that can't says so before others wait for
/// it. `what`: what they are for.
Outcome roomForDescriptors(size_t count, const std::string &what);

/// Whether a file of this process may be so large (RLIMIT_FSIZE, whose excess is a signal and no error).
Outcome roomForFile(size_t bytes, const std::string &what);

/// "0.5 s", for errors.
inline std::string textOfSeconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

} // namespace braid::runtime

#endif
