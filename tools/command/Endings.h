//===- Endings.h - how the ranks of a job ended: one exit status, one line -----------------------------------------===//
//
// One rule for every tool that starts ranks. The exit status of a job is that of its first cause:
//
//   1. the first rank that was killed or crashed (ended by a signal that its launcher did not send): 128 + signal
//   2. else the first rank that failed: its own status
//   3. else 0
//
// What a killed rank's peers return is a consequence, and may be seen first: the system closes the connections of a process
// before its end can be waited for. SIGABRT counts as status 134: a program sends it to itself when it gives up.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TOOLS_COMMAND_ENDINGS_H
#define BRAID_TOOLS_COMMAND_ENDINGS_H

#include <string>
#include <vector>

namespace braid::command {

/// Whether a process with this status of waitpid(2) was killed or crashed.
bool wasKilled(int waitStatus);
/// As a shell gives it: the status, or 128 + signal.
int shellStatusOf(int waitStatus);

class Endings {
public:
  /// A rank has ended, with the status of waitpid(2). `forced`: its launcher has killed it, since it did not end by itself.
  void add(int rank, int waitStatus, bool forced = false);
  /// Of the job.
  int status() const;
  /// "rank 3 was killed by signal 9; ranks 0-2, 4-63 ended with status 70": the first cause first. "" if none failed.
  std::string text() const;
  /// Some rank was killed or crashed, and may have had no chance to say anything.
  bool anyKilled() const;

private:
  struct Kind {
    int waitStatus;
    bool forced;
    std::vector<int> ranks;
  };
  std::vector<Kind> kinds; ///< causes, then consequences, each in the order in which they were seen
};

} // namespace braid::command

#endif
