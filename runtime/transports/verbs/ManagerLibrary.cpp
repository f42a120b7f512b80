//===- ManagerLibrary.cpp - librdmacm, opened when it is asked for -------------------------------------------------------===//
//
// As Library.cpp: nothing links to it. Its connections know only the numbers of queue pairs, which are made in another context of the
// device: rdma_cm(7) calls that an external queue pair, whose states are the caller's business, by rdma_init_qp_attr.
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/verbs/ConnectionManager.h"
#ifdef BRAID_RT_HAVE_RDMACM
#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <map>
#include <mutex>
#include <net/if.h>
#include <rdma/rdma_cma.h>
#include <type_traits>

namespace braid::runtime::verbs {
namespace {

const char libraryName[] = "librdmacm.so.1";
const char exchangeDoes[] = "or leave BRAID_IB_CM at exchange, which does without";

struct Library {
  decltype(&rdma_create_event_channel) createChannel;
  decltype(&rdma_destroy_event_channel) destroyChannel;
  decltype(&rdma_create_id) createId;
  decltype(&rdma_destroy_id) destroyId;
  decltype(&rdma_bind_addr) bindAddress;
  decltype(&rdma_listen) listen;
  decltype(&rdma_get_src_port) sourcePort;
  decltype(&rdma_resolve_addr) resolveAddress;
  decltype(&rdma_resolve_route) resolveRoute;
  decltype(&rdma_set_option) setOption;
  decltype(&rdma_init_qp_attr) initQpAttr;
  decltype(&rdma_connect) connect;
  decltype(&rdma_accept) accept;
  decltype(&rdma_reject) reject;
  decltype(&rdma_establish) establish;
  decltype(&rdma_get_cm_event) getEvent;
  decltype(&rdma_ack_cm_event) ackEvent;
};

/// Opened once and kept, as connections live on it. BRAID_RDMACM is where it lies, if the system does not know.
Outcome load(const Library *&loaded) {
  static std::map<std::string, const Library> opened; // by place
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  const char *given = std::getenv("BRAID_RDMACM");
  const std::string place = given && *given ? given : libraryName;
  auto known = opened.find(place);
  if (known == opened.end()) {
    Library library;
    void *handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return {BRAID_UNSUPPORTED,
              std::string("BRAID_IB_CM=rdma_cm: expected the connection manager of rdma-core, got ") + dlerror() +
                  "; install it (Debian: librdmacm1), say where it lies (BRAID_RDMACM), " + exchangeDoes};
    std::string missing;
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
      if (!function && missing.empty())
        missing = name;
    };
    find(library.createChannel, "rdma_create_event_channel");
    find(library.destroyChannel, "rdma_destroy_event_channel");
    find(library.createId, "rdma_create_id");
    find(library.destroyId, "rdma_destroy_id");
    find(library.bindAddress, "rdma_bind_addr");
    find(library.listen, "rdma_listen");
    find(library.sourcePort, "rdma_get_src_port");
    find(library.resolveAddress, "rdma_resolve_addr");
    find(library.resolveRoute, "rdma_resolve_route");
    find(library.setOption, "rdma_set_option");
    find(library.initQpAttr, "rdma_init_qp_attr");
    find(library.connect, "rdma_connect");
    find(library.accept, "rdma_accept");
    find(library.reject, "rdma_reject");
    find(library.establish, "rdma_establish");
    find(library.getEvent, "rdma_get_cm_event");
    find(library.ackEvent, "rdma_ack_cm_event");
    if (!missing.empty())
      return {BRAID_UNSUPPORTED, std::string("BRAID_IB_CM=rdma_cm: expected ") + libraryName +
                                     " of rdma-core to have " + missing +
                                     ", got none; is it older than rdma-core 22? Take a newer one, " + exchangeDoes};
    known = opened.emplace(place, library).first;
  }
  loaded = &known->second;
  return {};
}

int errorOf(int result) { return result == 0 ? 0 : errno ? errno : EIO; }

union Address {
  sockaddr any;
  sockaddr_in four;
  sockaddr_in6 six;
};

bool addressOf(const Endpoint &from, Address &to) {
  to = {};
  if (inet_pton(AF_INET, from.address.c_str(), &to.four.sin_addr) == 1) {
    to.any.sa_family = AF_INET;
    to.four.sin_port = htons(from.port);
    return true;
  }
  to.any.sa_family = AF_INET6;
  to.six.sin6_port = htons(from.port);
  return inet_pton(AF_INET6, from.address.c_str(), &to.six.sin6_addr) == 1;
}

std::string textOf(const Address &address) {
  char text[INET6_ADDRSTRLEN] = "";
  bool six = address.any.sa_family == AF_INET6;
  const void *raw = six ? static_cast<const void *>(&address.six.sin6_addr) : &address.four.sin_addr;
  inet_ntop(address.any.sa_family, raw, text, sizeof text);
  return text;
}

/// The IP addresses that a port may have: that of its GID, then those of this host, IPv4 first. Link-local ones mean nothing elsewhere.
std::vector<std::string> candidates(const Gid &gid) {
  std::vector<std::string> all, six;
  Address own = {};
  own.any.sa_family = AF_INET6;
  std::memcpy(&own.six.sin6_addr, gid.raw.data(), gid.raw.size());
  if (IN6_IS_ADDR_V4MAPPED(&own.six.sin6_addr)) {
    Address four = {};
    four.any.sa_family = AF_INET;
    std::memcpy(&four.four.sin_addr, gid.raw.data() + 12, 4);
    all.push_back(textOf(four));
  } else if (!gid.empty() && !IN6_IS_ADDR_LINKLOCAL(&own.six.sin6_addr)) {
    all.push_back(textOf(own));
  }
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) != 0)
    return all;
  for (ifaddrs *one = list; one; one = one->ifa_next) {
    if (!one->ifa_addr || !(one->ifa_flags & IFF_UP) || one->ifa_flags & IFF_LOOPBACK)
      continue;
    Address address = {};
    if (one->ifa_addr->sa_family == AF_INET) {
      std::memcpy(&address.four, one->ifa_addr, sizeof address.four);
      all.push_back(textOf(address));
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      std::memcpy(&address.six, one->ifa_addr, sizeof address.six);
      if (!IN6_IS_ADDR_LINKLOCAL(&address.six.sin6_addr))
        six.push_back(textOf(address));
    }
  }
  freeifaddrs(list);
  all.insert(all.end(), six.begin(), six.end());
  return all;
}

