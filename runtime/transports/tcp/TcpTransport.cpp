//===- TcpTransport.cpp - messages of step programs over TCP -------------------------------------------------------===//
//
// Everything happens in the thread that calls progress: no thread, no lock. A progress looks at the peers that something was
// asked of since the last time, and at all of them now and then, so that many quiet peers cost little.
//===--------------------------------------------------------------------------------------------------------------===//
#include "core/Transports.h"
#include "transports/tcp/Connection.h"
#include "transports/tcp/Mesh.h"
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <poll.h>
#include <sched.h>
#include <utility>

namespace braid::runtime {
namespace {

using tcp::Connection;

constexpr unsigned lookAtAll = 32; // progresses
constexpr unsigned pauses = 16;    // of a waiting rank before it gives up its turn; each comes with a system call
constexpr unsigned yields = 400;   // before it sleeps until a socket has something
constexpr int longestSleep = 10;   // ms: the core looks at its deadlines
constexpr double farewell = 1;     // seconds for bytes on their way when a transport ends

class TcpTransport : public Transport {
public:
  TcpTransport(std::vector<int> ranks, int me, std::vector<Socket> sockets, algorithms::Paths given,
               tcp::PathSockets own, std::string whyNone)
      : members(std::move(ranks)), me(me), paths(std::move(given)), noPath(std::move(whyNone)) {
    for (Socket &socket : sockets)
      peers.push_back(socket ? std::make_unique<Connection>(std::move(socket), pool, count) : nullptr);
    take(own.to, out);
    take(own.from, in);
    // Those that all share come first: what is said there explains the end of the others.
    for (size_t peer = 0; peer != peers.size(); ++peer)
      if (peers[peer])
        every.push_back({peers[peer].get(), int(peer)});
    for (std::vector<Ways> *ways : {&out, &in})
      for (size_t peer = 0; peer != ways->size(); ++peer)
        for (auto &connection : (*ways)[peer].connections)
          every.push_back({connection.get(), int(peer)});
  }
  ~TcpTransport() override { leave(); }

  const char *name() const override { return "tcp"; }
  void *allocate(size_t bytes) override { return std::aligned_alloc(64, (bytes + 63) / 64 * 64 + (bytes ? 0 : 64)); }
  void release(void *memory) override { std::free(memory); }

  bool offer(int peer, int lane, const void *data, size_t bytes, uint16_t note) override {
    return !first && way(out, peer, lane).offer(lane, data, bytes, note);
  }
  uint64_t accepted(int peer, int lane) override { return way(out, peer, lane).accepted(lane); }
  bool peek(int peer, int lane, Message &message) override { return way(in, peer, lane).peek(lane, message); }
  void accept(int peer, int lane) override { way(in, peer, lane).accept(lane); }
  bool left(int peer, int lane) override {
    Message message;
    return peers[peer]->state() == Connection::Left && way(in, peer, lane).state() != Connection::Open &&
           !peek(peer, lane, message);
  }
  bool hasPaths() const override { return !out.empty(); }
  std::string whyNoPath() const override { return noPath; }
  std::string route(int peer, int lane, bool sends, int port, int index) override;

  void leave() override;
  void giveUp(const std::string &why) override {
    if (first.kind == Fault::None || first.kind == Fault::System)
      first = {Fault::Aborted, me, why};
    leave();
  }
  void progress() override { progress(++rounds % lookAtAll == 0); }
  void idle(unsigned spins) override;
  Fault fault() override { return first; }
  void abort(const std::string &why) override;
  TransportCounters counters() const override { return count; }

private:
  void progress(bool all);
  void judge();
  std::string named(int peer) const { return "rank " + std::to_string(members[size_t(peer)]); }

  /// Connections of paths to one peer, or from it.
  struct Ways {
    std::vector<std::unique_ptr<Connection>> connections;
    std::vector<int> ofLane; ///< which of them; -1, or none: the one that all share
  };
  void take(std::vector<std::vector<Socket>> &all, std::vector<Ways> &ways) {
    for (std::vector<Socket> &ofPeer : all) {
      ways.emplace_back();
      for (Socket &socket : ofPeer)
        ways.back().connections.push_back(std::make_unique<Connection>(std::move(socket), pool, count));
    }
  }
  Connection &way(std::vector<Ways> &ways, int peer, int lane) {
    if (ways.empty() || size_t(lane) >= ways[size_t(peer)].ofLane.size() || ways[size_t(peer)].ofLane[size_t(lane)] < 0)
      return *peers[size_t(peer)];
    return *ways[size_t(peer)].connections[size_t(ways[size_t(peer)].ofLane[size_t(lane)])];
  }

