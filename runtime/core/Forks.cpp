#include "core/Forks.h"
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <set>
#include <unistd.h>

namespace braid::runtime {

namespace {

unsigned forks = 0; // only changed in a child that has one thread yet

struct Kept {
  std::mutex mutex;
  std::set<int> descriptors;
};
Kept &kept() {
  static auto *all = new Kept(); // sockets of static objects are closed late
  return *all;
}

/// The numbers stay taken, so that whoever closes them in the child closes nothing else.
void inChild() {
  ++forks;
  int null = kept().descriptors.empty() ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int descriptor : kept().descriptors)
    dup3(null, descriptor, O_CLOEXEC);
  if (null >= 0)
    close(null);
  kept().mutex.unlock();
}

void listen() {
  static const bool registered = // the library stays loaded: -z nodelete
      pthread_atfork([] { kept().mutex.lock(); }, [] { kept().mutex.unlock(); }, inChild) == 0;
  (void)registered;
}

} // namespace

unsigned forksBefore() {
  listen();
  return forks;
}

void keepFromForks(int descriptor) {
  listen();
  std::lock_guard<std::mutex> lock(kept().mutex);
  kept().descriptors.insert(descriptor);
}

void closesNow(int descriptor) {
  std::lock_guard<std::mutex> lock(kept().mutex);
  kept().descriptors.erase(descriptor);
}

} // namespace braid::runtime
