//===- DirectTransport.cpp - messages that name memory of a device --------------------------------------------------===//
#include "core/DirectTransport.h"
#include "transports/cuda/Current.h"
#include <cstring>

namespace braid::runtime {

DirectTransport::~DirectTransport() {
  cuda::Current current(driver, context);
  for (auto &[memory, bytes] : blocks)
    driver.cuMemFree_v2(reinterpret_cast<cuda::Address>(memory));
}

void *DirectTransport::allocate(size_t bytes) {
  constexpr size_t unit = 512; // cuMemAlloc's own
  bytes = (bytes + unit - 1) / unit * unit;
  if (auto found = unused.lower_bound(bytes); found != unused.end() && found->first <= 2 * bytes) {
    void *memory = found->second;
    unused.erase(found);
    return memory;
  }
  cuda::Current current(driver, context);
  cuda::Address at = 0;
  if (driver.cuMemAlloc_v2(&at, bytes) != cuda::success)
    return nullptr;
  void *memory = reinterpret_cast<void *>(at);
  blocks[memory] = bytes;
  return memory;
}

void DirectTransport::release(void *memory) { unused.emplace(blocks.at(memory), memory); }

bool DirectTransport::offer(int peer, int lane, const void *data, size_t bytes, uint16_t note) {
  cuda::Reference reference = {};
  if (bytes)
    if (Outcome named = peers.name(data, bytes, reference); !named) {
      broken = named;
      return false;
    }
  if (!inner.offer(peer, lane, &reference, sizeof reference, note))
    return false;
  inner.hold(peer, lane);
  ++count.messages;
  count.bytes += bytes;
  return true;
}

bool DirectTransport::peek(int peer, int lane, Message &message) {
  Message named;
  if (!broken || !inner.peek(peer, lane, named))
    return false;
  cuda::Reference reference;
  if (named.bytes != sizeof reference) {
    broken = {BRAID_MISMATCH, "expected the name of memory of a device, got " + std::to_string(named.bytes) + " bytes"};
    return false;
  }
  std::memcpy(&reference, named.data, sizeof reference);
  const char *at = nullptr;
  if (reference.bytes)
    broken = peers.reach(reference, lane, at);
  message = {at, reference.bytes, named.note};
  return bool(broken);
}

} // namespace braid::runtime
