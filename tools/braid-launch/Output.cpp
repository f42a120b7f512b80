//===- Output.cpp - output of the ranks, line by line --------------------------------------------------------------===//
#include "Output.h"
#include <poll.h>
#include <unistd.h>

namespace braid::launch {

constexpr size_t longestLine = 64 << 10; // longer ones are cut; nothing is lost
constexpr size_t keptLine = 300;
constexpr size_t piece = 4096; // PIPE_BUF: a pipe that polls as writable takes this much without blocking

bool Sink::flush() {
  while (!empty() && !broken) {
    pollfd entry = {fd, POLLOUT, 0};
    if (poll(&entry, 1, 0) <= 0)
      return true;
    ssize_t written = write(fd, waiting.data() + at, std::min(piece, waiting.size() - at));
    if (written > 0)
      at += static_cast<size_t>(written);
    else if (errno == EAGAIN)
      return true;
    else if (errno != EINTR)
      broken = errno;
  }
  if (empty() || broken) {
    waiting.clear();
    at = 0;
  } else if (at > (1u << 20)) {
    waiting.erase(0, at);
    at = 0;
  }
  return !broken;
}

void Sink::finish(runtime::Deadline deadline) {
  while (flush() && !empty() && !deadline.passed()) {
    pollfd entry = {fd, POLLOUT, 0};
    poll(&entry, 1, deadline.milliseconds());
  }
}

void Lines::emit(std::string line) {
  size_t end = line.find_last_not_of(" \t\r\n");
  if (end != std::string::npos)
    lastLine = line.substr(0, std::min(end + 1, keptLine));
  sink.line(prefix + line);
}

void Lines::feed(const char *data, size_t size) {
  partial.append(data, size);
  size_t from = 0;
  for (size_t end; (end = partial.find('\n', from)) != std::string::npos; from = end + 1)
    emit(partial.substr(from, end + 1 - from));
  partial.erase(0, from);
  if (partial.size() > longestLine) {
    emit(partial + "\n");
    partial.clear();
  }
}

void Lines::finish() {
  if (!partial.empty())
    emit(partial + "\n");
  partial.clear();
}

} // namespace braid::launch
