//===- DeviceMemory.cpp - memory of devices, and of the host for them -----------------------------------------------===//
#include "core/DeviceMemory.h"
#include "transports/cuda/Current.h"
#include <algorithm>

namespace braid::runtime {

int localRank(const std::vector<int> &hosts, int rank) {
  return hosts.empty() ? rank : int(std::count(hosts.begin(), hosts.begin() + rank, hosts[size_t(rank)]));
}

Outcome DeviceMemory::allocate(braid_memory kind, size_t bytes, Transport &transport, int device, void *&memory) {
  if (kind < BRAID_MEMORY_HOST || kind > BRAID_MEMORY_DEVICE)
    return {BRAID_INVALID, "memory: expected one of braid_memory, got " + std::to_string(int(kind))};
  Outcome none = {BRAID_OUT_OF_MEMORY, "no memory for " + std::to_string(bytes) + " bytes"};
  if (kind == BRAID_MEMORY_HOST)
    return (memory = transport.allocate(bytes)) ? Outcome() : none;
  Outcome done;
  const cuda::Driver *driver = cuda::Driver::find(done);
  if (!driver)
    return done;
  Block block = {};
  done = cuda::contextOf(*driver, 0, block.context, device);
  if (!done)
    return done;
  cuda::Current current(*driver, block.context);
  std::string what = std::to_string(bytes) + " bytes";
  bytes = std::max<size_t>(bytes, 1);
  if (kind == BRAID_MEMORY_DEVICE) {
    cuda::Address at = 0;
    done = driver->check(driver->cuMemAlloc_v2(&at, bytes), what + " of the device");
    memory = reinterpret_cast<void *>(at);
  } else { // whole pages, since the driver registers each page once
    constexpr size_t page = 4096;
    bytes = (bytes + page - 1) / page * page;
    if (!(block.base = transport.allocate(bytes + page)))
      return none;
    block.pinned = reinterpret_cast<void *>((reinterpret_cast<size_t>(block.base) + page - 1) / page * page);
    done = driver->check(driver->cuMemHostRegister_v2(block.pinned, bytes, cuda::hostPortable), "registering " + what);
    if (!done)
      transport.release(block.base);
    memory = block.pinned;
  }
  if (done)
    blocks[memory] = block;
  return done;
}

bool DeviceMemory::release(void *memory, Transport &transport) {
  auto found = blocks.find(memory);
  if (found == blocks.end())
    return false;
  Outcome why;
  const cuda::Driver *driver = cuda::Driver::find(why);
  cuda::Current current(*driver, found->second.context);
  if (found->second.pinned) {
    driver->cuMemHostUnregister(memory);
    transport.release(found->second.base);
  } else {
    driver->cuMemFree_v2(reinterpret_cast<cuda::Address>(memory));
  }
  blocks.erase(found);
  return true;
}

} // namespace braid::runtime
