//===- LauncherLink.cpp - a process's link to the launcher that started it -----------------------------------------===//
#include "bootstrap/LauncherLink.h"
#include <ctime>
#include <poll.h>

namespace braid::runtime {

constexpr long long lookEvery = 1000000; // ns
constexpr size_t remembered = 64;        // communicators that were given up

LauncherLink &LauncherLink::ofProcess() {
  static LauncherLink link(processEnvironment());
  return link;
}

LauncherLink::LauncherLink(const Environment &environment) {
  Outcome opened = openControl(end, environment);
  launcher = watchLauncher(environment);
  description = !opened        ? opened.text
                : !end         ? "no launcher's control channel"
                : end.queues() ? "control over message queues"
                               : "control over Unix sockets";
}

bool LauncherLink::ended(uint64_t scope, std::string &why, int &rank) {
  std::lock_guard<std::mutex> lock(mutex);
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  long long ns = now.tv_sec * 1000000000LL + now.tv_nsec;
  if (!over && (end || launcher) && ns - looked >= lookEvery) {
    looked = ns;
    ControlMessage message;
    while (!over && end.receive(message))
      if (message.kind == ControlMessage::Abort) {
        over = message.scope == 0;
        aborts.push_back(message);
        if (aborts.size() > remembered)
          aborts.pop_front();
      }
    pollfd entry = {launcher.fd(), POLLIN, 0};
    if (!over && (end.closed() || (launcher && poll(&entry, 1, 0) == 1))) {
      over = true;
      aborts.push_back({ControlMessage::Abort, -1, 0, "the launcher of this host has ended"});
    }
  }
  for (const ControlMessage &one : aborts)
    if (one.scope == 0 || one.scope == scope) {
      why = one.text;
      rank = one.rank;
      return true;
    }
  return false;
}

void LauncherLink::abort(int rank, uint64_t scope, const std::string &why) {
  std::lock_guard<std::mutex> lock(mutex);
  end.send({ControlMessage::Abort, rank, scope, why});
}

void LauncherLink::progress(int rank, const std::string &text) {
  std::lock_guard<std::mutex> lock(mutex);
  end.send({ControlMessage::Progress, rank, 0, text});
}

} // namespace braid::runtime
