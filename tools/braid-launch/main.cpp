//===- braid-launch - starts the ranks of a job on this host and ends them together --------------------------------===//
//
// Two processes, so that ranks and their children are ended whichever of them is killed: the one in front, which the user
// sees, only passes signals on; the second one is the launcher. Each is the parent of last resort of all that is below it.
//===--------------------------------------------------------------------------------------------------------------===//
#include "Launcher.h"
#include <cstdio>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid::launch;

namespace {

/// Waits for the launcher; its exit status.
int guard(pid_t launcher, const sigset_t &signals, double grace) {
  for (;;) {
    siginfo_t info;
    if (sigwaitinfo(&signals, &info) < 0)
      continue;
    if (info.si_signo != SIGCHLD) {
      if (info.si_code != SI_KERNEL) // a terminal has sent it to the launcher already
        kill(launcher, info.si_signo);
      continue;
    }
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != launcher)
        continue;
      if (WIFSIGNALED(status)) {
        std::fprintf(stderr, "braid-launch: the launcher %s; ending its ranks\n", describe(status).c_str());
        endDescendants(grace);
      }
      return shellStatusOf(status);
    }
  }
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  bool help = false;
  std::string error = parseOptions(argc, argv, options, help);
  if (help) {
    std::fputs(usage, stdout);
    return 0;
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
  pid_t front = getpid(), launcher = fork();
  if (launcher < 0) {
    std::perror("braid-launch: fork");
    return 1;
  }
  if (launcher > 0)
    return guard(launcher, signals, options.grace);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != front)
    return 1;
  adoptOrphans();
  int status = Launcher(options, before, front).run();
  _exit(status); // nothing to flush: output goes through descriptors
}
