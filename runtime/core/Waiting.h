//===- Waiting.h - the machine's time, and how often who waits looks for faults --------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_WAITING_H
#define BRAID_RUNTIME_CORE_WAITING_H

#include <chrono>

namespace braid::runtime {

constexpr unsigned spinsBetweenFaults = 32;

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace braid::runtime

#endif
