//===- Machine.h - memory and streams of the stand-in for NVIDIA's driver -------------------------------------------===//
//
// Addresses of device memory are reserved and never mapped; the bytes are a memory file's, mapped for kernels only, which another
// process opens by the number of its descriptor. A freed range of addresses is the next one to be given out.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_CUDA_MACHINE_H
#define BRAID_TEST_CUDA_MACHINE_H

#include "transports/cuda/Driver.h"
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace braid::test {

using namespace runtime::cuda;

constexpr Result invalid = 1, outOfMemory = 2, noContext = 201, mapFailed = 205, noPeer = 217, notFound = 500,
                 illegalAddress = 700, notSupported = 801;

/// Of BRAID_FAKE_CUDA_DEVICES; 0: one, whose context every thread has.
int devices();
/// Whether BRAID_FAKE_CUDA, words with commas between them, has the word.
bool broken(const char *how);
/// Contexts are numbers of devices, plus one; 0: none.
intptr_t current();

struct Block {
  size_t bytes, mapped;
  char *inside; ///< where kernels see it
  int device;
  uint64_t number; ///< never used again
  int fd = -1;
  bool pool = false; ///< of a memory pool: no other process can open it
  int imports = 0;   ///< it is another process's, opened so many times
};

struct FakeEvent {
  uint64_t recorded = 0, come = 0;
};

struct FakeStream {
  std::deque<std::function<bool()>> work; ///< false: not yet
  int device = 0;
};

struct Machine {
  std::recursive_mutex mutex;
  std::map<uintptr_t, Block> blocks;  ///< of device memory, by address
  std::map<uintptr_t, size_t> ranges; ///< all that were ever given out
  std::multimap<size_t, uintptr_t> unused;
  std::map<uintptr_t, size_t> registered;
  std::set<FakeStream *> streams;
  std::set<std::pair<int, int>> access; ///< of devices to memory of others
  FakeStream defaultStream;
  uint64_t pageable = 0, launches = 0, staged = 0, flushes = 0, numbers = 0, queries = 0, slowness = 1;
  int64_t opensLeft = INT64_MAX;
  int devices = 0;        ///< as a test has said (fake_set_devices), whatever the environment says
  Result fault = success; ///< of the device, for good

  Machine() { streams.insert(&defaultStream); }

  /// The bytes of `fd` at addresses of a device; 0: none.
  uintptr_t map(int fd, size_t bytes, int device);
  void unmap(std::map<uintptr_t, Block>::iterator block);
  const Block *find(uintptr_t at, uintptr_t &base) const;
  bool isPinned(uintptr_t at, size_t bytes) const;
  /// Where a kernel sees what the program names by `at`.
  void *inside(const void *at) const;
  /// The same, for work of a device that has to have access; null: it has not, and the device is of no use any more.
  void *touched(const void *at, int device, bool byKernel);
  /// The next piece of work of some stream that can be done. False: there is none.
  bool step();
};

Machine &machine();
using Lock = std::lock_guard<std::recursive_mutex>;
inline FakeStream &streamOf(Stream stream) {
  return stream ? *static_cast<FakeStream *>(stream) : machine().defaultStream;
}

} // namespace braid::test

#endif
