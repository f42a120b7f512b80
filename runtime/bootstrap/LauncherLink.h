//===- LauncherLink.h - a process's link to the launcher that started it -------------------------------------------===//
//
// For waiting loops: `ended` is cheap (it looks at the channel once a millisecond at most) and says whether the job is to
// end: somebody aborted, a rank failed, the launcher is gone. Without a launcher it never does.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_LAUNCHERLINK_H
#define BRAID_RUNTIME_BOOTSTRAP_LAUNCHERLINK_H

#include "bootstrap/Control.h"
#include <mutex>

namespace braid::runtime {

class LauncherLink {
public:
  /// The one of this process, from its environment.
  static LauncherLink &ofProcess();

  explicit LauncherLink(const Environment &environment);
  /// Whether the job is to end; `why` names the rank, `rank` is it or -1. Stays true. Any thread.
  bool ended(std::string &why, int &rank);
  /// Tells the launcher, which tells the other ranks of this host and of others. Overtakes everything.
  void abort(int rank, const std::string &why);
  void progress(int rank, const std::string &text);
  /// "control over message queues", for the first line of a log.
  const std::string &text() const { return description; }

private:
  std::mutex mutex;
  ControlEnd end;
  Socket launcher;
  std::string description, reason;
  int culprit = -1;
  bool over = false;
  long long looked = 0; // ns
};

} // namespace braid::runtime

#endif
