//===- AtomicFile.cpp - a file is written whole or not at all ---------------------------------------------------===//
#include "braid/runtime/trace/AtomicFile.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace braid::trace {

static std::string failure(const char *verb, const std::string &path, int reason) {
  return std::string("cannot ") + verb + " " + path + ": " + std::strerror(reason);
}

/// All of `content`, also where the system takes it in pieces. Returns errno or 0.
static int writeAll(int file, const std::string &content) {
  size_t done = 0;
  while (done < content.size()) {
    ssize_t n = ::write(file, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno;
    done += size_t(n);
  }
  return 0;
}

std::string writeAtomically(const std::string &path, const std::string &content) {
  struct stat status{};
  bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode))
    return failure("write", path, EISDIR);

  if (exists && !S_ISREG(status.st_mode)) { // a device or a pipe must not be renamed over
    int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0)
      return failure("open", path, errno);
    int reason = writeAll(file, content);
    if (::close(file) != 0 && reason == 0)
      reason = errno;
    return reason ? failure("write", path, reason) : std::string();
  }

  // Through a symbolic link, so that the link stays.
  std::string target = path;
  if (exists) {
    if (char *real = ::realpath(path.c_str(), nullptr)) {
      target = real;
      std::free(real);
    }
  }
  std::string temporary = target + ".tmp.XXXXXX";
  int file = ::mkstemp(temporary.data());
  if (file < 0)
    return failure("write", path, errno);
  // mkstemp gives 0600; a new file gets what the user's mask allows, a replaced one keeps its mode.
  mode_t mode = status.st_mode & 07777;
  if (!exists) {
    mode_t mask = ::umask(0);
    ::umask(mask);
    mode = 0666 & ~mask;
  }
  int reason = writeAll(file, content);
  if (!reason && ::fchmod(file, mode) != 0)
    reason = errno;
  if (!reason && ::fsync(file) != 0 && errno != EINVAL && errno != EROFS) // a full disk may show only here
    reason = errno;
  if (::close(file) != 0 && !reason)
    reason = errno;
  if (!reason && ::rename(temporary.c_str(), target.c_str()) != 0)
    reason = errno;
  if (reason) {
    ::unlink(temporary.c_str());
    return failure("write", path, reason);
  }
  return {};
}

std::string checkWritable(const std::string &path) {
  struct stat status{};
  bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode))
    return failure("write", path, EISDIR);
  if (exists && !S_ISREG(status.st_mode))
    return ::access(path.c_str(), W_OK) == 0 ? std::string() : failure("open", path, errno);
  // The file is made beside the old one, so what counts is the folder: of the file that a symbolic link leads to.
  std::string target = path;
  if (exists)
    if (char *real = ::realpath(path.c_str(), nullptr)) {
      target = real;
      std::free(real);
    }
  size_t slash = target.rfind('/');
  std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : target.substr(0, slash);
  if (path.empty() || slash + 1 == target.size())
    return failure("write", path, path.empty() ? ENOENT : EISDIR);
  if (::stat(folder.c_str(), &status) == 0 && !S_ISDIR(status.st_mode))
    return failure("write", path, ENOTDIR);
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? std::string() : failure("write", path, errno);
}

} // namespace braid::trace
