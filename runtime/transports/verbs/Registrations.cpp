//===- Registrations.cpp - memory that devices may reach -------------------------------------------------------------===//
#include "transports/verbs/Registrations.h"
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

namespace braid::runtime::verbs {
namespace {

std::string lockedLimit() {
  rlimit limit = {};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur >> 10) + " KiB";
}

} // namespace

Registrations::~Registrations() {
  holds.clear();
  for (auto &[memory, bytes] : own)
    std::free(memory);
}

const Registrations::Hold *Registrations::covering(const void *memory, size_t bytes, unsigned access) const {
  uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  for (auto at = holds.upper_bound(begin); at != holds.begin();) {
    --at;
    if (begin - at->first > largest)
      return nullptr;
    bool inside = begin - at->first <= at->second.bytes && bytes <= at->second.bytes - (begin - at->first);
    if (inside && (at->second.access & access) == access)
      return &at->second;
  }
  return nullptr;
}

const Block *Registrations::find(const void *memory, size_t bytes, unsigned access) const {
  const Hold *hold = covering(memory, bytes, access);
  return hold ? hold->block.get() : nullptr;
}

Outcome Registrations::hold(const void *memory, size_t bytes, unsigned access) {
  return hold(memory, bytes, access, [&](Device &device, int &error) {
    return device.registerMemory(const_cast<void *>(memory), bytes, access, error);
  });
}

Outcome Registrations::hold(const void *memory, size_t bytes, unsigned access, const Way &way) {
  std::shared_ptr<Block> block;
  if (const Hold *other = covering(memory, bytes, access)) {
    block = other->block;
  } else {
    block = std::make_shared<Block>();
    block->access = access;
    for (Device *device : devices) {
      int error = 0;
      block->regions.push_back(way(*device, error));
      if (block->regions.back() || error == EIO || error == ENODEV) // a device that is gone: its rail fails by itself
        continue;
      return {BRAID_SYSTEM, "device " + device->name() + ": cannot register " + std::to_string(bytes) +
                                " bytes of memory: " + std::strerror(error) +
                                (error == ENOMEM || error == EAGAIN
                                     ? " (this process may lock " + lockedLimit() + ": ulimit -l unlimited)"
                                     : "")};
    }
  }
  if (std::none_of(block->regions.begin(), block->regions.end(), [](const auto &region) { return bool(region); }))
    return {BRAID_SYSTEM, "cannot register memory: no device is left"};
  holds.insert({reinterpret_cast<uintptr_t>(memory), {bytes, access, std::move(block)}});
  largest = std::max(largest, bytes);
  return {};
}

void Registrations::drop(const void *memory, size_t bytes, unsigned access) {
  auto [at, end] = holds.equal_range(reinterpret_cast<uintptr_t>(memory));
  for (; at != end; ++at)
    if (at->second.bytes == bytes && at->second.access == access) {
      holds.erase(at);
      return;
    }
}

void *Registrations::allocate(size_t bytes, Outcome &why) {
  // Whole pages: where a fork leaves registered ones to the parent (ibv_fork_init), the child misses nothing that lies beside.
  const size_t page = size_t(sysconf(_SC_PAGESIZE)), room = std::max<size_t>((bytes + page - 1) / page * page, page);
  void *memory = bytes <= SIZE_MAX - page ? std::aligned_alloc(page, room) : nullptr;
  why = memory ? hold(memory, room, allAccess)
               : Outcome(BRAID_OUT_OF_MEMORY, "no memory for " + std::to_string(bytes) + " bytes");
  if (!why) {
    std::free(memory);
    return nullptr;
  }
  own[memory] = room;
  return memory;
}

void Registrations::release(void *memory) {
  auto found = own.find(memory);
  if (found == own.end())
    return;
  drop(memory, found->second, allAccess);
  own.erase(found);
  std::free(memory);
}

} // namespace braid::runtime::verbs
