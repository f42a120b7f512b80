//===- Segment.h - one rank's shared memory, as its owner and as its peers see it -------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_SHM_SEGMENT_H
#define BRAID_RUNTIME_TRANSPORTS_SHM_SEGMENT_H

#include "core/SystemError.h"
#include "transports/shm/Layout.h"
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace braid::runtime::shm {

/// A mapped file: the control part, and extents as they are seen. Shared by all ranks of one process that look at it, so
/// that it lives until the last of them is gone.
class Mapping {
public:
  static Outcome open(int fd, int ranks, std::shared_ptr<Mapping> &mapping);
  ~Mapping();
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;

  Control &control() { return *static_cast<Control *>(base); }
  Queue &queue(int lane, int sender) {
    return reinterpret_cast<Queue *>(static_cast<char *>(base) + queuesAt)[size_t(lane) * ranks + sender];
  }
  /// Where an extent lies in this process; null if it can't be mapped.
  char *extent(uint32_t index) {
    char *at = index < mostExtents ? extents[index].load(std::memory_order_acquire) : nullptr;
    return at ? at : mapExtent(index);
  }
  int descriptor() const { return fd; }

private:
  Mapping() = default;
  char *mapExtent(uint32_t index);

  int fd = -1, ranks = 0;
  void *base = nullptr;
  std::mutex mutex; ///< of mapExtent
  std::atomic<char *> extents[mostExtents] = {};
};

/// The owner's side: makes the file, hands out memory.
class Segment {
public:
  static Outcome create(int ranks, std::unique_ptr<Segment> &segment);
  ~Segment();

  /// Text for the exchange, from which peers attach.
  std::string address() const;
  /// Maps the segment that a peer's address names.
  static Outcome attach(const std::string &address, int ranks, std::shared_ptr<Mapping> &mapping, int &pid);

  Mapping &memory() { return *mapping; }
  /// Aligned to 64 bytes, from 64 KiB on to pages, from 2 MiB on to large pages; null: no memory.
  void *allocate(size_t bytes);
  void release(void *memory);
  /// The extent and offset of bytes that peers can reach; false if they can't.
  bool find(const void *data, size_t bytes, uint32_t &extent, uint64_t &offset) const;

private:
  Segment() = default;
  bool grow(size_t bytes);

  struct OwnExtent {
    char *base;
    size_t bytes, at;
    uint32_t index;
    std::map<size_t, size_t> free; ///< offset -> bytes
  };
  bool reserve(const OwnExtent &extent, size_t begin, size_t bytes);

  std::shared_ptr<Mapping> mapping;
  std::vector<OwnExtent> extents;
  std::map<void *, std::pair<size_t, size_t>> used; ///< memory -> (index in extents, bytes)
  size_t end = 0;                                   ///< of the file
  uint64_t identity = 0;
};

} // namespace braid::runtime::shm

#endif
