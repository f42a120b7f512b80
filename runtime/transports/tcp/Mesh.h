//===- Mesh.h - a connection between every two ranks of a communicator ---------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_TCP_MESH_H
#define BRAID_RUNTIME_TRANSPORTS_TCP_MESH_H

#include "bootstrap/Socket.h"
#include "braid/runtime/algorithms/Paths.h"
#include "core/Transports.h"
#include <vector>

namespace braid::runtime::tcp {

/// One socket for each member, none for this rank. All members succeed or all fail, with the same first reason. Strangers
/// that connect meanwhile are refused.
Outcome connectMesh(const TransportContext &context, std::vector<Socket> &sockets);

/// The connections of paths: from this rank to each peer, and from each peer to this rank, in the order of the path.
struct PathSockets {
  std::vector<std::vector<Socket>> to, from; ///< by member
};
/// All members succeed or all fail. From the source ports that the paths say, to the port that they say; a rank that they send to
/// listens there, so that two ranks of one address can't.
Outcome connectPaths(const TransportContext &context, const algorithms::Paths &paths, PathSockets &sockets);

} // namespace braid::runtime::tcp

#endif
