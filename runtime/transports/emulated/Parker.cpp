//===- Parker.cpp - waiting on a futex --------------------------------------------------------------------------===//
#include "transports/emulated/Parker.h"
#include <climits>
#include <cmath>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace braid::runtime {

static_assert(sizeof(std::atomic<uint32_t>) == 4, "a futex is 32 bits");

namespace {
class FutexParker : public Parker {
public:
  void park(int, std::atomic<uint32_t> &word, uint32_t seen, double atMost) override {
    timespec limit;
    limit.tv_sec = time_t(atMost);
    limit.tv_nsec = long((atMost - std::floor(atMost)) * 1e9);
    syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
  }
  void unpark(int, std::atomic<uint32_t> &word) override {
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
};
} // namespace

Parker &futexParker() {
  static FutexParker parker;
  return parker;
}

} // namespace braid::runtime
