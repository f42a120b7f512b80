//===- Launcher.h - one job's ranks on this host, from start to end ------------------------------------------------===//
//
// One loop polls everything: signals, output, control channels, the store's clients, the launchers of other hosts. A failure
// is reported once; then the other ranks are told why (control channel), asked (SIGTERM), and ended (SIGKILL).
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TOOLS_BRAID_LAUNCH_LAUNCHER_H
#define BRAID_TOOLS_BRAID_LAUNCH_LAUNCHER_H

#include "Options.h"
#include "Output.h"
#include "Processes.h"
#include "bootstrap/StoreClient.h"
#include "bootstrap/StoreServer.h"
#include <list>
#include <memory>
#include <optional>

namespace braid::launch {

class Launcher {
public:
  Launcher(const Options &options, const Before &before, pid_t keeper);
  /// Sent by the keeper with SIGTERM: whoever wanted this job is gone.
  static constexpr int frontIsGone = 1;
  /// Runs the job; the exit status.
  int run();

private:
  struct Rank {
    int rank;
    Started process;
    runtime::ControlPair control;
    Lines out, err;
    bool running = true;
    Rank(int rank, Sink &out, Sink &err, const std::string &prefix) : rank(rank), out(out, prefix), err(err, prefix) {}
  };

  bool openStore();
  bool startRanks();
  void step();
  void signals();
  void reap();
  bool read(Socket &stream, Lines &lines);
  void listen(Rank &rank);
  void watchOthers();
  /// The first failure decides what the job's exit status is and ends it.
  void failed(int rank, const std::string &how, int status, bool here);
  /// A rank was killed or crashed: the cause of what was seen before it, unless that was one too (command/Endings.h).
  void killed(int rank, const std::string &how, int status);
  /// Ends the job on the other hosts.
  void publish(int shellStatus, const std::string &what);
  void tell(const runtime::ControlMessage &message, int except);
  void end();        ///< next step of ending: ask, then force
  void lostOutput(); ///< what the ranks say can't be passed on: ends the job
  void say(const std::string &text);
  bool anyRunning() const;

  const Options &options;
  const Before &before;
  const pid_t keeper; ///< the process above
  Sink out{1}, err{2};
  std::list<Rank> ranks;
  Socket signalSource;
  std::string job, secret, rendezvous;
  std::unique_ptr<runtime::StoreServer> server;            ///< with rank 0
  std::unique_ptr<runtime::StoreClient> reports, news;     ///< elsewhere
  std::optional<int> status;                               ///< of the first failure
  bool causeKnown = false;                                 ///< it is that of a rank that was killed
  std::vector<char> landing = std::vector<char>(64 << 10); ///< for output; the stack may be as small (ulimit -s)
  int signalled = 0;                                       ///< the signal that asks us to end
  enum { Running, Told, Asked, Forced } phase = Running;
  std::optional<runtime::Deadline> next; ///< of the next phase
};

} // namespace braid::launch

#endif
