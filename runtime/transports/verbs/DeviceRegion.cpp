//===- DeviceRegion.cpp - registers memory of a GPU with the NICs ------------------------------------------------------===//
#include "transports/verbs/DeviceRegion.h"
#include "transports/cuda/Current.h"
#include "transports/cuda/DeviceWords.h"
#include "transports/cuda/GpuDirect.h"
#include <algorithm>
#include <unistd.h>

namespace braid::runtime::verbs {
namespace {

/// The registration holds the dma-buf; its descriptor is needed no longer.
Outcome holdDmaBuf(Common &common, const void *memory, size_t bytes, unsigned access) {
  Outcome done;
  const cuda::Driver *driver = cuda::Driver::find(done);
  if (!driver)
    return done;
  auto at = reinterpret_cast<cuda::Address>(memory);
  cuda::Context context = nullptr;
  if (done = cuda::contextOf(*driver, at, context); !done)
    return done;
  cuda::Current current(*driver, context);
  int descriptor = -1;
  uint64_t offset = 0;
  if (done = cuda::exportDmaBuf(*driver, at, bytes, descriptor, offset); !done)
    return done;
  done = common.registrations.hold(memory, bytes, access, [&](Device &device, int &error) {
    return device.registerDmaBuf(descriptor, offset, bytes, at, access, error);
  });
  close(descriptor);
  return done;
}

} // namespace

Outcome holdDevice(Common &common, const void *memory, size_t bytes, unsigned access, std::string &how) {
  if (!common.knobs.notDirect.empty())
    return {BRAID_UNSUPPORTED, common.knobs.notDirect};
  Outcome buffer = common.knobs.dmaBuf ? holdDmaBuf(common, memory, bytes, access)
                                       : Outcome(BRAID_UNSUPPORTED, "it is turned off (NCCL_DMABUF_ENABLE)");
  how = cuda::byDmaBuf;
  if (buffer)
    return {};
  bool peers =
      std::all_of(common.rails.begin(), common.rails.end(), [](const Rail &rail) { return rail.device->peerMemory(); });
  if (!peers)
    return {buffer.status, std::string(cuda::byNeither) + " (" + buffer.text + ")"};
  how = std::string(cuda::byPeerMemory) + " (no " + cuda::byDmaBuf + ": " + buffer.text + ")";
  Outcome peer = common.registrations.hold(memory, bytes, access);
  return peer ? peer : Outcome(peer.status, how + ": " + peer.text);
}

} // namespace braid::runtime::verbs
