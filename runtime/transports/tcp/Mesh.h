//===- Mesh.h - a connection between every two ranks of a communicator ---------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_TCP_MESH_H
#define BRAID_RUNTIME_TRANSPORTS_TCP_MESH_H

#include "bootstrap/Socket.h"
#include "core/Transports.h"
#include <vector>

namespace braid::runtime::tcp {

/// One socket for each member, none for this rank. All members succeed or all fail, with the same first reason. Strangers
/// that connect meanwhile are refused.
Outcome connectMesh(const TransportContext &context, std::vector<Socket> &sockets);

} // namespace braid::runtime::tcp

#endif
