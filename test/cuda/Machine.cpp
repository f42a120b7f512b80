//===- Machine.cpp - memory and streams of the stand-in -------------------------------------------------------------===//
#include "test/cuda/Machine.h"
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace braid::test {

int devices() {
  static const char *asked = std::getenv("BRAID_FAKE_CUDA_DEVICES");
  static const int count = asked ? std::atoi(asked) : 0;
  return machine().devices ? machine().devices : count;
}

bool broken(const char *how) {
  static const std::string asked = [] {
    const char *given = std::getenv("BRAID_FAKE_CUDA");
    return "," + std::string(given ? given : "") + ",";
  }();
  return asked.find("," + std::string(how) + ",") != std::string::npos;
}

Machine &machine() {
  static auto *made = new Machine;
  return *made;
}

uintptr_t Machine::map(int fd, size_t bytes, int device) {
  size_t page = size_t(sysconf(_SC_PAGESIZE)), mapped = (bytes + page - 1) / page * page;
  void *inside = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (inside == MAP_FAILED)
    return 0;
  uintptr_t at = 0;
  if (auto [first, end] = unused.equal_range(mapped); first != end) { // the last that was freed
    auto last = std::prev(end);
    at = last->second;
    unused.erase(last);
  } else {
    void *outside = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (outside == MAP_FAILED) {
      munmap(inside, mapped);
      return 0;
    }
    at = reinterpret_cast<uintptr_t>(outside);
    ranges[at] = mapped;
  }
  blocks[at] = {bytes, mapped, static_cast<char *>(inside), device, ++numbers, fd};
  return at;
}

void Machine::unmap(std::map<uintptr_t, Block>::iterator block) {
  while (step())
    ;
  munmap(block->second.inside, block->second.mapped);
  close(block->second.fd);
  unused.emplace(block->second.mapped, block->first);
  blocks.erase(block);
}

const Block *Machine::find(uintptr_t at, uintptr_t &base) const {
  auto after = blocks.upper_bound(at);
  if (after == blocks.begin())
    return nullptr;
  --after;
  base = after->first;
  return at < base + after->second.bytes ? &after->second : nullptr;
}

bool Machine::isPinned(uintptr_t at, size_t bytes) const {
  auto after = registered.upper_bound(at);
  return after != registered.begin() && at + bytes <= std::prev(after)->first + std::prev(after)->second;
}

void *Machine::inside(const void *at) const {
  uintptr_t base = 0;
  const Block *block = find(reinterpret_cast<uintptr_t>(at), base);
  return block ? block->inside + (reinterpret_cast<uintptr_t>(at) - base) : const_cast<void *>(at);
}

void *Machine::touched(const void *at, int device, bool byKernel) {
  uintptr_t base = 0, address = reinterpret_cast<uintptr_t>(at);
  const Block *block = find(address, base);
  std::string wrong;
  if (!block) {
    auto after = ranges.upper_bound(address);
    bool was = after != ranges.begin() && address < std::prev(after)->first + std::prev(after)->second;
    if (was || (byKernel && !isPinned(address, 1)))
      wrong = was ? "memory of a device that was freed or closed" : "memory of the host that is not registered";
  } else if (byKernel && block->device != device && !block->imports && !access.count({device, block->device})) {
    wrong = "memory of device " + std::to_string(block->device) + ", to which device " + std::to_string(device) +
            " was given no access";
  }
  if (wrong.empty())
    return inside(at);
  std::fprintf(stderr, "stand-in for the driver: a %s touches %s\n", byKernel ? "kernel" : "copy", wrong.c_str());
  fault = illegalAddress;
  return nullptr;
}

bool Machine::step() {
  for (FakeStream *stream : streams)
    if (!stream->work.empty() && stream->work.front()()) {
      stream->work.pop_front();
      return true;
    }
  return false;
}

} // namespace braid::test
