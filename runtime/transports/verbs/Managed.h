//===- Managed.h - queue pairs that rdma_cm connects (BRAID_IB_CM=rdma_cm) -----------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_MANAGED_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_MANAGED_H

#include "core/Transports.h"
#include "transports/verbs/Peer.h"

namespace braid::runtime::verbs {

/// Where a rank listens, told to all others.
struct Listening {
  std::vector<Endpoint> at; ///< of each rail
  uint64_t seed = 0;        ///< drawn by it, so that nobody takes another job's listener for it
  std::vector<std::unique_ptr<Connection>> listeners;
};

/// Opens the manager of `common` and listens on each rail, where so many requests may come at once: more are turned away.
Outcome listen(Provider &provider, int requests, Common &common, Listening &mine);

/// What this rank wants of a queue pair, beside what the manager says of its path.
using Wishes = std::function<void(int peer, size_t rail, size_t pair, QueuePairAttributes &attributes)>;

/// Connects all queue pairs of `links`, as many on both sides; of two ranks the lower one listens. Whoever fails says so over `side`,
/// which ends the wait of all others: then they
/// have not `met`, and the outcome is another rank's to tell.
Outcome connectByManager(const TransportContext &context, const Knobs &knobs, Common &common,
                         const std::vector<const Listening *> &told, std::vector<std::vector<Link>> &links,
                         const Wishes &wishes, Transport &side, bool &met);

} // namespace braid::runtime::verbs

#endif
