//===- Farewell.cpp - the end of a process that destroys nothing ------------------------------------------------===//
#include "core/Farewell.h"
#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace braid::runtime {

namespace {

struct Entry {
  std::weak_ptr<Family> family;
  pid_t process; ///< a fork's are its parent's
};

std::mutex mutex;
/// Never destroyed: a program's own end may destroy communicators after ours has begun.
std::vector<Entry> &entries() {
  static auto *all = new std::vector<Entry>();
  return *all;
}

struct Body {
  void (*run)(bool good);
  pid_t process;
};
std::vector<Body> &bodies() {
  static auto *all = new std::vector<Body>();
  return *all;
}

void farewells(int status, void *) {
  std::vector<Entry> all;
  {
    std::lock_guard<std::mutex> lock(mutex);
    all.swap(entries());
  }
  for (const Entry &entry : all)
    if (std::shared_ptr<Family> family = entry.family.lock(); family && entry.process == getpid())
      family->farewell(status == 0);
  for (const Body &body : bodies())
    if (body.process == getpid())
      body.run(status == 0);
}

void hearOfTheEnd() {
#ifdef __GLIBC__ // atexit would not tell a good end from a bad one. The library stays loaded until then (-z nodelete)
  static const bool registered = on_exit(farewells, nullptr) == 0;
  (void)registered;
#endif
}

} // namespace

void sayFarewellAtExit(const std::shared_ptr<Family> &family) {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Entry> &all = entries();
  all.erase(std::remove_if(all.begin(), all.end(), [](const Entry &entry) { return entry.family.expired(); }),
            all.end());
  all.push_back({family, getpid()});
  hearOfTheEnd();
}

void atFarewell(void (*run)(bool good)) {
  std::lock_guard<std::mutex> lock(mutex);
  bodies().push_back({run, getpid()});
  hearOfTheEnd();
}

} // namespace braid::runtime
