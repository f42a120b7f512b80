//===- PingPong.cpp - how far apart two processors are now, and whether anybody else uses them -----------------------------===//
//
// Two pinned threads pass a number back and forth, spinning. Prints the median time of one way and its 90 % quantile, in
// nanoseconds, over 200 stretches of 100 round trips. In a virtual machine the two processors may be siblings (30 ns), share a
// cache (50 ns) or not (200 ns), and that changes while it runs. A stretch that another process interrupts takes milliseconds.
//===--------------------------------------------------------------------------------------------------------------------===//
#include "tools/braid-bench/Sampling.h"
#include <atomic>
#include <chrono>
#include <cstdio>
#include <sched.h>
#include <thread>

static constexpr int stretches = 200, roundTrips = 100;

int main() {
  cpu_set_t allowed;
  std::vector<int> processors;
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &allowed))
      processors.push_back(i);
  if (processors.size() < 2) {
    fprintf(stderr, "error: expected two processors, got one\n");
    return 1;
  }
  auto pin = [&](size_t index) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processors[index], &one);
    sched_setaffinity(0, sizeof one, &one);
  };
  alignas(64) std::atomic<int> ball{-1};
  std::thread partner([&] {
    pin(1);
    ball = 0; // ready
    for (int i = 0; i < stretches * roundTrips; ++i) {
      while (ball.load(std::memory_order_acquire) != 2 * i + 1)
        __builtin_ia32_pause();
      ball.store(2 * i + 2, std::memory_order_release);
    }
  });
  pin(0);
  while (ball != 0)
    __builtin_ia32_pause();
  std::vector<double> oneWay;
  for (int stretch = 0, i = 0; stretch < stretches; ++stretch) {
    auto begin = std::chrono::steady_clock::now();
    for (int end = i + roundTrips; i < end; ++i) {
      ball.store(2 * i + 1, std::memory_order_release);
      while (ball.load(std::memory_order_acquire) != 2 * i + 2)
        __builtin_ia32_pause();
    }
    std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    oneWay.push_back(took.count() / (2 * roundTrips));
  }
  partner.join();
  std::sort(oneWay.begin(), oneWay.end());
  printf("%.1f %.1f\n", braid::bench::quantile(oneWay, 0.5), braid::bench::quantile(oneWay, 0.9));
  return 0;
}
