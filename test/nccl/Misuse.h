//===- Misuse.h - what the programs of the stand-in share, and the judge of the judge -------------------------------===//
#ifndef BRAID_TEST_NCCL_MISUSE_H
#define BRAID_TEST_NCCL_MISUSE_H

#include "engines/nccl/Library.h"
#include "transports/cuda/Current.h"
#include <cstdio>
#include <cstdlib>

namespace braid::test {

namespace nccl = runtime::nccl;
namespace cuda = runtime::cuda;

[[noreturn]] inline void fail(const std::string &text) {
  std::fprintf(stderr, "nccl_ranks: %s\n", text.c_str());
  std::exit(1);
}

inline void need(const runtime::Outcome &outcome) {
  if (!outcome)
    fail(outcome.text);
}

inline const cuda::Driver &driver() {
  runtime::Outcome why;
  const cuda::Driver *found = cuda::Driver::find(why);
  need(why);
  return *found;
}

inline void makeCurrent(int ordinal) {
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  need(driver().check(driver().cuDeviceGet(&device, ordinal), "device"));
  need(driver().check(driver().cuDevicePrimaryCtxRetain(&context, device), "context"));
  need(driver().check(driver().cuCtxSetCurrent(context), "context"));
}

/// Calls that NCCL refuses, or would not survive; each has to be refused. Exits with 1 where one is not.
int misuse();

} // namespace braid::test

#endif
