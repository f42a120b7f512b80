//===- Control.h - what the launcher and the ranks of its host tell each other -------------------------------------===//
//
// One channel for each rank: two POSIX message queues, down (launcher to rank) and up. A message has a priority, so an abort
// is read before everything that waits already; and ordinary messages leave the last places of a queue free, so that an abort
// finds one in a queue that is otherwise full. Queues are made by the launcher, lose their names at once and are inherited as
// descriptors: they work in any namespace, and nothing is left behind however a process ends.
//
// The system allows few queues (RLIMIT_MSGQUEUE, here 819,200 bytes for all of a user's; fs.mqueue.queues_max). Where they
// are refused the channel is two pairs of Unix sockets instead, one of them for urgent messages, and `announcement` says so.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_CONTROL_H
#define BRAID_RUNTIME_BOOTSTRAP_CONTROL_H

#include "bootstrap/RankInfo.h"
#include "bootstrap/Socket.h"

namespace braid::runtime {

struct ControlMessage {
  enum Kind : uint8_t {
    Progress = 1, ///< up: anything that a person may want to read
    Died = 2,     ///< down: `rank` has ended, the text says how
    Abort = 3     ///< both: give up; `rank` is the first to blame, or -1
  };
  Kind kind = Progress;
  int rank = -1;
  uint64_t scope = 0; ///< Abort: a communicator, by a number that its members know; 0: the job
  std::string text;   ///< cut to what fits
};

/// One end of a channel.
class ControlEnd {
public:
  static constexpr size_t messageSize = 512, headSize = 13, messages = 10;

  /// Never blocks; false: no place (the abort of a job always has one, once), or the other end is gone.
  bool send(const ControlMessage &message);
  /// The most urgent message there is; false: none.
  bool receive(ControlMessage &message);
  bool queues() const { return kind == Queues; }
  explicit operator bool() const { return kind != None; }
  /// For poll(2): readable when there may be a message. `urgentFd` is -1 for queues.
  int fd() const { return in.fd(); }
  int urgentFd() const { return kind == Sockets ? urgent.fd() : -1; }
  /// Sockets only: the other process is gone.
  bool closed() const { return ended; }

private:
  friend struct ControlPair;
  friend Outcome openControl(ControlEnd &, const Environment &);
  enum { None, Queues, Sockets } kind = None;
  Socket in, out, urgent; // Sockets: `in` both ways
  bool ended = false;
};

/// Both ends, made by the launcher.
struct ControlPair {
  ControlEnd launcher, rank;
  std::string announcement; ///< empty: queues
  static Outcome make(const std::string &job, int rank, ControlPair &pair);
  /// In the child, before exec: the rank's end stays open.
  void inherit() const;
  std::string variable() const; ///< value of BRAID_CONTROL for the rank
};

/// The rank's end, from BRAID_CONTROL. Without a launcher: nothing, and no error. BRAID_SYSTEM: there should be one, but a
/// program in between has closed the descriptors; the rank can go on without.
Outcome openControl(ControlEnd &end, const Environment &environment = processEnvironment());

/// A descriptor that becomes readable when the launcher ends (pidfd), from BRAID_LAUNCHER; empty where it can't be had (no
/// launcher, or another pid namespace).
Socket watchLauncher(const Environment &environment = processEnvironment());
std::string launcherVariable(); ///< value of BRAID_LAUNCHER, made by the launcher

} // namespace braid::runtime

#endif
