//===- Managed.cpp - queue pairs that rdma_cm connects (BRAID_IB_CM=rdma_cm) ---------------------------------------------===//
//
//   higher rank: resolve address, resolve route, to init, connect .......... response: ready to receive, to send; establish
//   lower rank:  listen .......................... request: init, ready to receive, to send; accept ........... established
//
// iWARP has no response: the higher rank's next event is that it is established, and the manager has moved its queue pair.
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/verbs/Managed.h"
#include "bootstrap/Deadline.h"
#include "bootstrap/Wire.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <poll.h>
#include <random>
#include <tuple>

namespace braid::runtime::verbs {
namespace {

constexpr int atOnce = 64;   ///< requests of this rank under way: listeners keep a backlog
constexpr int lookAside = 5; ///< ms between looks at what the peers say over TCP
constexpr uint32_t magic = 0x4252434d;
const char without[] = ", or leave BRAID_IB_CM at exchange, which does without rdma_cm";

/// Whose queue pair it is, in the private data of requests and responses.
struct Introduction {
  uint64_t seed = 0; ///< of who listens
  uint32_t from = 0, to = 0, rail = 0, pair = 0;

  std::string text() const {
    std::string text;
    Writer(text).u32(magic).u64(seed).u32(from).u32(to).u32(rail).u32(pair);
    return text;
  }
  bool read(const std::string &text) {
    Reader reader(text);
    bool ours = reader.u32() == magic;
    seed = reader.u64();
    from = reader.u32();
    to = reader.u32();
    rail = reader.u32();
    pair = reader.u32();
    return ours && !reader.failed; // what follows is padding
  }
};

class Meeting {
public:
  Meeting(const TransportContext &context, const Knobs &knobs, Common &common,
          const std::vector<const Listening *> &told, std::vector<std::vector<Link>> &links, const Wishes &wishes,
          Transport &side)
      : context(context), knobs(knobs), common(common), told(told), links(links), wishes(wishes), side(side),
        deadline(context.deadline) {}
  Outcome run(bool &met);

private:
  enum Stage { Waiting, Address, Route, Answer, Last, Done };
  static constexpr const char *waitsFor[] = {"a request", "its address",   "its route",
                                             "an answer", "its last word", "nothing"};
  struct One {
    int peer;
    size_t rail, pair;
    Stage stage = Waiting;
    Connection *connection = nullptr;
  };

  int rankOf(int peer) const { return context.members[size_t(peer)]; }
  bool listens(const One &one) const { return context.me < one.peer; }
  Introduction introduction(const One &one) const {
    int server = std::min(context.me, one.peer);
    return {told[size_t(server)]->seed, uint32_t(rankOf(context.me)), uint32_t(rankOf(one.peer)), uint32_t(one.rail),
            uint32_t(one.pair)};
  }
  std::string where(const One &one) const {
    const Endpoint &at = told[size_t(std::min(context.me, one.peer))]->at[one.rail];
    return common.rails[one.rail].name() + " of rank " + std::to_string(rankOf(context.me)) + " to rank " +
           std::to_string(rankOf(one.peer)) + " by rdma_cm, " + at.address + " port " + std::to_string(at.port) + ": ";
  }
  Outcome wrong(const One &one, const std::string &what, const std::string &advice) const {
    return {BRAID_SYSTEM, where(one) + what + "; " + advice + without};
  }
  Outcome failed(const One &one, const char *what, int error) const {
    return wrong(one, std::string("cannot ") + what + ": " + std::strerror(error), "the kernel's log may say more");
  }
  ConnectionParameters parameters(const One &one) const;
  static bool fits(ConnectionEvent::Kind kind, const One &one);
  Outcome move(One &one, std::initializer_list<State> states);
  Outcome start(One &one);
  Outcome requested(ConnectionEvent &event);
  Outcome handle(ConnectionEvent &event);
  Outcome finished(One &one);

