//===- Progress.cpp - the progress thread, for operations that nobody waits for -----------------------------------===//
#include "core/Progress.h"
#include "core/Communicator.h"
#include "transports/Clock.h"
#include <csignal>
#include <pthread.h>
#include <time.h>

namespace braid::runtime {

ProgressThread::ProgressThread(Communicator &comm) : comm(comm) {
  sigset_t all, before; // signals are the program's business
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread = std::thread([this] { run(); });
  pthread_setname_np(thread.native_handle(), "braid-progress");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ProgressThread::~ProgressThread() {
  {
    std::lock_guard<std::mutex> lock(comm.mutex);
    stop = true;
    wanted.notify_one();
  }
  thread.join();
}

void ProgressThread::wake() {
  if (awake)
    return;
  awake = true;
  wanted.notify_one();
}

void ProgressThread::run() {
  std::unique_lock<std::mutex> lock(comm.mutex);
  while (!stop) {
    if (comm.active.empty() || !comm.failedHere())
      awake = false;
    if (!awake) {
      wanted.wait(lock);
      continue;
    }
    if (comm.progress())
      continue;
    if (Clock *clock = comm.transport().clock()) // steps that only wait for a time
      comm.armClock(*clock);
    bool parks = comm.transport().park(true);
    if (parks && comm.progress())
      continue;
    lock.unlock();
    if (!parks || !comm.transport().park(false)) {
      timespec little = {0, 100'000};
      nanosleep(&little, nullptr);
    }
    lock.lock();
  }
}

} // namespace braid::runtime
