//===- Connect.h - queue pairs between all ranks of a communicator -------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_CONNECT_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_CONNECT_H

#include "braid/runtime/algorithms/Paths.h"
#include "core/Transports.h"
#include "transports/verbs/Peer.h"

namespace braid::runtime::verbs {

/// Opens the rails, makes queue pairs and brings them up with those of the peers. All members succeed or all fail, with the same
/// first reason. `peers`: null for this rank. `side`: what ranks say to each other meanwhile (Managed.h).
Outcome connect(const TransportContext &context, Provider &provider, const Knobs &knobs, const algorithms::Paths &paths,
                Transport &side, std::unique_ptr<Common> &common, std::vector<std::unique_ptr<Peer>> &peers);

/// The flow label of which RoCE v2 makes this UDP source port, 49152 to 65535 (ibv_flow_label_to_udp_sport of rdma-core); not 0,
/// of which drivers make a port of their own.
uint32_t flowLabelOf(int sourcePort);

} // namespace braid::runtime::verbs

#endif
