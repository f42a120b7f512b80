//===- Pool.cpp - memory of compiled modules, kept for the next step ----------------------------------------------===//
#include "module/Pool.h"
#include <algorithm>
#include <cstdlib>

namespace braid::runtime::module {

/// The next of 1, 1.25, 1.5, 1.75 times a power of two, from 64 bytes on.
static size_t roundUp(size_t bytes) {
  size_t step = 64;
  while (bytes > 8 * step)
    step *= 2;
  return std::max<size_t>(1, (bytes + step - 1) / step) * step;
}

void *Pool::allocate(braid_comm *comm, size_t bytes, braid_memory kind) {
  Block block = {comm, kind, roundUp(bytes)};
  void *memory;
  auto found = kept.lower_bound({comm, kind, block.bytes}); // the smallest that is large enough, and not twice as large
  if (found != kept.end() && std::get<0>(found->first) == comm && std::get<1>(found->first) == kind &&
      std::get<2>(found->first) < 2 * block.bytes) {
    block.bytes = std::get<2>(found->first);
    memory = found->second.back().second;
    found->second.pop_back();
    if (found->second.empty())
      kept.erase(found);
    keptBytes -= block.bytes;
  } else {
    memory = comm ? braid_alloc_in(comm, kind, block.bytes) : std::aligned_alloc(64, block.bytes);
    if (!memory)
      return nullptr;
    ++fresh;
  }
  used[memory] = block;
  inUse += block.bytes;
  mostInUse = std::max(mostInUse, inUse);
  return memory;
}

bool Pool::release(void *memory) {
  auto found = used.find(memory);
  if (found == used.end())
    return false;
  Block block = found->second;
  used.erase(found);
  inUse -= block.bytes;
  kept[{block.comm, block.kind, block.bytes}].emplace_back(releases++, memory);
  keptBytes += block.bytes;
  while (keptBytes + inUse > 2 * mostInUse) // sizes that are no longer wanted do not pile up
    giveBackOldest();
  return true;
}

bool Pool::reaches(braid_comm *comm, const void *memory) const {
  auto after = used.upper_bound(memory);
  if (after == used.begin())
    return false;
  auto [base, block] = *std::prev(after);
  return block.comm == comm && static_cast<const char *>(memory) < static_cast<const char *>(base) + block.bytes;
}

void Pool::giveBackOldest() {
  auto oldest = kept.end();
  for (auto it = kept.begin(); it != kept.end(); ++it)
    if (oldest == kept.end() || it->second.front() < oldest->second.front())
      oldest = it;
  giveBack(oldest->second.front().second, oldest->first);
  keptBytes -= std::get<2>(oldest->first);
  oldest->second.pop_front();
  if (oldest->second.empty())
    kept.erase(oldest);
}

void Pool::giveBack(void *memory, const Key &key) {
  if (braid_comm *comm = std::get<0>(key))
    braid_free(comm, memory);
  else
    std::free(memory);
}

void Pool::forget() {
  for (auto &[key, list] : kept)
    for (auto [release, memory] : list)
      giveBack(memory, key);
  kept.clear();
  for (auto it = used.begin(); it != used.end();) {
    if (!it->second.comm) {
      ++it;
      continue;
    }
    inUse -= it->second.bytes;
    giveBack(const_cast<void *>(it->first), {it->second.comm, it->second.kind, it->second.bytes});
    it = used.erase(it);
  }
  keptBytes = 0;
  mostInUse = inUse;
  fresh = 0;
}

} // namespace braid::runtime::module
