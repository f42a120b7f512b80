//===- TcpTransport.cpp - messages of step programs over TCP -------------------------------------------------------===//
//
// Everything happens in the thread that calls progress: no thread, no lock. A progress looks at the peers that something was
// asked of since the last time, and at all of them now and then, so that many quiet peers cost little.
//===--------------------------------------------------------------------------------------------------------------===//
#include "core/Transports.h"
#include "transports/tcp/Connection.h"
#include "transports/tcp/Mesh.h"
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
  TcpTransport(std::vector<int> ranks, int me, std::vector<Socket> sockets) : members(std::move(ranks)), me(me) {
    for (Socket &socket : sockets)
      peers.push_back(socket ? std::make_unique<Connection>(std::move(socket), pool, count) : nullptr);
  }
  ~TcpTransport() override { leave(); }

  const char *name() const override { return "tcp"; }
  void *allocate(size_t bytes) override { return std::aligned_alloc(64, (bytes + 63) / 64 * 64 + (bytes ? 0 : 64)); }
  void release(void *memory) override { std::free(memory); }

  bool offer(int peer, int lane, const void *data, size_t bytes, uint16_t note) override {
    return !first && peers[peer]->offer(lane, data, bytes, note);
  }
  uint64_t accepted(int peer, int lane) override { return peers[peer]->accepted(lane); }
  bool peek(int peer, int lane, Message &message) override { return peers[peer]->peek(lane, message); }
  void accept(int peer, int lane) override { peers[peer]->accept(lane); }
  bool left(int peer, int lane) override {
    Message message;
    return peers[peer]->state() == Connection::Left && !peek(peer, lane, message);
  }

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

  std::vector<int> members;
  int me;
  TransportCounters count;
  tcp::BufferPool pool;
  std::vector<std::unique_ptr<Connection>> peers; // null: this rank
  Fault first;
  unsigned rounds = 0;
  bool gone = false;
};

/// What the peers have said goes before what their silence may mean: whoever loses a peer says so and may end at once, so
/// that its own connection, which ends too, would be taken for the cause.
void TcpTransport::judge() {
  int lost = -1;
  for (size_t peer = 0; peer != peers.size(); ++peer) {
    if (!peers[peer])
      continue;
    Connection &one = *peers[peer];
    int number = static_cast<int>(peer);
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
  first = {Fault::PeerDied, lost, peers[size_t(lost)]->reason()};
  for (auto &peer : peers)
    if (peer)
      peer->abort(first.what, lost);
}

void TcpTransport::progress(bool all) {
  bool ended = false;
  auto look = [&](bool read) {
    for (auto &peer : peers)
      if (peer) {
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
  for (size_t peer = 0; peer != peers.size(); ++peer)
    if (peers[peer] && peers[peer]->state() == Connection::Open)
      entries.push_back({peers[peer]->fd(), static_cast<short>(POLLIN | (peers[peer]->sending() ? POLLOUT : 0)), 0});
  ++count.systemCalls;
  if (poll(entries.data(), entries.size(), longestSleep) > 0)
    progress(true);
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
  for (auto &peer : peers)
    if (peer && first)
      peer->abort(reason, first.kind == Fault::PeerDied ? first.peer : -1);
    else if (peer)
      peer->bye();
  bool left = true, shut = false;
  while (left && !deadline.passed()) {
    left = false;
    for (auto &peer : peers)
      if (peer) {
        peer->progress(true);
        left = left || peer->sending() || (shut && !peer->drained());
      }
    if (!left && !shut) {
      for (auto &peer : peers)
        if (peer)
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
  transport = std::make_unique<TcpTransport>(context.members, context.me, std::move(sockets));
  return {};
}

} // namespace braid::runtime