class LibraryConnection : public Connection {
public:
  LibraryConnection(const Library &library, rdma_cm_id *id) : library(library), id(id) { id->context = this; }
  ~LibraryConnection() override { library.destroyId(id); }

  int resolveAddress(const Endpoint &from, const Endpoint &to, int milliseconds) override {
    Address source, destination;
    if (!addressOf(from, source) || !addressOf(to, destination))
      return EINVAL;
    return errorOf(library.resolveAddress(id, &source.any, &destination.any, milliseconds));
  }
  int resolveRoute(int milliseconds) override { return errorOf(library.resolveRoute(id, milliseconds)); }
  std::string place() const override {
    return id->verbs ? std::string(id->verbs->device->name) + " port " + std::to_string(id->port_num) : "no device";
  }
  int setTimeout(int timeout) override {
    uint8_t value = uint8_t(timeout);
    return errorOf(library.setOption(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &value, sizeof value));
  }
  int attributes(State state, QueuePairAttributes &to, unsigned &mask) override {
    ibv_qp_attr from = {};
    int bits = 0;
    from.qp_state = ibv_qp_state(state);
    if (int error = errorOf(library.initQpAttr(id, &from, &bits)))
      return error;
    mask = unsigned(bits);
    to.state = state;
    to.access = from.qp_access_flags;
    to.pkeyIndex = from.pkey_index;
    to.port = bits & IBV_QP_PORT ? from.port_num : from.ah_attr.port_num;
    to.mtu = 128u << int(from.path_mtu);
    to.peer = from.dest_qp_num;
    to.receivePsn = from.rq_psn;
    to.sendPsn = from.sq_psn;
    to.readsServed = from.max_dest_rd_atomic;
    to.readsInFlight = from.max_rd_atomic;
    to.rnrTimer = from.min_rnr_timer;
    to.timeout = from.timeout;
    to.retries = from.retry_cnt;
    to.rnrRetries = from.rnr_retry;
    auto &address = to.address;
    address.lid = from.ah_attr.dlid;
    address.serviceLevel = from.ah_attr.sl;
    address.sourcePathBits = from.ah_attr.src_path_bits;
    address.staticRate = from.ah_attr.static_rate;
    address.global = from.ah_attr.is_global;
    std::memcpy(address.gid.raw.data(), from.ah_attr.grh.dgid.raw, 16);
    address.sourceIndex = from.ah_attr.grh.sgid_index;
    address.flowLabel = from.ah_attr.grh.flow_label;
    address.hopLimit = from.ah_attr.grh.hop_limit;
    address.trafficClass = from.ah_attr.grh.traffic_class;
    return 0;
  }
  int connect(const ConnectionParameters &parameters) override {
    rdma_conn_param raw = rawOf(parameters);
    return errorOf(library.connect(id, &raw));
  }
  int accept(const ConnectionParameters &parameters) override {
    rdma_conn_param raw = rawOf(parameters);
    return errorOf(library.accept(id, &raw));
  }
  int reject() override { return errorOf(library.reject(id, nullptr, 0)); }
  int establish() override { return errorOf(library.establish(id)); }

private:
  static rdma_conn_param rawOf(const ConnectionParameters &from) {
    rdma_conn_param to = {};
    to.private_data = from.privateData.data();
    to.private_data_len = uint8_t(from.privateData.size());
    to.responder_resources = uint8_t(from.readsServed);
    to.initiator_depth = uint8_t(from.readsInFlight);
    to.retry_count = uint8_t(from.retries);
    to.rnr_retry_count = uint8_t(from.rnrRetries);
    to.qp_num = from.queuePair;
    return to;
  }

  const Library &library;
  rdma_cm_id *id;
};

