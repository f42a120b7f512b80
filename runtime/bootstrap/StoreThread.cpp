//===- StoreThread.cpp - the store's server in a thread, on rank 0 -------------------------------------------------===//
#include "bootstrap/StoreThread.h"
#include <csignal>
#include <sys/socket.h>

namespace braid::runtime {

StoreThread::StoreThread(std::unique_ptr<StoreServer> given) : server(std::move(given)) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0) {
    inside = Socket(pair[0]);
    outside = Socket(pair[1]);
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); // inherited by the thread
  thread = std::thread([this] { run(); });
  pthread_setname_np(thread.native_handle(), "braid-store");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void StoreThread::run() {
  std::vector<pollfd> entries;
  bool finishing = false, ending = !inside;
  while (!ending && !(finishing && server->connections() == 0)) {
    entries.clear();
    size_t count = server->collect(entries);
    entries.push_back({inside.fd(), POLLIN, 0});
    if (poll(entries.data(), entries.size(), server->milliseconds()) < 0)
      continue;
    server->handle(entries.data(), count);
    if (entries.back().revents) {
      char byte;
      ssize_t got = recv(inside.fd(), &byte, 1, 0);
      finishing = finishing || got == 1;
      ending = got == 0;
    }
  }
  ended.set_value();
}

void StoreThread::finish(Deadline deadline) {
  char byte = 1;
  if (send(outside.fd(), &byte, 1, MSG_NOSIGNAL) == 1)
    ended.get_future().wait_for(std::chrono::duration<double>(std::max(deadline.left(), 0.0)));
}

StoreThread::~StoreThread() {
  outside.close();
  thread.join();
}

} // namespace braid::runtime
