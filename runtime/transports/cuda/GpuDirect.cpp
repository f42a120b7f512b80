//===- GpuDirect.cpp - memory of a device that NICs read and write ---------------------------------------------------===//
//
// CUDA Driver API: cuMemGetHandleForAddressRange takes whole pages of the host; cuFlushGPUDirectRDMAWrites is for devices that
// don't say that they keep the order of writes (CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING).
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/cuda/GpuDirect.h"
#include <unistd.h>

namespace braid::runtime::cuda {

Outcome visibilityOfWrites(const Driver &driver, Visible &visible) {
  Device device = 0;
  int supported = 0, ordering = 0, options = 0;
  Outcome done = driver.check(driver.cuCtxGetDevice(&device), "the device of this thread");
  for (auto [value, attribute] : {std::pair(&supported, directSupported), std::pair(&ordering, directOrdering),
                                  std::pair(&options, directFlushOptions)})
    if (done)
      done = driver.check(driver.cuDeviceGetAttribute(value, attribute, device),
                          "attribute " + std::to_string(attribute) + " of the device");
  if (!done)
    return done;
  if (!supported)
    return {BRAID_UNSUPPORTED, "cuda: the device has no GPUDirect RDMA"};
  visible = ordering >= orderedForOwner ? Visible::Always : Visible::Flushed;
  if (visible == Visible::Flushed && (!(options & flushByHost) || !driver.cuFlushGPUDirectRDMAWrites))
    return {BRAID_UNSUPPORTED,
            "cuda: neither does the device keep the order of what NICs write, nor can it be flushed"};
  return {};
}

Outcome exportDmaBuf(const Driver &driver, Address at, size_t bytes, int &descriptor, uint64_t &offset) {
  if (!driver.cuMemGetHandleForAddressRange)
    return {BRAID_UNSUPPORTED, "cuda: the driver has no cuMemGetHandleForAddressRange, which came with CUDA 11.7"};
  const Address page = Address(sysconf(_SC_PAGESIZE));
  Address begin = at / page * page, end = (at + bytes + page - 1) / page * page;
  offset = at - begin;
  return driver.check(driver.cuMemGetHandleForAddressRange(&descriptor, begin, size_t(end - begin), rangeAsDmaBuf, 0),
                      "cuMemGetHandleForAddressRange of " + std::to_string(end - begin) + " bytes");
}

} // namespace braid::runtime::cuda
