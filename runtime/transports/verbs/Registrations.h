//===- Registrations.h - memory that devices may reach ---------------------------------------------------------------===//
//
// Registering costs a system call and pins pages, so it is done once for as long as somebody holds the memory: an operation that
// is planned with it, or the transport whose own it is. Who comes while it is held shares the registration. What nobody holds is
// deregistered at once and never kept for later: were it unmapped and mapped again meanwhile, the device would still reach the old
// pages. For the same reason only what lies inside memory that is held now is shared, not all that a registration once covered.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_REGISTRATIONS_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_REGISTRATIONS_H

#include "transports/verbs/Verbs.h"
#include <functional>
#include <map>
#include <memory>

namespace braid::runtime::verbs {

/// Registered with each device, in their order; null where the device is gone.
struct Block {
  unsigned access = 0;
  std::vector<std::unique_ptr<MemoryRegion>> regions;
};

class Registrations {
public:
  explicit Registrations(std::vector<Device *> devices) : devices(std::move(devices)) {}
  ~Registrations();
  Registrations(const Registrations &) = delete;
  Registrations &operator=(const Registrations &) = delete;

  /// Calls nest: each needs its drop, with the same bounds.
  Outcome hold(const void *memory, size_t bytes, unsigned access);
  /// The same of memory that is registered in another way.
  using Way = std::function<std::unique_ptr<MemoryRegion>(Device &device, int &error)>;
  Outcome hold(const void *memory, size_t bytes, unsigned access, const Way &way);
  void drop(const void *memory, size_t bytes, unsigned access);
  /// Null: these bytes are not held, or not for that.
  const Block *find(const void *memory, size_t bytes, unsigned access) const;
  /// With one device; null: not held, or the device was gone when it was to be registered.
  const MemoryRegion *region(const void *memory, size_t bytes, unsigned access, size_t device) const {
    const Block *block = find(memory, bytes, access);
    return block ? block->regions[device].get() : nullptr;
  }

  /// New memory, held; null: there is none, or it can't be registered (`why`).
  void *allocate(size_t bytes, Outcome &why);
  void release(void *memory);

private:
  struct Hold {
    size_t bytes;
    unsigned access;
    std::shared_ptr<Block> block;
  };
  const Hold *covering(const void *memory, size_t bytes, unsigned access) const;

  std::vector<Device *> devices;
  std::multimap<uintptr_t, Hold> holds;
  size_t largest = 0; ///< of all that were ever held
  std::map<void *, size_t> own;
};

constexpr unsigned allAccess = LocalWrite | RemoteWrite | RemoteRead;

} // namespace braid::runtime::verbs

#endif
