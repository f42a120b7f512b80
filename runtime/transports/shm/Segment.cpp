//===- Segment.cpp - one rank's shared memory --------------------------------------------------------------------===//
#include "transports/shm/Segment.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#include <unordered_map>

namespace braid::runtime::shm {

namespace {

Outcome systemError(const std::string &what, int error = errno) {
  return systemOutcome("shared memory: " + what, error);
}

/// Segments owned by this process, by token: ranks that are threads share the owner's mapping.
std::mutex ownMutex;
std::unordered_map<uint64_t, std::weak_ptr<Mapping>> &own() {
  static auto *map = new std::unordered_map<uint64_t, std::weak_ptr<Mapping>>();
  return *map;
}

} // namespace

Outcome Mapping::open(int fd, int ranks, std::shared_ptr<Mapping> &mapping) {
  void *base = mmap(nullptr, controlBytes(ranks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) {
    Outcome failed = systemError("cannot map the queues of " + std::to_string(ranks) + " ranks");
    ::close(fd);
    return failed;
  }
  mapping.reset(new Mapping());
  mapping->fd = fd;
  mapping->ranks = ranks;
  mapping->base = base;
  return {};
}

Mapping::~Mapping() {
  for (int i = 0; i < mostExtents; ++i)
    if (char *at = extents[i].load(std::memory_order_relaxed))
      munmap(at, control().extents[i].bytes.load(std::memory_order_relaxed));
  munmap(base, controlBytes(ranks));
  ::close(fd);
}

char *Mapping::mapExtent(uint32_t index) {
  if (index >= mostExtents)
    return nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  if (char *at = extents[index].load(std::memory_order_relaxed))
    return at;
  Extent &extent = control().extents[index];
  size_t bytes = extent.bytes.load(std::memory_order_acquire);
  off_t from = off_t(extent.at.load(std::memory_order_acquire));
  // Large pages need an address that is as aligned as the place in the file, so more is reserved and the rest given back.
  void *room = mmap(nullptr, bytes + largePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    return nullptr;
  char *begin = static_cast<char *>(room), *limit = begin + bytes + largePage;
  char *base = begin + (largePage - reinterpret_cast<uintptr_t>(begin) % largePage) % largePage;
  void *at = mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, from);
  if (at == MAP_FAILED) {
    munmap(room, bytes + largePage);
    return nullptr;
  }
  if (base > begin)
    munmap(begin, size_t(base - begin));
  if (base + bytes < limit)
    munmap(base + bytes, size_t(limit - base - bytes));
  madvise(base, bytes, MADV_HUGEPAGE); // where the file has a large page, it is mapped as one
  extents[index].store(base, std::memory_order_release);
  return base;
}

Outcome Segment::create(int ranks, std::unique_ptr<Segment> &segment) {
  size_t bytes = controlBytes(ranks);
  // Of each peer the memory and the process; the own memory, and one to watch them all.
  if (Outcome room = roomForDescriptors(2 * size_t(ranks), "shared memory of " + std::to_string(ranks) + " ranks");
      !room)
    return room;
  if (Outcome room = roomForFile(bytes, "shared memory"); !room)
    return room;
  int fd = memfd_create("braid", MFD_CLOEXEC);
  if (fd < 0)
    return systemError("cannot make a memory file");
  int error = ftruncate(fd, off_t(bytes)) != 0 ? errno : posix_fallocate(fd, 0, off_t(queuesAt)); // says it itself
  if (error) {
    Outcome failed = systemError("cannot size a memory file to " + std::to_string(bytes) + " bytes", error);
    ::close(fd);
    return failed;
  }
  std::unique_ptr<Segment> made(new Segment());
  Outcome mapped = Mapping::open(fd, ranks, made->mapping);
  if (!mapped)
    return mapped;
  made->end = bytes;
  if (getrandom(&made->identity, sizeof made->identity, 0) != sizeof made->identity)
    return systemError("no random number");
  Control &control = made->mapping->control();
  control.token = made->identity;
  control.magic = magic;
  std::lock_guard<std::mutex> lock(ownMutex);
  own()[made->identity] = made->mapping;
  segment = std::move(made);
  return {};
}

Segment::~Segment() {
  std::lock_guard<std::mutex> lock(ownMutex);
  own().erase(identity);
}

std::string Segment::address() const {
  char text[96];
  std::snprintf(text, sizeof text, "%d %d %llx", int(getpid()), mapping->descriptor(), (unsigned long long)identity);
  return text;
}

Outcome Segment::attach(const std::string &address, int ranks, std::shared_ptr<Mapping> &mapping, int &pid) {
  int fd = -1;
  unsigned long long token = 0;
  if (std::sscanf(address.c_str(), "%d %d %llx", &pid, &fd, &token) != 3 || pid <= 0 || fd < 0)
    return {BRAID_SYSTEM, "shared memory: expected an address of the same version, got '" + address + "'"};
  if (pid == int(getpid())) {
    std::lock_guard<std::mutex> lock(ownMutex);
    auto found = own().find(token);
    mapping = found == own().end() ? nullptr : found->second.lock();
    return mapping ? Outcome() : Outcome(BRAID_PEER_DIED, "shared memory: the peer in this process is gone");
  }
  std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0 && errno == ENOENT)
    return {BRAID_PEER_DIED, "shared memory: cannot open " + path + ": " + std::strerror(errno) +
                                 " (the process ended, or is in another pid namespace)"};
  if (opened < 0)
    return systemError("cannot open " + path);
  Outcome mapped = Mapping::open(opened, ranks, mapping);
  if (!mapped)
    return mapped;
  if (mapping->control().magic != magic || mapping->control().token != token)
    return {BRAID_PEER_DIED, "shared memory: " + path + " is not the peer's memory: the process has ended"};
  return {};
}

bool Segment::grow(size_t bytes) {
  size_t total = 0, size = 4 << 20;
  for (const OwnExtent &extent : extents)
    total += extent.bytes;
  if (size < total)
    size = total < (size_t(256) << 20) ? total : size_t(256) << 20; // few extents, of which only used pages cost memory
  if (size < bytes)
    size = roundUp(bytes, largePage);
  if (extents.size() >= mostExtents)
    return false;
  uint32_t index = uint32_t(extents.size());
  end = roundUp(end, largePage);
  if (!roomForFile(end + size, "") || ftruncate(mapping->descriptor(), off_t(end + size)) != 0)
    return false;
  Extent &extent = mapping->control().extents[index];
  extent.at.store(end, std::memory_order_release);
  extent.bytes.store(size, std::memory_order_release);
  char *base = mapping->extent(index);
  if (!base)
    return false;
  extents.push_back({base, size, end, index, {{0, size}}});
  end += size;
  return true;
}

/// Takes the pages now: an error here is better than a bus error later. Writing is what brings large pages, where the
/// machine has them for shared memory (/sys/kernel/mm/transparent_hugepage/shmem_enabled: advise); reserving does not.
bool Segment::reserve(const OwnExtent &extent, size_t begin, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (bytes >= largePage && madvise(extent.base + begin, roundUp(bytes, page), MADV_POPULATE_WRITE) == 0)
    return true;
#endif
  return posix_fallocate(mapping->descriptor(), off_t(extent.at + begin), off_t(bytes)) == 0;
}

void *Segment::allocate(size_t bytes) {
  bytes = roundUp(bytes ? bytes : 1, line);
  size_t alignment = bytes >= largePage ? largePage : bytes >= (64 << 10) ? page : line;
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (size_t i = 0; i < extents.size(); ++i) {
      OwnExtent &extent = extents[i];
      for (auto it = extent.free.begin(); it != extent.free.end(); ++it) {
        size_t begin = roundUp(it->first, alignment), limit = it->first + it->second;
        if (begin + bytes > limit)
          continue;
        if (!reserve(extent, begin, bytes))
          return nullptr;
        size_t from = it->first;
        extent.free.erase(it);
        if (begin > from)
          extent.free[from] = begin - from;
        if (begin + bytes < limit)
          extent.free[begin + bytes] = limit - begin - bytes;
        void *memory = extent.base + begin;
        used[memory] = {i, bytes};
        return memory;
      }
    }
    if (!grow(bytes))
      return nullptr;
  }
  return nullptr;
}

void Segment::release(void *memory) {
  auto found = used.find(memory);
  if (found == used.end())
    return;
  auto [i, bytes] = found->second;
  used.erase(found);
  OwnExtent &extent = extents[i];
  size_t begin = size_t(static_cast<char *>(memory) - extent.base);
  if (bytes >= (size_t(1) << 20)) // large blocks go back to the machine
    fallocate(mapping->descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off_t(extent.at + begin),
              off_t(bytes / page * page));
  auto next = extent.free.lower_bound(begin);
  if (next != extent.free.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == begin) {
      begin = before->first;
      bytes += before->second;
      extent.free.erase(before);
    }
  }
  if (next != extent.free.end() && begin + bytes == next->first) {
    bytes += next->second;
    extent.free.erase(next);
  }
  extent.free[begin] = bytes;
}

bool Segment::find(const void *data, size_t bytes, uint32_t &extent, uint64_t &offset) const {
  const char *at = static_cast<const char *>(data);
  for (const OwnExtent &e : extents)
    if (at >= e.base && at + bytes <= e.base + e.bytes) {
      extent = e.index;
      offset = uint64_t(at - e.base);
      return true;
    }
  return false;
}

} // namespace braid::runtime::shm
