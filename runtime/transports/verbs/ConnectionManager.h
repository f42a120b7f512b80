//===- ConnectionManager.h - the part of rdma_cm that the transport uses -----------------------------------------------===//
//
// Beside the seam of Verbs.h, with the same two sides: librdmacm (ManagerLibrary.cpp) or the double (double/Manager.cpp). Addresses
// are resolved and paths found by the kernel and the subnet manager; queue pairs stay those of the caller, who takes their attributes
// from here. Nothing blocks: what was asked for ends in an event. Names are those of rdma_cm.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_CONNECTIONMANAGER_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_CONNECTIONMANAGER_H

#include "transports/verbs/Verbs.h"

namespace braid::runtime::verbs {

/// An IP address as text, and a port of RDMA_PS_TCP.
struct Endpoint {
  std::string address;
  uint16_t port = 0;
};

constexpr size_t mostPrivateData = 56; ///< bytes, in a request

/// rdma_conn_param.
struct ConnectionParameters {
  uint32_t queuePair = 0; ///< its number
  int readsServed = 1, readsInFlight = 1, retries = 7, rnrRetries = 7;
  std::string privateData;
};

/// rdma_cm_id. Its end disconnects.
class Connection {
public:
  virtual ~Connection() = default;
  // Integers are 0 or an errno.
  virtual int resolveAddress(const Endpoint &from, const Endpoint &to, int milliseconds) = 0;
  virtual int resolveRoute(int milliseconds) = 0;
  /// The port that an address was resolved to, as "mlx5_0 port 1".
  virtual std::string place() const = 0;
  /// RDMA_OPTION_ID_ACK_TIMEOUT: 4.096 us x 2^timeout. Before the route is resolved, or the request accepted.
  virtual int setTimeout(int timeout) = 0;
  /// What brings a queue pair into a state. A mask of 0: nothing, since the manager does it itself (iWARP).
  virtual int attributes(State state, QueuePairAttributes &attributes, unsigned &mask) = 0;
  virtual int connect(const ConnectionParameters &parameters) = 0;
  virtual int accept(const ConnectionParameters &parameters) = 0;
  virtual int reject() = 0;
  virtual int establish() = 0; ///< after a response
};

struct ConnectionEvent {
  enum Kind {
    AddressResolved,
    AddressError,
    RouteResolved,
    RouteError,
    Request,
    Response,
    ConnectError,
    Unreachable,
    Rejected,
    Established,
    Disconnected,
    DeviceRemoval,
    Other
  } kind = Other;
  Connection *connection = nullptr;
  std::unique_ptr<Connection> made; ///< of a request
  int status = 0;                   ///< of an error: an errno; Rejected: the reason
  std::string privateData;          ///< padded, where the wire pads it
};

/// rdma_event_channel. Outlives its connections.
class ConnectionManager {
public:
  virtual ~ConnectionManager() = default;
  /// Listens for requests at an IP address of a port of a device: that of the GID, else the first that belongs to the port.
  virtual std::unique_ptr<Connection> listen(const std::string &device, int port, const Gid &gid, int backlog,
                                             Endpoint &at, int &error) = 0;
  virtual std::unique_ptr<Connection> make(int &error) = 0;
  /// Whether there was one; `error`, an errno: the channel is broken, and there will be none.
  virtual bool next(ConnectionEvent &event, int &error) = 0;
  virtual int descriptor() const = 0; ///< readable when there is an event
};

/// That of librdmacm, opened when it is asked for. The sentence of a failure says what is missing and how to get it.
Outcome openManagerLibrary(std::unique_ptr<ConnectionManager> &manager);

} // namespace braid::runtime::verbs

#endif