ConnectionEvent::Kind kindOf(rdma_cm_event_type type) {
  switch (type) {
  case RDMA_CM_EVENT_ADDR_RESOLVED:
    return ConnectionEvent::AddressResolved;
  case RDMA_CM_EVENT_ADDR_ERROR:
    return ConnectionEvent::AddressError;
  case RDMA_CM_EVENT_ROUTE_RESOLVED:
    return ConnectionEvent::RouteResolved;
  case RDMA_CM_EVENT_ROUTE_ERROR:
    return ConnectionEvent::RouteError;
  case RDMA_CM_EVENT_CONNECT_REQUEST:
    return ConnectionEvent::Request;
  case RDMA_CM_EVENT_CONNECT_RESPONSE:
    return ConnectionEvent::Response;
  case RDMA_CM_EVENT_CONNECT_ERROR:
    return ConnectionEvent::ConnectError;
  case RDMA_CM_EVENT_UNREACHABLE:
    return ConnectionEvent::Unreachable;
  case RDMA_CM_EVENT_REJECTED:
    return ConnectionEvent::Rejected;
  case RDMA_CM_EVENT_ESTABLISHED:
    return ConnectionEvent::Established;
  case RDMA_CM_EVENT_DISCONNECTED:
    return ConnectionEvent::Disconnected;
  case RDMA_CM_EVENT_DEVICE_REMOVAL:
    return ConnectionEvent::DeviceRemoval;
  default:
    return ConnectionEvent::Other;
  }
}

class LibraryManager : public ConnectionManager {
public:
  LibraryManager(const Library &library, rdma_event_channel *channel) : library(library), channel(channel) {
    fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
  }
  ~LibraryManager() override { library.destroyChannel(channel); }

  std::unique_ptr<Connection> listen(const std::string &device, int port, const Gid &gid, int backlog, Endpoint &at,
                                     int &error) override {
    error = EADDRNOTAVAIL;
    for (const std::string &each : candidates(gid)) {
      rdma_cm_id *id = nullptr;
      if (library.createId(channel, &id, nullptr, RDMA_PS_TCP) != 0) {
        error = errorOf(-1);
        return nullptr;
      }
      auto made = std::make_unique<LibraryConnection>(library, id);
      Address address;
      bool bound = addressOf({each, 0}, address) && library.bindAddress(id, &address.any) == 0;
      if (!bound || made->place() != device + " port " + std::to_string(port))
        continue; // an address of another device, or of none
      if ((error = errorOf(library.listen(id, backlog))))
        return nullptr;
      at = {each, ntohs(library.sourcePort(id))};
      return made;
    }
    return nullptr;
  }
  std::unique_ptr<Connection> make(int &error) override {
    rdma_cm_id *id = nullptr;
    error = errorOf(library.createId(channel, &id, nullptr, RDMA_PS_TCP));
    return error ? nullptr : std::make_unique<LibraryConnection>(library, id);
  }
  bool next(ConnectionEvent &event, int &error) override {
    event = {};
    rdma_cm_event *raw = nullptr;
    errno = 0;
    error = errorOf(library.getEvent(channel, &raw));
    if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR)
      error = 0, raw = nullptr;
    if (error || !raw)
      return false;
    event.kind = kindOf(raw->event);
    event.status = event.kind == ConnectionEvent::Rejected ? raw->status : std::abs(raw->status);
    if (event.kind == ConnectionEvent::Request) {
      event.made = std::make_unique<LibraryConnection>(library, raw->id);
      event.connection = event.made.get();
    } else {
      event.connection = static_cast<LibraryConnection *>(raw->id->context);
    }
    if (raw->param.conn.private_data)
      event.privateData.assign(static_cast<const char *>(raw->param.conn.private_data),
                               raw->param.conn.private_data_len);
    library.ackEvent(raw);
    return true;
  }
  int descriptor() const override { return channel->fd; }

private:
  const Library &library;
  rdma_event_channel *channel;
};

} // namespace

Outcome openManagerLibrary(std::unique_ptr<ConnectionManager> &manager) {
  const Library *library = nullptr;
  if (Outcome done = load(library); !done)
    return done;
  errno = 0;
  rdma_event_channel *channel = library->createChannel();
  if (!channel)
    return {BRAID_SYSTEM, std::string("BRAID_IB_CM=rdma_cm: expected /dev/infiniband/rdma_cm, got ") +
                              std::strerror(errno ? errno : ENODEV) +
                              "; load its module (modprobe rdma_ucm), let this user open it, " + exchangeDoes};
  manager = std::make_unique<LibraryManager>(*library, channel);
  return {};
}

} // namespace braid::runtime::verbs

#else

namespace braid::runtime::verbs {

Outcome openManagerLibrary(std::unique_ptr<ConnectionManager> &) {
  return {BRAID_UNSUPPORTED, "BRAID_IB_CM=rdma_cm: expected a build with the headers of rdma-core's connection "
                             "manager, got one without; install "
                             "them (Debian: librdmacm-dev) and build again, or leave BRAID_IB_CM at exchange"};
}

} // namespace braid::runtime::verbs

#endif
