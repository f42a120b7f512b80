//===- Layout.h - what ranks see of each other in shared memory --------------------------------------------------===//
//
// Each rank owns one anonymous file (memfd), which peers open through /proc/<pid>/fd and map. It has no name, so nothing is
// left behind however a process ends.
//
//   offset 0          Control: abort flag, door bell, table of extents
//   queuesAt          queues[lane][sender]: messages for this rank
//   behind them       extents: the memory of braid_alloc and of staged messages, mapped by peers when first seen
//
// A queue is a ring of slots of one cache line each; a message that fits travels inside its slot, so that payload and flag
// arrive in one line. Message i (from 0) is in slot i mod slots once the slot's sequence is i + 1; the sender may fill the
// slot again when `accepted` has passed i. Pages that no lane uses are never touched and cost nothing.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_SHM_LAYOUT_H
#define BRAID_RUNTIME_TRANSPORTS_SHM_LAYOUT_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace braid::runtime::shm {

constexpr int lanes = 4096;
constexpr int slots = 8;
constexpr size_t line = 64, page = 4096, largePage = size_t(2) << 20;
constexpr int mostExtents = 1024;

struct alignas(line) Slot {
  static constexpr size_t inlineBytes = 40;
  std::atomic<uint64_t> sequence;
  uint64_t bytes;
  uint32_t extent; ///< index of the sender's extent; inlined: the bytes are here
  uint16_t note;   ///< the sender's
  uint16_t unused;
  union {
    uint64_t offset; ///< in the extent
    unsigned char data[inlineBytes];
  };
  static constexpr uint32_t inlined = ~0u;
};
static_assert(sizeof(Slot) == line, "one cache line");

struct Queue {
  alignas(line) std::atomic<uint64_t> accepted; ///< written by the receiver
  Slot slot[slots];
};

struct Extent {
  std::atomic<uint64_t> at, bytes; ///< in the file
};

struct Control {
  uint64_t magic, token;        ///< token: random, told to peers through the exchange; a recycled pid shows
  std::atomic<uint32_t> closed; ///< 1: this rank left in good order; its end is no fault
  alignas(line) std::atomic<uint32_t> aborted;  ///< 1 + the rank that gave up
  alignas(line) std::atomic<uint32_t> sleeping; ///< futex: 1 while this rank sleeps or is about to
  alignas(line) char why[256];                  ///< of this rank's own abort, complete before any flag is set
  alignas(line) Extent extents[mostExtents];    ///< one that a message names is complete
};
constexpr uint64_t magic = 0x3274722d64696172; // layout version in the first byte

constexpr size_t roundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }
constexpr size_t queuesAt = roundUp(sizeof(Control), page);
/// A lane's queues share no page with another lane's only if there are many ranks; it does not matter.
inline size_t controlBytes(int ranks) { return roundUp(queuesAt + size_t(lanes) * ranks * sizeof(Queue), page); }

} // namespace braid::runtime::shm

#endif
