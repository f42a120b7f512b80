//===- PlainStreams.cpp - standard output of tools without LLVM -----------------------------------------------------===//
#include "Command.h"
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace braid::command {

void prepareStreams(const std::string &) {}

std::string flushStreams() {
  errno = 0;
  bool written = std::fflush(stdout) == 0 && !std::ferror(stdout);
  return written ? "" : errno ? std::strerror(errno) : "not all of it could be written";
}

} // namespace braid::command
