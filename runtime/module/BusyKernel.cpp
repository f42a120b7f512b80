//===- BusyKernel.cpp - computation that keeps a processor busy ---------------------------------------------------===//
#include "module/BusyKernel.h"

namespace braid::runtime {

braid_status busyKernel(braid_comm *comm, double seconds) {
  constexpr int chains = 16, rounds = 1024; // enough chains to fill the pipelines of two vector units
  float sums[chains];
  for (int i = 0; i < chains; ++i)
    sums[i] = float(i);
  double now = 0;
  braid_status status = braid_now(comm, &now);
  for (double end = now + seconds; status == BRAID_OK && now < end; status = braid_now(comm, &now)) {
    for (int round = 0; round < rounds; ++round)
      for (float &sum : sums)
        sum = sum * 0.999f + 0.5f;             // stays near 500
    asm volatile("" : : "r"(sums) : "memory"); // the sums are wanted
  }
  return status;
}

} // namespace braid::runtime
