//===- Exchange.cpp - what every exchange can do, from its allgather ----------------------------------------------===//
#include "core/Exchange.h"
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <system_error>

namespace braid::runtime {

Outcome Exchange::agree(const std::string &key, const std::vector<int> &members, const Outcome &mine, double deadline) {
  std::string said = mine ? "" : std::to_string(int(mine.status)) + " " + mine.text;
  std::vector<std::string> all;
  Outcome met = allgather(key, members, said, deadline, all);
  // Of several that have died the exchange knows the first, where this rank may have seen only one that ended for it.
  bool account = met.status == BRAID_PEER_DIED && met.text.compare(0, 5, "rank ") == 0;
  if (!met)
    return mine || (account && mine.status == BRAID_PEER_DIED) ? met : mine;
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i].empty()) {
      std::string who = members[i] == rank() ? "" : "on rank " + std::to_string(members[i]) + ": ";
      size_t space = all[i].find(' ');
      int status = std::atoi(all[i].c_str());
      if (space == std::string::npos || status <= BRAID_OK || status > BRAID_MISMATCH)
        return {BRAID_MISMATCH, who + "expected an error, got " + std::to_string(all[i].size()) + " other bytes"};
      return {braid_status(status), who + all[i].substr(space + 1)};
    }
  return {};
}

Outcome Exchange::startThread(const char *name, std::function<void()> body, std::thread &thread) {
  return startQuietThread(name, std::move(body), thread);
}

Outcome startQuietThread(const char *name, std::function<void()> body, std::thread &thread) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); // inherited by the thread
  Outcome outcome;
  try {
    thread = std::thread(std::move(body));
    pthread_setname_np(thread.native_handle(), name);
  } catch (const std::system_error &error) {
    outcome = {BRAID_SYSTEM, std::string("thread ") + name + ": " + error.what()};
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return outcome;
}

} // namespace braid::runtime