  const TransportContext &context;
  const Knobs &knobs;
  Common &common;
  const std::vector<const Listening *> &told;
  std::vector<std::vector<Link>> &links;
  const Wishes &wishes;
  Transport &side;
  Deadline deadline;
  std::vector<One> all;
  std::map<Connection *, One *> owner;
  size_t left = 0, next = 0;
  int underWay = 0;
};

ConnectionParameters Meeting::parameters(const One &one) const {
  QueuePairAttributes wished;
  wishes(one.peer, one.rail, one.pair, wished);
  return {links[size_t(one.peer)][one.rail].pairs[one.pair]->number(),
          wished.readsServed,
          wished.readsInFlight,
          wished.retries,
          wished.rnrRetries,
          introduction(one).text()};
}

/// What the manager says of the path, and what we wish of the queue pair.
Outcome Meeting::move(One &one, std::initializer_list<State> states) {
  for (State state : states) {
    QueuePairAttributes to;
    unsigned mask = 0;
    int error = one.connection->attributes(state, to, mask);
    if (!error && mask) {
      wishes(one.peer, one.rail, one.pair, to);
      error = links[size_t(one.peer)][one.rail].pairs[one.pair]->modify(to, mask);
    }
    if (mask & SetAddress && to.address.global && knobs.gidIndex >= 0 && to.address.sourceIndex != knobs.gidIndex)
      return wrong(one,
                   "expected GID " + std::to_string(knobs.gidIndex) + ", as NCCL_IB_GID_INDEX says, got GID " +
                       std::to_string(to.address.sourceIndex) + ", which rdma_cm chooses for its address",
                   "take that index or none; cma_roce_mode says which version of RoCE it prefers");
    if (error)
      return failed(one,
                    state == State::Init             ? "bring its queue pair to init"
                    : state == State::ReadyToReceive ? "bring its queue pair to ready to receive"
                                                     : "bring its queue pair to ready to send",
                    error);
  }
  return {};
}

Outcome Meeting::start(One &one) {
  int error = 0;
  std::unique_ptr<Connection> made = common.manager->make(error);
  if (!made)
    return failed(one, "make a connection", error);
  owner[one.connection = made.get()] = &one;
  common.connections.push_back(std::move(made));
  one.stage = Address;
  ++underWay;
  // Half of the time that is left: the sentence of what was not resolved says more than that of the deadline.
  error = one.connection->resolveAddress({told[size_t(context.me)]->at[one.rail].address, 0},
                                         told[size_t(one.peer)]->at[one.rail], deadline.milliseconds() / 2);
  return error ? wrong(one, std::string("its address is not resolved: ") + std::strerror(error),
                       "ip route get and ping from this host say why")
               : Outcome();
}

Outcome Meeting::finished(One &one) {
  underWay -= !listens(one);
  one.stage = Done;
  --left;
  return {};
}

/// Whether that may come now: what was asked for, what ends it, or the last word to who has all that it needs.
bool Meeting::fits(ConnectionEvent::Kind kind, const One &one) {
  switch (kind) {
  case ConnectionEvent::AddressResolved:
    return one.stage == Address;
  case ConnectionEvent::RouteResolved:
    return one.stage == Route;
  case ConnectionEvent::Response:
  case ConnectionEvent::Established:
    return one.stage >= Answer;
  default:
    return true;
  }
}

/// One who does not know our seed is of another job, which ends nothing here.
Outcome Meeting::requested(ConnectionEvent &event) {
  Introduction said;
  if (!said.read(event.privateData) || said.seed != told[size_t(context.me)]->seed) {
    event.made->reject();
    return {};
  }
  for (One &one : all) {
    Introduction expected = introduction(one);
    if (!listens(one) || expected.from != said.to || expected.to != said.from || expected.rail != said.rail ||
        expected.pair != said.pair || one.stage != Waiting)
      continue;
    one.connection = event.made.get();
    owner[one.connection] = &one;
    common.connections.push_back(std::move(event.made));
    one.stage = Last;
    const std::string &here = common.rails[one.rail].name();
    if (one.connection->place() != here)
      return wrong(one, "expected its request at " + here + ", got it at " + one.connection->place(),
                   "each rail needs a network of its own");
    if (int error = one.connection->setTimeout(knobs.timeout))
      return failed(one, "set NCCL_IB_TIMEOUT", error);
    if (Outcome done = move(one, {State::Init, State::ReadyToReceive, State::ReadyToSend}); !done)
      return done;
    if (int error = one.connection->accept(parameters(one)))
      return failed(one, "accept", error);
    return {};
  }
  event.made->reject();
  return {BRAID_MISMATCH, "rank " + std::to_string(rankOf(context.me)) +
                              ": expected requests by rdma_cm for queue pairs that wait for one, got rank " +
                              std::to_string(said.from) + ", rail " + std::to_string(said.rail) + ", queue pair " +
                              std::to_string(said.pair) +
                              "; do all ranks have the same knobs? BRAID_IB_CM=exchange does without rdma_cm"};
}

Outcome Meeting::handle(ConnectionEvent &event) {
  if (event.kind == ConnectionEvent::Request)
    return requested(event);
  auto found = owner.find(event.connection);
  if (found == owner.end())
    return {};
  One &one = *found->second;
  if (!fits(event.kind, one))
    return wrong(one, std::string("expected ") + waitsFor[one.stage] + ", got what answers something else",
                 "is its kernel module (rdma_cm) as old as its library?");
  const std::string status = event.status ? std::string(": ") + std::strerror(event.status) : std::string();
  const std::string network =
      "ping its address; packet filters (UDP 4791), partition keys and VLANs must let it through";
  switch (event.kind) {
  case ConnectionEvent::AddressResolved: {
    const std::string &here = common.rails[one.rail].name();
    if (one.connection->place() != here)
      return wrong(one, "expected its address to be reached from " + here + ", got " + one.connection->place(),
                   "each rail needs a route of its own (ip rule, ip route)");
    if (int error = one.connection->setTimeout(knobs.timeout))
      return failed(one, "set NCCL_IB_TIMEOUT", error);
    one.stage = Route;
    int error = one.connection->resolveRoute(deadline.milliseconds() / 2);
    return error ? failed(one, "resolve its route", error) : Outcome();
  }
  case ConnectionEvent::AddressError:
    return wrong(one, "its address is not resolved" + status, "ip route get and ping from this host say why");
  case ConnectionEvent::RouteResolved: {
    one.stage = Answer;
    if (Outcome done = move(one, {State::Init}); !done)
      return done;
    int error = one.connection->connect(parameters(one));
    return error ? failed(one, "connect", error) : Outcome();
  }
  case ConnectionEvent::RouteError:
    return wrong(one, "its route is not resolved" + status,
                 "does the subnet manager answer (sminfo), and are both ports in its partition?");
  case ConnectionEvent::Response:
  case ConnectionEvent::Established: {
    if (one.stage == Done)
      return {};
    if (one.stage == Answer) {
      Introduction said, expected = introduction(one);
      if (!said.read(event.privateData) || said.seed != expected.seed || said.from != expected.to ||
          said.to != expected.from || said.rail != expected.rail || said.pair != expected.pair)
        return wrong(one,
                     "expected an answer for rail " + std::to_string(one.rail) + ", queue pair " +
                         std::to_string(one.pair) + ", got that of another",
                     "who listens there is not that rank: is its address unique?");
      if (Outcome done = move(one, {State::ReadyToReceive, State::ReadyToSend}); !done)
        return done;
      if (event.kind == ConnectionEvent::Response)
        if (int error = one.connection->establish())
          return failed(one, "establish", error);
    }
    return finished(one);
  }
  case ConnectionEvent::Unreachable:
  case ConnectionEvent::ConnectError:
    return wrong(one,
                 (event.kind == ConnectionEvent::Unreachable ? "it does not answer" : "it is not connected") + status,
                 network);
  case ConnectionEvent::Rejected:
    return wrong(
        one, "it has rejected the request, reason " + std::to_string(event.status),
        "who listens there is not that rank of this job: is its address unique, and seen unchanged from here?");
  case ConnectionEvent::Disconnected:
    return one.stage == Done ? Outcome() : wrong(one, "it has disconnected", "the other rank may say why");
  case ConnectionEvent::DeviceRemoval:
    return wrong(one, "the device is gone", "the kernel's log says why");
  default:
    return {};
  }
}

Outcome Meeting::run(bool &met) {
  met = false;
  for (int peer = 0; peer < context.size(); ++peer)
    for (size_t rail = 0; peer != context.me && rail < links[size_t(peer)].size(); ++rail)
      for (size_t pair = 0; pair < links[size_t(peer)][rail].pairs.size(); ++pair)
        all.push_back({peer, rail, pair});
  left = all.size();
  Outcome outcome;
  while (left > 0 && outcome) {
    for (; next < all.size() && underWay < atOnce && outcome; ++next)
      if (!listens(all[next]))
        outcome = start(all[next]);
    ConnectionEvent event;
    int broken = 0;
    bool came = outcome && common.manager->next(event, broken);
    if (came)
      outcome = handle(event);
    else if (broken)
      outcome = {BRAID_SYSTEM, "rank " + std::to_string(rankOf(context.me)) +
                                   ": expected events of rdma_cm, got an error of their channel: " +
                                   std::strerror(broken) + "; the kernel's log may say more" + without};
    if (came || !outcome)
      continue;
    side.progress();
    if (Fault fault = side.fault()) // who has given up says why where all agree
      return fault.kind == Fault::PeerDied ? Outcome(BRAID_PEER_DIED, fault.what)
             : fault.kind == Fault::System ? Outcome(BRAID_SYSTEM, fault.what)
                                           : Outcome();
    if (deadline.passed()) {
      const One &one = *std::find_if(all.begin(), all.end(), [](const One &each) { return each.stage != Done; });
      outcome = wrong(one,
                      std::string("expected ") + waitsFor[one.stage] + " within " + textOfSeconds(context.deadline) +
                          ", got none (" + std::to_string(left) + " of " + std::to_string(all.size()) +
                          " queue pairs are not connected)",
                      "ping its address; a longer deadline gives it more time");
      outcome.status = BRAID_TIMEOUT;
      break;
    }
    pollfd bell = {common.manager->descriptor(), POLLIN, 0};
    ::poll(&bell, 1, std::min(lookAside, deadline.milliseconds()));
  }
  if (!outcome)
    side.abort(outcome.text);
  met = bool(outcome);
  return outcome;
}

} // namespace

Outcome listen(Provider &provider, int requests, Common &common, Listening &mine) {
  if (Outcome done = provider.connectionManager(common.manager); !done)
    return done;
  std::random_device random;
  mine.seed = uint64_t(random()) << 32 | random();
  for (const Rail &rail : common.rails) {
    int error = 0;
    Endpoint at;
    mine.listeners.push_back(
        common.manager->listen(rail.device->name(), rail.port.number, rail.gid, requests, at, error));
    if (!mine.listeners.back())
      return {BRAID_SYSTEM, rail.name() + ": cannot listen by rdma_cm at an IP address of its network interface: " +
                                std::strerror(error) +
                                "; give it one (ip address add; InfiniBand: that of its IPoIB interface)" + without};
    mine.at.push_back(at);
  }
  return {};
}

Outcome connectByManager(const TransportContext &context, const Knobs &knobs, Common &common,
                         const std::vector<const Listening *> &told, std::vector<std::vector<Link>> &links,
                         const Wishes &wishes, Transport &side, bool &met) {
  return Meeting(context, knobs, common, told, links, wishes, side).run(met);
}

} // namespace braid::runtime::verbs
