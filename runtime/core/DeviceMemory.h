//===- DeviceMemory.h - memory of braid_alloc_in that is not the transport's alone -----------------------------------===//
#ifndef BRAID_RUNTIME_CORE_DEVICEMEMORY_H
#define BRAID_RUNTIME_CORE_DEVICEMEMORY_H

#include "core/Outcome.h"
#include "transports/Transport.h"
#include "transports/cuda/Driver.h"
#include <map>

namespace braid::runtime {

class DeviceMemory {
public:
  /// `device`: that of this rank, if the thread has no context.
  Outcome allocate(braid_memory kind, size_t bytes, Transport &transport, int device, void *&memory);
  /// False: it is not from here.
  bool release(void *memory, Transport &transport);

private:
  struct Block {
    void *pinned; ///< registered memory of `base`, which is the transport's; null: of the device
    void *base;
    cuda::Context context;
  };
  std::map<void *, Block> blocks;
};

/// How many ranks before this one are on its host; `hosts`: of each rank, empty: all on one.
int localRank(const std::vector<int> &hosts, int rank);

} // namespace braid::runtime

#endif
