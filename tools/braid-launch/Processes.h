//===- Processes.h - starting ranks, and ending everything that came of them ---------------------------------------===//
#ifndef BRAID_TOOLS_BRAID_LAUNCH_PROCESSES_H
#define BRAID_TOOLS_BRAID_LAUNCH_PROCESSES_H

#include "bootstrap/Control.h"
#include "bootstrap/Socket.h"
#include <csignal>
#include <map>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace braid::launch {

using runtime::Outcome;
using runtime::Socket;

/// How processes were before the launcher changed signals and limits; ranks start like that.
struct Before {
  sigset_t signals;
  rlimit files;
};

struct Started {
  pid_t pid = -1;
  Socket out, err; ///< the reading ends
};

/// Starts a program with additions to the environment. It dies with this process. Its standard input is ours if `input`, else
/// empty. BRAID_INVALID: the program can't be run (`notFound` tells which exit status a shell would give).
Outcome start(const std::vector<std::string> &command, const std::map<std::string, std::string> &environment,
              bool input, const runtime::ControlPair &control, const Before &before, Started &started,
              int &shellStatus);

/// "ended with exit status 3", "was ended by signal 9 (Killed)".
std::string describe(int waitStatus);
/// Makes this process the parent of all orphans below it, so that none can get away.
void adoptOrphans();
/// Ends and reaps all children, and theirs when they come here; asks first, then does not.
void endDescendants(double grace);

} // namespace braid::launch

#endif
