//===- SystemError.cpp - what the operating system refused, and what to do about it --------------------------------===//
#include "core/SystemError.h"
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace braid::runtime {
namespace {

std::string limitOf(__rlimit_resource resource) {
  rlimit limit = {};
  getrlimit(resource, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur);
}

std::string wayOut(int error) {
  switch (error) {
  case EMFILE:
    return " (this process may have " + limitOf(RLIMIT_NOFILE) + " descriptors open; raise it with ulimit -n)";
  case ENFILE:
    return " (all descriptors of this machine are in use; raise fs.file-max)";
  case ENOSPC:
    return " (the memory behind shared files is used up: of the machine, or of this process's cgroup)";
  case ENOMEM:
    return " (address space: " + limitOf(RLIMIT_AS) +
           " bytes, ulimit -v; or the machine's or the cgroup's memory is used up)";
  case EFBIG:
    return " (a file may have " + limitOf(RLIMIT_FSIZE) + " bytes; raise it with ulimit -f)";
  case EAGAIN:
    return " (processes and threads of this user: " + limitOf(RLIMIT_NPROC) + "; raise it with ulimit -u)";
  default:
    return "";
  }
}

} // namespace

Outcome systemOutcome(const std::string &what, int error) {
  bool memory = error == ENOMEM || error == ENOSPC;
  return {memory ? BRAID_OUT_OF_MEMORY : BRAID_SYSTEM, what + ": " + std::strerror(error) + wayOut(error)};
}

Outcome roomForDescriptors(size_t count, const std::string &what) {
  std::vector<int> tried;
  int error = 0;
  int first = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (first < 0)
    error = errno;
  else
    tried.push_back(first);
  while (!error && tried.size() < count) {
    int next = fcntl(first, F_DUPFD_CLOEXEC, 0);
    if (next < 0)
      error = errno;
    else
      tried.push_back(next);
  }
  for (int fd : tried)
    close(fd);
  if (!error)
    return {};
  return systemOutcome(what + ": expected room for " + std::to_string(count) + " descriptors, got " +
                           std::to_string(tried.size()),
                       error);
}

Outcome roomForFile(size_t bytes, const std::string &what) {
  rlimit limit = {};
  bool fits = getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
  return fits ? Outcome() : systemOutcome(what + ": expected room for " + std::to_string(bytes) + " bytes", EFBIG);
}

} // namespace braid::runtime
