//===- Progress.cpp - the progress thread, for operations that nobody waits for -----------------------------------===//
#include "core/Progress.h"
#include "core/Communicator.h"
#include "transports/Clock.h"
#include <time.h>

namespace braid::runtime {

Outcome ProgressThread::start(Exchange &exchange) {
  return exchange.startThread("braid-progress", [this] { run(); }, thread);
}

ProgressThread::~ProgressThread() {
  if (!thread.joinable())
    return;
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
    bool parks = !comm.polls() && comm.transport().park(true);
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
