//===- Current.h - which device a thread speaks to ------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_CUDA_CURRENT_H
#define BRAID_RUNTIME_TRANSPORTS_CUDA_CURRENT_H

#include "transports/cuda/Driver.h"

namespace braid::runtime::cuda {

constexpr int pointerContext = 1; ///< CUpointer_attribute

/// Makes a context that of this thread, and then again the one that was: threads of the program keep theirs.
class Current {
public:
  Current(const Driver &driver, Context context)
      : driver(driver), entered(driver.check(driver.cuCtxPushCurrent_v2(context), "the context of the device")) {}
  ~Current() {
    Context left;
    if (entered)
      driver.cuCtxPopCurrent_v2(&left);
  }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;
  const Outcome &outcome() const { return entered; }

private:
  const Driver &driver;
  Outcome entered;
};

/// The context that the memory at `at` is of, or the primary one of its device where it is of none (memory pools); of no address: the thread's own context, else that of device `ordinal`.
Outcome contextOf(const Driver &driver, Address at, Context &context, int ordinal = 0);

} // namespace braid::runtime::cuda

#endif
