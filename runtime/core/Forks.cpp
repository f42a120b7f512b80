#include "core/Forks.h"
#include <pthread.h>

namespace braid::runtime {

static unsigned forks = 0; // only changed in a child that has one thread yet

unsigned forksBefore() {
  static const bool registered = pthread_atfork(nullptr, nullptr, [] { ++forks; }) == 0; // library stays: -z nodelete
  (void)registered;
  return forks;
}

} // namespace braid::runtime
