//===- Output.h - output of the ranks, line by line ----------------------------------------------------------------===//
//
// Lines of different ranks never mix. The launcher does not block on a reader that is slow: what can't be written waits, and
// when much waits, the ranks do.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TOOLS_BRAID_LAUNCH_OUTPUT_H
#define BRAID_TOOLS_BRAID_LAUNCH_OUTPUT_H

#include "bootstrap/Deadline.h"
#include <string>

namespace braid::launch {

/// One of the launcher's own streams.
class Sink {
public:
  explicit Sink(int fd) : fd(fd) {}
  void line(const std::string &text) { waiting += text; }
  /// Writes what the reader takes now; false: nobody reads any more.
  bool flush();
  /// Writes everything, at most until the deadline.
  void finish(runtime::Deadline deadline);
  bool empty() const { return at == waiting.size(); }
  bool full() const { return waiting.size() - at > (1u << 20); }
  int error() const { return broken; } ///< errno of the write that failed; 0: none has
  const int fd;

private:
  int broken = 0;
  std::string waiting;
  size_t at = 0;
};

/// Cuts one stream of a rank into lines for a sink.
class Lines {
public:
  Lines(Sink &sink, std::string prefix) : sink(sink), prefix(std::move(prefix)) {}
  void feed(const char *data, size_t size);
  void finish();                                       ///< the last line may lack its end
  const std::string &last() const { return lastLine; } ///< that was not blank, for the report of a failure

private:
  void emit(std::string line);
  Sink &sink;
  std::string prefix, partial, lastLine;
};

} // namespace braid::launch

#endif
