//===- Gids.h - which of its addresses a port goes by ----------------------------------------------------------------===//
//
// A RoCE port has a GID for each of its IP addresses, twice: as RoCE v1 (Ethernet frames, which no router passes on) and as v2
// (UDP). What is chosen, from the best on: v2 and IPv4; v2 and IPv6 that is routed; v2 and link-local; the same of v1. The first
// entry among equals. An InfiniBand port goes by the first entry.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_GIDS_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_GIDS_H

#include "transports/verbs/Knobs.h"
#include "transports/verbs/Verbs.h"

namespace braid::runtime::verbs {

/// "RoCE v2 10.0.0.1".
std::string describe(const Gid &gid);
/// `why` explains the choice: "GID 3 (RoCE v2 10.0.0.1), the first of v2 and IPv4 among 4; NCCL_IB_GID_INDEX chooses another".
Outcome chooseGid(Device &device, const Port &port, const Knobs &knobs, Gid &chosen, std::string &why);

} // namespace braid::runtime::verbs

#endif
