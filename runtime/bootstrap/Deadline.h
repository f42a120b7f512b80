//===- Deadline.h - until when to try ------------------------------------------------------------------------------===//
//
// A Deadline is a point on the clock that never jumps; it is passed down, so that many small waits together stay within one.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_DEADLINE_H
#define BRAID_RUNTIME_BOOTSTRAP_DEADLINE_H

#include "core/SystemError.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

namespace braid::runtime {

class Deadline {
public:
  explicit Deadline(double seconds)
      : end(std::chrono::steady_clock::now() +
            std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                std::chrono::duration<double>(std::min(std::max(seconds, 0.0), 1e8)))) {}
  double left() const { return std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count(); }
  bool passed() const { return left() <= 0; }
  /// For poll(2): rounded up, so that a loop does not spin through the last millisecond.
  int milliseconds() const {
    double rest = left();
    return rest <= 0 ? 0 : static_cast<int>(std::min(rest * 1000 + 1, 1e9));
  }
  /// The earlier of this one and `seconds` from now.
  Deadline within(double seconds) const { return Deadline(std::min(left(), seconds)); }

private:
  std::chrono::steady_clock::time_point end;
};

} // namespace braid::runtime

#endif
