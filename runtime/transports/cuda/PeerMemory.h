//===- PeerMemory.h - memory of the devices of a host's ranks, named and reached ------------------------------------===//
//
// A rank names memory of its device by a Reference, which travels as an ordinary message; another rank of the host makes an
// address of it that its own device can read. Ranks that are threads of one process share addresses, and only enable access
// between their contexts; another process opens the allocation, once, and keeps it open while an operation reads it.
//
// An allocation is known by its process and the driver's number of it, which is never used twice: memory that was freed and
// allocated again at the same address is another one, and what was open of the first is closed.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_CUDA_PEERMEMORY_H
#define BRAID_RUNTIME_TRANSPORTS_CUDA_PEERMEMORY_H

#include "transports/cuda/Driver.h"
#include <cstdint>
#include <map>
#include <set>

namespace braid::runtime::cuda {

/// Bytes of a device, as another rank of the host is told.
struct Reference {
  uint64_t process;       ///< that has allocated them
  uint64_t context;       ///< there
  uint64_t buffer, base;  ///< the allocation: the driver's number of it, and where it begins there
  uint64_t offset, bytes; ///< in it
  IpcHandle handle;       ///< of it, for other processes
};

/// Number of this process, which differs from that of any other that is alive.
uint64_t processNumber();

/// Not thread-safe. All of it is for one context, which is made current.
class PeerMemory {
public:
  PeerMemory(const Driver &driver, Context context) : driver(driver), context(context) {}
  ~PeerMemory();
  PeerMemory(const PeerMemory &) = delete;
  PeerMemory &operator=(const PeerMemory &) = delete;

  /// Fails for memory that other processes can't open: that of memory pools and of cuMemCreate.
  Outcome name(const void *data, size_t bytes, Reference &reference);
  /// `at`: where this context's device reads it, until close has been called for all `user`s that were given.
  Outcome reach(const Reference &reference, int user, const char *&at);
  /// These users read nothing more.
  void close(int firstUser, int count);

  /// Allocations of other processes that are open, and opened so far: for tests.
  size_t open() const { return opened.size(); }
  uint64_t opens() const { return opensSoFar; }

private:
  struct Opened {
    Address base;    ///< here
    uint64_t theirs; ///< there
    std::set<int> users;
  };
  using Key = std::pair<uint64_t, uint64_t>; ///< process, buffer
  std::map<Key, Opened>::iterator close(std::map<Key, Opened>::iterator which);

  const Driver &driver;
  const Context context;
  std::map<uint64_t, IpcHandle> handles; ///< of own allocations, by number
  std::map<Key, Opened> opened;
  std::set<uint64_t> enabled; ///< contexts of this process whose memory this one can read
  uint64_t opensSoFar = 0;
};

} // namespace braid::runtime::cuda

#endif
