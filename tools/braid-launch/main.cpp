//===- braid-launch - starts the ranks of a job on this host and ends them together --------------------------------===//
//
// Three processes, each the parent of last resort of all that is below it, so that ranks and whatever they have started are
// ended whichever of the three is killed, or any two at once:
//
//   front      the one that the user sees; passes signals on
//   keeper     passes signals on; outlives the other two, under a name of its own
//   launcher   starts the ranks and does all the work
//
// If all three get SIGKILL at once, ranks end with the launcher; what they have started may stay, as nobody is left to end it.
//===--------------------------------------------------------------------------------------------------------------===//
#include "../command/Command.h"
#include "../command/Endings.h"
#include "Launcher.h"
#include <cstdio>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid::launch;
namespace command = braid::command;

namespace {

/// Waits for the process below; its exit status. `above`: the process that this one depends on; 0: none.
int guard(pid_t below, pid_t above, const sigset_t &signals, double grace) {
  bool alone = false; // the one above is gone
  for (;;) {
    siginfo_t info;
    if (sigwaitinfo(&signals, &info) < 0)
      continue;
    if (above && !alone && getppid() != above) {
      alone = true;
      sigqueue(below, SIGTERM, {Launcher::frontIsGone});
    } else if (info.si_signo != SIGCHLD && info.si_code != SI_KERNEL) { // a terminal has sent it to all of us already
      kill(below, info.si_signo);
    }
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != below)
        continue;
      if (WIFSIGNALED(status)) {
        std::fprintf(stderr, "braid-launch: the launcher %s; ending its ranks\n", describe(status).c_str());
        endDescendants(grace);
      }
      return command::shellStatusOf(status);
    }
  }
}

/// In a process that was just made: ends with `parent`, and adopts what is orphaned below it.
void settle(pid_t parent, const char *name) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent)
    _exit(1);
  prctl(PR_SET_NAME, name);
  adoptOrphans();
}

} // namespace

int main(int argc, char **argv) {
  braid::command::Tool tool("braid-launch");
  Options options;
  Asked asked = Asked::Nothing;
  std::string error = parseOptions(argc, argv, options, asked);
  if (asked != Asked::Nothing) {
    std::printf("%s", asked == Asked::Help ? usage : (command::versionOf("braid-launch") + "\n").c_str());
    return tool.finish(0);
  }
  if (!error.empty()) {
    std::fprintf(stderr, "braid-launch: error: %s (braid-launch --help)\n", error.c_str());
    return 2;
  }
  Before before;
  sigset_t signals;
  sigemptyset(&signals);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD})
    sigaddset(&signals, number);
  sigprocmask(SIG_BLOCK, &signals, &before.signals);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL); // ignored by some parents, and then children vanish unseen
  getrlimit(RLIMIT_NOFILE, &before.files);
  rlimit more = {before.files.rlim_max, before.files.rlim_max};
  setrlimit(RLIMIT_NOFILE, &more); // a rank costs up to eight descriptors here

  adoptOrphans();
  pid_t front = getpid(), keeper = fork();
  if (keeper < 0) {
    std::perror("braid-launch: fork");
    return 1;
  }
  if (keeper > 0)
    return guard(keeper, 0, signals, options.grace);
  settle(front, "braid-keeper");
  keeper = getpid();
  pid_t launcher = fork();
  if (launcher < 0) {
    std::perror("braid-launch: fork");
    _exit(1);
  }
  if (launcher > 0)
    _exit(guard(launcher, front, signals, options.grace));
  settle(keeper, "braid-launch");
  int status = Launcher(options, before, keeper).run();
  _exit(status); // nothing to flush: output goes through descriptors
}
