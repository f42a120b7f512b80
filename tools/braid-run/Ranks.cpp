//===- Ranks.cpp - local ranks by fork --------------------------------------------------------------------------===//
#include "Ranks.h"
#include "../command/Endings.h"
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace braid::run {

/// Ranks of one job share a secret that nobody else knows.
static std::string newSecret() {
  std::random_device random;
  std::string secret;
  for (int word = 0; word < 4; ++word) {
    char text[9];
    snprintf(text, sizeof(text), "%08x", unsigned(random()));
    secret += text;
  }
  return secret;
}

/// Hashes of what ranks have said, in memory that they share; 0 is a free place. Full, ranks repeat each other.
static std::atomic<uint64_t> *said = nullptr;
static constexpr size_t mostSaid = 64;

bool anySaid() { return said && said[0] != 0; }

bool firstToSay(const std::string &text) {
  uint64_t mine = std::hash<std::string>()(text) | 1;
  for (size_t place = 0; said && place < mostSaid; ++place) {
    uint64_t found = 0;
    if (said[place].compare_exchange_strong(found, mine))
      return true;
    if (found == mine)
      return false;
  }
  return true;
}

int runRanks(int count, double grace, const std::function<int(int)> &body) {
  // Under a launcher this is a job of its own, and what the launcher says of its own job is not about these ranks.
  const char *store = getenv("BRAID_STORE");
  if (store && !strcmp(store, "launcher"))
    for (const char *name : {"BRAID_STORE", "BRAID_RENDEZVOUS", "BRAID_CONTROL", "BRAID_LAUNCHER", "BRAID_JOB"})
      unsetenv(name);
  for (const char *name : {"BRAID_LOCAL_RANK", "BRAID_LOCAL_RANKS"})
    unsetenv(name);
  setenv("BRAID_JOB_SECRET", newSecret().c_str(), 1);
  setenv("BRAID_RANKS", std::to_string(count).c_str(), 1);
  void *shared =
      mmap(nullptr, mostSaid * sizeof(*said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); // zeros
  said = shared == MAP_FAILED ? nullptr : static_cast<std::atomic<uint64_t> *>(shared);
  fflush(stdout);
  fflush(stderr);
  pid_t parent = getpid();
  sigset_t child, before;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, &before);
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < count; ++rank) {
    pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent)
        _exit(1);
      sigprocmask(SIG_SETMASK, &before, nullptr);
      setenv("BRAID_RANK", std::to_string(rank).c_str(), 1);
      int status = body(rank);
      bool did = status == 0;
      if ((fflush(stdout) != 0 || ferror(stdout)) && did) {
        fprintf(stderr, "%s: error: rank %d: standard output: %s\n", program_invocation_short_name, rank,
                strerror(errno));
        status = 1;
      }
      fflush(stderr);
      // A rank that did its part says farewell, which the runtime does at exit: the store that rank 0 serves outlives it until
      // the others need it no longer. One that has failed does not, so that the others hear of it at once.
      if (did)
        exit(status);
      _exit(status);
    }
    if (pid < 0) {
      fprintf(stderr, "%s: error: fork: %s\n", program_invocation_short_name, strerror(errno));
      for (pid_t started : ranks)
        kill(started, SIGKILL);
      break;
    }
    ranks.push_back(pid);
  }
  bool all = int(ranks.size()) == count, forced = false;
  command::Endings endings;
  size_t left = ranks.size();
  using Clock = std::chrono::steady_clock;
  Clock::time_point deadline = Clock::time_point::max();
  while (left > 0) {
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid > 0) {
      for (size_t rank = 0; rank < ranks.size(); ++rank) {
        if (ranks[rank] != pid)
          continue;
        ranks[rank] = -1;
        --left;
        if (status != 0 && endings.status() == 0)
          deadline = Clock::now() + std::chrono::milliseconds(int64_t(grace * 1000));
        endings.add(int(rank), status, forced);
      }
      continue;
    }
    if (pid < 0)
      break;
    // Nobody has ended: wait for the next one, or until those that are left have had their time.
    auto now = Clock::now();
    if (now >= deadline) {
      for (pid_t rank : ranks)
        if (rank > 0)
          kill(rank, SIGKILL);
      deadline = Clock::time_point::max();
      forced = true;
    }
    auto most = deadline == Clock::time_point::max() ? std::chrono::nanoseconds(std::chrono::seconds(3600))
                                                     : std::chrono::nanoseconds(deadline - now);
    timespec timeout = {time_t(most.count() / 1000000000), long(most.count() % 1000000000)};
    sigtimedwait(&child, nullptr, &timeout);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (std::string text = endings.text(); !text.empty()) // what went wrong a rank has said itself, unless it was killed
    fprintf(stderr, "%s: %s%s\n", program_invocation_short_name, endings.anyKilled() ? "error: " : "", text.c_str());
  return all ? endings.status() : 1;
}

} // namespace braid::run
