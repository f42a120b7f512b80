//===- Processes.cpp - starting ranks, and ending everything that came of them -------------------------------------===//
#include "Processes.h"
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <set>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace braid::launch {
namespace {

/// The command and the environment as exec wants them, made before the fork.
struct Image {
  std::vector<std::string> strings;
  std::vector<char *> arguments, variables;
  Image(const std::vector<std::string> &command, const std::map<std::string, std::string> &environment) {
    for (char **entry = environ; *entry; ++entry) {
      std::string text = *entry;
      if (!environment.count(text.substr(0, text.find('='))))
        strings.push_back(text);
    }
    for (auto &[name, value] : environment)
      strings.push_back(name + "=" + value);
    for (std::string &text : strings)
      variables.push_back(text.data());
    variables.push_back(nullptr);
    for (const std::string &word : command)
      arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
  }
};

bool makePipe(Socket &reading, Socket &writing) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    return false;
  reading = Socket(ends[0]);
  writing = Socket(ends[1]);
  return true;
}

/// Children of this process that are running or waiting to be reaped. Empty also if /proc belongs to another pid namespace,
/// whose numbers would be somebody else's.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  char self[32] = "";
  if (readlink("/proc/self", self, sizeof self - 1) <= 0 || std::atoi(self) != getpid())
    return found;
  DIR *proc = opendir("/proc");
  if (!proc)
    return found;
  while (dirent *entry = readdir(proc)) {
    pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0)
      continue;
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text, '\0'); // empty if it has ended meanwhile; iterators over the file would throw then
    size_t after = text.rfind(')'); // the name in front may hold anything
    char state;
    pid_t parent = 0;
    if (after != std::string::npos && (std::istringstream(text.substr(after + 1)) >> state >> parent) &&
        parent == getpid())
      found.push_back(pid);
  }
  closedir(proc);
  return found;
}

} // namespace

Outcome start(const std::vector<std::string> &command, const std::map<std::string, std::string> &environment,
              bool input, const runtime::ControlPair &control, const Before &before, Started &started,
              int &shellStatus) {
  Socket out, err, failure, failed;
  shellStatus = 1;
  if (!makePipe(started.out, out) || !makePipe(started.err, err) || !makePipe(failure, failed))
    return runtime::systemOutcome("pipes for " + command[0]);
  fcntl(started.out.fd(), F_SETFL, O_NONBLOCK);
  fcntl(started.err.fd(), F_SETFL, O_NONBLOCK);
  Image image(command, environment);
  pid_t parent = getpid(), pid = fork();
  if (pid < 0)
    return runtime::systemOutcome("start of " + command[0]);
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
    if (!input) {
      int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
      dup2(none, STDIN_FILENO);
    }
    dup2(out.fd(), STDOUT_FILENO);
    dup2(err.fd(), STDERR_FILENO);
    control.inherit();
    signal(SIGPIPE, SIG_DFL);
    setrlimit(RLIMIT_NOFILE, &before.files);
    sigprocmask(SIG_SETMASK, &before.signals, nullptr);
    execvpe(image.arguments[0], image.arguments.data(), image.variables.data());
    int error = errno;
    (void)!write(failed.fd(), &error, sizeof error);
    _exit(127);
  }
  started.pid = pid;
  failed.close();
  int error = 0;
  ssize_t got;
  while ((got = read(failure.fd(), &error, sizeof error)) < 0 && errno == EINTR)
    ;
  if (got == sizeof error) {
    waitpid(pid, nullptr, 0);
    started.pid = -1;
    shellStatus = error == ENOENT ? 127 : 126;
    return {BRAID_INVALID, "program " + command[0] + ": " + std::strerror(error)};
  }
  return {};
}

std::string describe(int waitStatus) {
  if (WIFSIGNALED(waitStatus)) {
    int number = WTERMSIG(waitStatus);
    return "was ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  return "ended with exit status " + std::to_string(WEXITSTATUS(waitStatus));
}

void adoptOrphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void endDescendants(double grace) {
  runtime::Deadline patience(grace), hopeless(grace + 10);
  std::set<pid_t> asked;
  while (!hopeless.passed()) {
    while (waitpid(-1, nullptr, WNOHANG) > 0)
      ;
    siginfo_t none;
    if (waitid(P_ALL, 0, &none, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD)
      return;
    // Those that end hand their children to us, so look again until there are none.
    std::vector<pid_t> all = children();
    if (all.empty())
      return; // /proc is not ours
    bool force = patience.passed();
    for (pid_t pid : all)
      if (force) {
        kill(pid, SIGKILL);
      } else if (asked.insert(pid).second) {
        kill(pid, SIGTERM);
        kill(pid, SIGCONT); // a stopped one hears nothing else
      }
    poll(nullptr, 0, 5);
  }
}

} // namespace braid::launch
