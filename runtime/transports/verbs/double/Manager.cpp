//===- Manager.cpp - rdma_cm among the devices of the double ----------------------------------------------------------===//
//
// As librdmacm's, with events at once, and what goes wrong on demand (FabricSettings::managerFault). An iWARP manager brings queue
// pairs into their states itself.
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/verbs/ConnectionManager.h"
#include "transports/verbs/double/State.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <sys/eventfd.h>
#include <unistd.h>

namespace braid::runtime::verbs {

/// Of a channel: what connections of any host put their events into.
struct ManagerEvents {
  explicit ManagerEvents(int descriptor) : descriptor(descriptor) {}
  void add(ConnectionEvent event) {
    queue.push_back(std::move(event));
    uint64_t one = 1;
    if (write(descriptor, &one, sizeof one) < 0) // full: it is readable
      return;
  }
  const int descriptor;
  std::deque<ConnectionEvent> queue;
};

namespace {

using Shared = std::shared_ptr<Network>;
constexpr size_t networkGid = 3; ///< of Node::gids: RoCE v2 of the network's address

std::string addressOf(const Node &node) {
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, node.gids[networkGid].raw.data() + 12, text, sizeof text);
  return text;
}

class DoubleConnection : public Connection {
public:
  DoubleConnection(Shared network, ManagerEvents &events, Node *node = nullptr)
      : network(std::move(network)), events(events), node(node) {}
  ~DoubleConnection() override {
    std::lock_guard<std::mutex> lock(network->mutex);
    part(ConnectionEvent::Disconnected, 0);
    for (auto each = network->listeners.begin(); each != network->listeners.end();)
      each = each->second == this ? network->listeners.erase(each) : std::next(each);
    for (ConnectionEvent &event : events.queue)
      if (event.connection == this)
        event.connection = nullptr, event.kind = ConnectionEvent::Other;
  }

  int resolveAddress(const Endpoint &from, const Endpoint &to, int) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    node = network->at(from.address);
    if (!node)
      return EADDRNOTAVAIL;
    target = to;
    psn = ++network->lastPsn;
    if (has(ManagerFault::AddressRefused))
      return ENETUNREACH;
    if (has(ManagerFault::AnsweredEarly))
      return say(ConnectionEvent::Established, 0), 0;
    if (!has(ManagerFault::Silence))
      say(has(ManagerFault::Address) ? ConnectionEvent::AddressError : ConnectionEvent::AddressResolved,
          has(ManagerFault::Address) ? ETIMEDOUT : 0);
    return 0;
  }
  int resolveRoute(int) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    say(has(ManagerFault::Route) ? ConnectionEvent::RouteError : ConnectionEvent::RouteResolved,
        has(ManagerFault::Route) ? EHOSTUNREACH : 0);
    return 0;
  }
  std::string place() const override {
    int rail = node ? has(ManagerFault::OtherPort) ? node->rail + 1 : node->rail : -1;
    return node ? "double" + std::to_string(rail) + " port 1" : "no device";
  }
  int setTimeout(int timeout) override { return timeout < 0 || timeout > 31 ? EINVAL : 0; }

  /// As ib_cm: access is the caller's, timers those of the path.
  int attributes(State state, QueuePairAttributes &to, unsigned &mask) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    to = {};
    to.state = state;
    to.rnrTimer = 0;
    if (state == State::Init) {
      mask = SetState | SetPkeyIndex | SetPort | SetAccess;
      return 0;
    }
    if (!other)
      return ENOTCONN;
    if (network->settings.iwarp) {
      mask = 0;
      return 0;
    }
    path(to);
    mask = state == State::ReadyToReceive
               ? SetState | SetAddress | SetMtu | SetPeer | SetReceivePsn | SetReadsServed | SetRnrTimer
               : SetState | SetTimeout | SetRetries | SetRnrRetries | SetSendPsn | SetReadsInFlight;
    return 0;
  }
  int connect(const ConnectionParameters &parameters) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    if (parameters.privateData.size() > mostPrivateData)
      return EINVAL;
    own = parameters;
    auto found = network->listeners.find({target.address, target.port});
    Node *there = network->at(target.address);
    if (node->cut || !there || there->cut || has(ManagerFault::Unreachable))
      return say(ConnectionEvent::Unreachable, ETIMEDOUT), 0;
    if (found == network->listeners.end() || has(ManagerFault::Rejection))
      return say(ConnectionEvent::Rejected, 8), 0; // 8: invalid service ID, as of a port at which nobody listens
    auto &listener = static_cast<DoubleConnection &>(*found->second);
    auto waiting = std::count_if(listener.events.queue.begin(), listener.events.queue.end(), [&](const auto &event) {
      return event.made && static_cast<DoubleConnection &>(*event.made).node == listener.node;
    });
    if (waiting >= listener.backlog)
      return say(ConnectionEvent::Rejected, 6), 0; // 6: no resources (IBA 12.6.7.2)
    auto made = std::make_unique<DoubleConnection>(network, listener.events, listener.node);
    made->other = this;
    made->psn = ++network->lastPsn;
    other = made.get();
    ConnectionEvent event;
    event.kind = ConnectionEvent::Request;
    event.connection = made.get();
    event.made = std::move(made);
    event.privateData = padded(parameters.privateData, has(ManagerFault::WrongSeed)      ? 6
                                                       : has(ManagerFault::WrongRequest) ? 20
                                                                                         : -1);
    listener.events.add(std::move(event));
    return 0;
  }
  int accept(const ConnectionParameters &parameters) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    if (!other)
      return ECONNRESET;
    own = parameters;
    ++network->counted.managed;
    bool iwarp = network->settings.iwarp;
    if (iwarp) {
      carry();
      other->carry();
      say(ConnectionEvent::Established, 0);
    }
    ConnectionEvent event;
    event.kind = iwarp ? ConnectionEvent::Established : ConnectionEvent::Response;
    event.connection = other;
    event.privateData = padded(parameters.privateData, other->has(ManagerFault::WrongAnswer) ? 20 : -1);
    ConnectionEvent again;
    again.kind = event.kind;
    again.connection = event.connection;
    again.privateData = event.privateData;
    other->events.add(std::move(event));
    if (other->has(ManagerFault::AnsweredTwice))
      other->events.add(std::move(again));
    if (other->has(ManagerFault::HangsUp))
      say(ConnectionEvent::Disconnected, 0);
    return 0;
  }
  int reject() override {
    std::lock_guard<std::mutex> lock(network->mutex);
    part(ConnectionEvent::Rejected, 28); // 28: by the consumer
    return 0;
  }
  int establish() override {
    std::lock_guard<std::mutex> lock(network->mutex);
    if (!other)
      return ENOTCONN;
    other->say(ConnectionEvent::Established, 0);
    return 0;
  }

