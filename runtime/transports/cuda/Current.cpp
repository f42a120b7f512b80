//===- Current.cpp - contexts of devices ----------------------------------------------------------------------------===//
#include "transports/cuda/Current.h"

namespace braid::runtime::cuda {

Outcome contextOf(const Driver &driver, Address at, Context &context, int ordinal) {
  Outcome done;
  if (at) {
    if (driver.cuPointerGetAttribute(&ordinal, pointerDevice, at) != success)
      return {BRAID_INVALID, "expected memory of a device, got memory that the driver does not know"};
    if (driver.cuPointerGetAttribute(&context, pointerContext, at) == success && context)
      return {};
  } else {
    Context own = nullptr;
    done = driver.check(driver.cuCtxGetCurrent(&own), "the context of this thread");
    if (done && own)
      context = own;
    if (!done || own)
      return done;
    int devices = 0;
    done = driver.check(driver.cuDeviceGetCount(&devices), "the number of devices");
    if (done && ordinal >= devices)
      return {BRAID_INVALID, "cuda: expected a device for each rank of the host, got " + std::to_string(devices) +
                                 " for rank " + std::to_string(ordinal) + " of them; make a context current first"};
  }
  Device device = 0;
  if (done)
    done = driver.check(driver.cuDeviceGet(&device, ordinal), "device " + std::to_string(ordinal));
  return done ? driver.check(driver.cuDevicePrimaryCtxRetain(&context, device),
                             "the context of device " + std::to_string(ordinal))
              : done;
}

} // namespace braid::runtime::cuda
