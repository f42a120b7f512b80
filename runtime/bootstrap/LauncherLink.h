//===- LauncherLink.h - a process's link to the launcher that started it -------------------------------------------===//
//
// For waiting loops: `ended` is cheap (it looks at the channel once a millisecond at most) and says whether the job is to
// end (a rank failed, the launcher is gone), or a communicator of it (a rank has given it up). Without a launcher it never
// does.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_LAUNCHERLINK_H
#define BRAID_RUNTIME_BOOTSTRAP_LAUNCHERLINK_H

#include "bootstrap/Control.h"
#include <deque>
#include <mutex>

namespace braid::runtime {

class LauncherLink {
public:
  /// The one of this process, from its environment.
  static LauncherLink &ofProcess();

  explicit LauncherLink(const Environment &environment);
  /// Whether the job is to end, or the communicator `scope` in it (0: none); `why` names the rank, `rank` is it or -1. Stays
  /// true. Any thread.
  bool ended(uint64_t scope, std::string &why, int &rank);
  /// Tells the launcher, which tells the other ranks of this host: `rank` has given up the communicator. Overtakes
  /// everything.
  void abort(int rank, uint64_t scope, const std::string &why);
  void progress(int rank, const std::string &text);
  /// "control over message queues", for the first line of a log.
  const std::string &text() const { return description; }

private:
  std::mutex mutex;
  ControlEnd end;
  Socket launcher;
  std::string description;
  std::deque<ControlMessage> aborts; // the job's last, once there is one
  bool over = false;                 // the job
  long long looked = 0;              // ns
};

} // namespace braid::runtime

#endif