private:
  bool has(ManagerFault fault) const {
    return node && node->host == network->settings.faultyHost && network->settings.managerFault == fault;
  }
  void say(ConnectionEvent::Kind kind, int status) {
    ConnectionEvent event;
    event.kind = kind;
    event.connection = this;
    event.status = status;
    events.add(std::move(event));
  }
  void part(ConnectionEvent::Kind kind, int status) {
    if (!other)
      return;
    other->say(kind, status);
    other->other = nullptr;
    other = nullptr;
  }
  static std::string padded(std::string text, int wrong) {
    text.resize(mostPrivateData);
    if (wrong >= 0)
      text[size_t(wrong)] ^= 0x40;
    return text;
  }
  void path(QueuePairAttributes &to) const {
    to.address.global = true;
    to.address.gid = other->node->gids[networkGid];
    to.address.sourceIndex = int(networkGid);
    to.mtu = 4096;
    to.peer = other->own.queuePair;
    to.receivePsn = psn;
    to.sendPsn = other->psn;
    to.readsServed = own.readsServed;
    to.readsInFlight = own.readsInFlight;
    to.retries = own.retries;
    to.rnrRetries = own.rnrRetries;
  }
  void carry() {
    auto found = node->pairs.find(own.queuePair);
    if (found == node->pairs.end())
      return;
    QueuePairAttributes &to = found->second->attributes;
    unsigned access = to.access;
    path(to);
    to.access = access;
    found->second->state = State::ReadyToSend;
  }

  friend class DoubleManager;
  Shared network;
  ManagerEvents &events;
  Node *node;
  DoubleConnection *other = nullptr;
  Endpoint target;
  uint32_t psn = 0; ///< of what comes first
  int backlog = 0;  ///< of one that listens: requests that nobody has taken
  ConnectionParameters own;
};

class DoubleManager : public ConnectionManager {
public:
  DoubleManager(Shared network, int host, int descriptor)
      : network(std::move(network)), host(host), events(descriptor) {}
  ~DoubleManager() override {
    std::deque<ConnectionEvent> dropped; // requests that nobody took
    {
      std::lock_guard<std::mutex> lock(network->mutex);
      dropped.swap(events.queue);
    }
    dropped.clear();
    close(events.descriptor);
  }
  std::unique_ptr<Connection> listen(const std::string &device, int, const Gid &, int backlog, Endpoint &at,
                                     int &error) override {
    std::lock_guard<std::mutex> lock(network->mutex);
    Node &node = network->node(host, std::atoi(device.c_str() + sizeof "double" - 1));
    error = network->settings.managerFault == ManagerFault::NoAddress && host == network->settings.faultyHost
                ? EADDRNOTAVAIL
                : 0;
    if (error)
      return nullptr;
    auto made = std::make_unique<DoubleConnection>(network, events, &node);
    made->backlog = backlog;
    network->counted.backlog = network->counted.backlog ? std::min(network->counted.backlog, backlog) : backlog;
    at = {addressOf(node), ++network->lastPort};
    network->listeners[{at.address, at.port}] = made.get();
    return made;
  }
  std::unique_ptr<Connection> make(int &error) override {
    error = 0;
    return std::make_unique<DoubleConnection>(network, events);
  }
  bool next(ConnectionEvent &event, int &error) override {
    event = {};
    std::lock_guard<std::mutex> lock(network->mutex);
    error =
        network->settings.managerFault == ManagerFault::BrokenChannel && host == network->settings.faultyHost ? EIO : 0;
    if (error)
      return false;
    if (events.queue.empty()) {
      uint64_t count;
      while (read(events.descriptor, &count, sizeof count) > 0)
        ;
      return false;
    }
    event = std::move(events.queue.front());
    events.queue.pop_front();
    return true;
  }
  int descriptor() const override { return events.descriptor; }

private:
  Shared network;
  int host;
  ManagerEvents events;
};

} // namespace

Node *Network::at(const std::string &address) {
  for (auto &[place, node] : nodes)
    if (addressOf(*node) == address)
      return node.get();
  return nullptr;
}

Outcome Network::connectionManager(int host, std::unique_ptr<ConnectionManager> &manager) {
  if (settings.managerFault == ManagerFault::NoManager && host == settings.faultyHost)
    return {BRAID_UNSUPPORTED, "BRAID_IB_CM=rdma_cm: expected a connection manager, got none; leave it at exchange"};
  int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (descriptor < 0)
    return {BRAID_SYSTEM, "BRAID_IB_CM=rdma_cm: no descriptor is left"};
  manager = std::make_unique<DoubleManager>(shared_from_this(), host, descriptor);
  return {};
}

} // namespace braid::runtime::verbs
