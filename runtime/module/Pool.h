//===- Pool.h - memory of compiled modules, kept for the next step ------------------------------------------------===//
//
// A step allocates the same buffers as the one before. What is given back is kept by size and by where it came from, so that
// from the second step on nothing is mapped, and buffers have the same addresses again and again: the runtime then finds its
// plans for them (braid_op_rebind). Sizes are rounded up to one of four per doubling (1, 1.25, 1.5, 1.75), so that dynamic
// sizes find each other. What is kept and what is in use are together at most twice what was ever in use.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_MODULE_POOL_H
#define BRAID_RUNTIME_MODULE_POOL_H

#include "braid/runtime/braid_rt.h"
#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace braid::runtime::module {

class Pool {
public:
  /// Aligned to 64 bytes. `comm`: whose peers shall reach it without copies; null: the process's own memory. Null: no memory.
  void *allocate(braid_comm *comm, size_t bytes, braid_memory kind = BRAID_MEMORY_HOST);
  /// False: it is not from here.
  bool release(void *memory);
  /// Whether peers of `comm` reach this address without copies: it is the start of a buffer from here, or lies in one.
  bool reaches(braid_comm *comm, const void *memory) const;
  /// Whether an address lies in the buffer that starts at `memory`.
  bool sameBlock(const void *memory, const void *address) const {
    auto found = used.find(memory);
    return found != used.end() && address >= memory &&
           address < static_cast<const char *>(memory) + found->second.bytes;
  }
  /// Gives back what the communicators gave, in use or not. What is the process's own stays until it is released.
  void forget();

  size_t fresh = 0; ///< times that memory was asked for anew

private:
  struct Block {
    braid_comm *comm;
    braid_memory kind;
    size_t bytes;
  };
  using Key = std::tuple<braid_comm *, braid_memory, size_t>;
  static void giveBack(void *memory, const Key &key);
  void giveBackOldest();

  std::map<const void *, Block> used;
  std::map<Key, std::deque<std::pair<uint64_t, void *>>> kept; ///< with when it was released
  size_t inUse = 0, mostInUse = 0, keptBytes = 0;
  uint64_t releases = 0;
};

} // namespace braid::runtime::module

#endif