  std::vector<int> members;
  int me;
  algorithms::Paths paths;
  std::string noPath; ///< why operations can have none
  TransportCounters count;
  tcp::BufferPool pool;
  std::vector<std::unique_ptr<Connection>> peers; // null: this rank
  std::vector<Ways> out, in;                      // by peer; none without paths
  struct Owned {
    Connection *connection;
    int peer;
  };
  std::vector<Owned> every;
  Fault first;
  unsigned rounds = 0;
  bool gone = false;
};

/// What the peers have said goes before what their silence may mean: whoever loses a peer says so and may end at once, so
/// that its own connection, which ends too, would be taken for the cause.
void TcpTransport::judge() {
  int lost = -1;
  for (auto [connection, number] : every) {
    Connection &one = *connection;
    if (one.state() == Connection::Broken)
      return (void)(first = {Fault::System, number, one.reason()});
    if (one.state() == Connection::Lost && lost < 0)
      lost = number;
    if (one.state() != Connection::Aborted)
      continue;
    if (one.dead() < 0 || one.dead() >= int(peers.size()))
      return (void)(first = {Fault::Aborted, number, one.reason()});
    if (one.dead() == me)
      return (void)(first = {Fault::System, number, "it has lost this rank: " + one.reason()});
    std::string said = one.reason().find(", as rank ") == std::string::npos ? ", as " + named(number) + " says" : "";
    return (void)(first = {Fault::PeerDied, one.dead(), one.reason() + said});
  }
  if (lost < 0)
    return;
  for (auto [connection, number] : every)
    if (number == lost && connection->state() == Connection::Lost && !first)
      first = {Fault::PeerDied, lost, connection->reason()};
  for (auto &peer : peers)
    if (peer)
      peer->abort(first.what, lost);
}

void TcpTransport::progress(bool all) {
  bool ended = false;
  auto look = [&](bool read) {
    for (auto [peer, number] : every) {
      peer->progress(read);
      ended = ended || (peer->state() != Connection::Open && peer->state() != Connection::Left);
    }
  };
  look(all);
  if (!ended || first)
    return;
  look(true); // what others have said meanwhile
  judge();
}

void TcpTransport::idle(unsigned spins) {
  if (spins < pauses) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
    return;
  }
  if (spins < yields) {
    sched_yield();
    return;
  }
  std::vector<pollfd> entries;
  for (auto [peer, number] : every)
    if (peer->state() == Connection::Open)
      entries.push_back({peer->fd(), static_cast<short>(POLLIN | (peer->sending() ? POLLOUT : 0)), 0});
  ++count.systemCalls;
  if (poll(entries.data(), entries.size(), longestSleep) > 0)
    progress(true);
}

std::string TcpTransport::route(int peer, int lane, bool sends, int port, int index) {
  Ways &ways = (sends ? out : in)[size_t(peer)];
  std::vector<algorithms::Paths::Connection> all = sends ? paths.between(me, peer) : paths.between(peer, me);
  int found = port > 0 ? -1 : std::min(index, int(all.size()) - 1);
  for (size_t i = 0; i < all.size() && port > 0; ++i)
    found = all[i].port == port ? int(i) : found;
  if (found < 0 && index >= 0)
    return "path, expected a port that was opened (BRAID_PATHS) " + std::string(sends ? "to " : "from ") + named(peer) +
           ", got " + std::to_string(port);
  if (size_t(lane) >= ways.ofLane.size())
    ways.ofLane.resize(size_t(lane) + 1, -1);
  ways.ofLane[size_t(lane)] = found;
  return {};
}

void TcpTransport::abort(const std::string &why) {
  for (auto &peer : peers)
    if (peer)
      peer->abort(why);
}

void TcpTransport::leave() {
  if (std::exchange(gone, true))
    return;
  // The farewell comes behind everything that was offered; who reads it knows that our end is none to worry about. Wait until
  // it has reached the peers' hosts: closing a connection with unread bytes would throw away what is under way.
  Deadline deadline(farewell);
  // After a fault there is no good order to leave in; the caller's buffers may be gone, so nothing of them is sent.
  // An abort is passed on in its own words, whoever of us is heard first.
  std::string reason = first.what;
  if (first.kind == Fault::System)
    reason = named(me) + " gave up: " + reason;
  for (auto [peer, number] : every)
    if (first)
      peer->abort(reason, first.kind == Fault::PeerDied ? first.peer : -1);
    else
      peer->bye();
  bool left = true, shut = false;
  while (left && !deadline.passed()) {
    left = false;
    for (auto [peer, number] : every) {
      peer->progress(true);
      left = left || peer->sending() || (shut && !peer->drained());
    }
    if (!left && !shut) {
      for (auto [peer, number] : every)
        peer->finishSending();
      shut = left = true;
      continue;
    }
    if (left)
      poll(nullptr, 0, 1);
  }
}

} // namespace

Outcome makeTcpTransport(const TransportContext &context, std::unique_ptr<Transport> &transport) {
  std::vector<Socket> sockets;
  if (Outcome done = tcp::connectMesh(context, sockets); !done)
    return done;
  algorithms::Paths paths;
  tcp::PathSockets own;
  std::string none;
  if (context.paths.empty())
    none = "path: expected its connections to be opened, which those of all ranks have where BRAID_PATHS (or the "
           "option paths) says "
           "the path of the plan, got none; BRAID_PATHS=off does without";
  if (!context.paths.empty() && context.paths != "off") {
    if (std::string wrong = algorithms::Paths::read(context.paths, paths); !wrong.empty())
      return {BRAID_INVALID, "paths: " + wrong};
    if (Outcome done = tcp::connectPaths(context, paths, own); !done)
      return done;
  }
  transport = std::make_unique<TcpTransport>(context.members, context.me, std::move(sockets), std::move(paths),
                                             std::move(own), std::move(none));
  return {};
}

} // namespace braid::runtime
