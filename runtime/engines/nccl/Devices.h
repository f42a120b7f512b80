//===- Devices.h - which rank has which device ----------------------------------------------------------------------===//
//
// NCCL takes each device once, and does not say which rank should take which. Ranks exchange what they are (the whole identity of their host,
// not a hash of it) and which devices they see, by UUID; each computes the same table:
//
//   a rank whose thread has a context     has that context's device
//   another                               is the i-th of the ranks of its host that see the same devices: it has the i-th of them
//
// Never rank modulo devices: launchers place ranks as they like (round-robin over hosts, 3 + 1), and two containers of one machine may
// have one name. A device that two ranks would have is an error that names both, whatever their hosts say they are.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_NCCL_DEVICES_H
#define BRAID_RUNTIME_ENGINES_NCCL_DEVICES_H

#include "bootstrap/HostIdentity.h"
#include <vector>

namespace braid::runtime::nccl {

struct RankDevices {
  HostIdentity host;
  std::vector<std::string> devices; ///< UUIDs, 16 bytes each, in the order of the driver
  int current = -1;                 ///< the device of the thread's context; -1: it has none

  std::string encode() const;
  static bool decode(const std::string &text, RankDevices &rank);
};

/// What this rank sees; the driver is loaded.
Outcome seeDevices(RankDevices &mine);

/// The device of each rank, as a number in its own list. `name`: of a rank, for errors.
Outcome assignDevices(const std::vector<RankDevices> &ranks, const std::vector<int> &names, std::vector<int> &devices);

} // namespace braid::runtime::nccl

#endif
