//===- PathMesh.cpp - connections from source ports of a plan's choice ---------------------------------------------===//
//
// A flow from one rank to another has connections of its own, so that its packets, and not those of the way back, are what the ports
// were chosen for. First each rank calls those below it and is called by those above, then the other way round: somebody always
// answers. Connections of two ranks are made one after the other, so that both know which is which.
//===--------------------------------------------------------------------------------------------------------------===//
#include "bootstrap/Handshake.h"
#include "bootstrap/Hmac.h"
#include "bootstrap/StoreExchange.h"
#include "bootstrap/Wire.h"
#include "transports/tcp/Mesh.h"
#include <algorithm>

namespace braid::runtime::tcp {

using algorithms::Paths;

namespace {

constexpr uint64_t pathTopic = 3;
constexpr int lookForDeaths = 100; // ms

struct PathPlace {
  Address address;
  std::string random;
};

class PathCaller {
public:
  PathCaller(const TransportContext &context, const Paths &paths, const std::vector<PathPlace> &places, Socket listener,
             std::string secret, PathSockets &sockets)
      : context(context), paths(paths), places(places), secret(secret), sockets(sockets), deadline(context.deadline),
        doorman(std::move(listener), secret, pathTopic, [this](const Hello &hello) { return judge(hello); }) {}

  /// Calls the ranks below this one, or above.
  Outcome call(bool below) {
    for (int peer = below ? 0 : context.me + 1; peer != (below ? context.me : context.size()); ++peer)
      for (const Paths::Connection &connection : paths.between(context.me, peer)) {
        if (connection.rail > 0)
          return {BRAID_UNSUPPORTED, "paths: expected rail 0 over tcp, which has one address, got rail " +
                                         std::to_string(connection.rail)};
        Address from{places[size_t(context.me)].address.host, uint16_t(connection.port)};
        Socket socket;
        Outcome done = connectTo(places[size_t(peer)].address, deadline, socket, connection.port > 0 ? &from : nullptr);
        if (done)
          done = introduce(socket, {context.me, context.size(), pathTopic}, secret, deadline);
        if (!done)
          return {done.status, "path to rank " + std::to_string(context.members[size_t(peer)]) + ": " + done.text};
        sockets.to[size_t(peer)].push_back(std::move(socket));
      }
    return {};
  }

  /// Until the ranks above this one, or below, have called.
  Outcome answer(bool above) {
    std::vector<pollfd> entries;
    std::vector<Doorman::Admitted> admitted;
    for (;;) {
      int missing = -1;
      for (int peer = above ? context.me + 1 : 0; peer != (above ? context.size() : context.me) && missing < 0; ++peer)
        if (sockets.from[size_t(peer)].size() < paths.between(peer, context.me).size())
          missing = peer;
      if (missing < 0)
        return {};
      entries.clear();
      doorman.collect(entries);
      int wait = doorman.milliseconds();
      wait = std::min({wait < 0 ? lookForDeaths : wait, lookForDeaths, deadline.milliseconds()});
      if (poll(entries.data(), entries.size(), wait) == 0)
        if (Outcome there = context.exchange.alive(context.members[size_t(missing)]); !there)
          return there;
      admitted.clear();
      doorman.handle(entries.data(), entries.size(), admitted);
      for (Doorman::Admitted &one : admitted)
        sockets.from[size_t(one.hello.rank)].push_back(std::move(one.socket));
      if (deadline.passed())
        return {BRAID_TIMEOUT, "rank " + std::to_string(context.members[size_t(missing)]) +
                                   " has not made the connections of its path by the deadline"};
    }
  }

private:
  std::string judge(const Hello &hello) const {
    bool expected = hello.ranks == context.size() && hello.rank >= 0 && hello.rank < hello.ranks &&
                    sockets.from[size_t(hello.rank)].size() < paths.between(hello.rank, context.me).size();
    return expected ? "" : "expected the connections of the paths, each once";
  }

  const TransportContext &context;
  const Paths &paths;
  const std::vector<PathPlace> &places;
  std::string secret;
  PathSockets &sockets;
  Deadline deadline;
  Doorman doorman;
};

Outcome listenForPaths(const TransportContext &context, const Paths &paths, const std::string &host, Socket &listener,
                       Address &bound) {
  size_t count = 1, received = 0;
  for (int peer = 0; peer < context.size(); ++peer) {
    received += paths.between(peer, context.me).size();
    count += paths.between(context.me, peer).size() + paths.between(peer, context.me).size();
  }
  if (Outcome room = roomForDescriptors(count, "connections of paths over TCP"); !room)
    return room;
  for (const auto &[ends, all] : paths.flows)
    if (ends.first >= context.size() || ends.second >= context.size())
      return {BRAID_INVALID, "paths: expected ranks below " + std::to_string(context.size()) + ", got a flow from " +
                                 std::to_string(ends.first) + " to " + std::to_string(ends.second)};
  Outcome done = listenOn({host, uint16_t(received ? paths.destinationPort : 0)}, listener, bound);
  if (!done && paths.destinationPort > 0)
    done.text = "destination port of paths: " + done.text +
                " (one rank of an address can have it; BRAID_PATHS=off does without)";
  return done;
}

} // namespace

Outcome connectPaths(const TransportContext &context, const Paths &paths, PathSockets &sockets) {
  auto *store = dynamic_cast<StoreExchange *>(&context.exchange);
  Socket listener;
  Address bound;
  std::string host = store ? store->host() : "127.0.0.1";
  Outcome own = listenForPaths(context, paths, host, listener, bound);
  std::string mine;
  Writer(mine).u8(uint8_t(own.status)).string(own ? host : own.text).u32(bound.port).string(randomBytes(16));
  std::vector<std::string> all;
  if (Outcome done = context.exchange.allgather(context.key + "/paths", context.members, mine, context.deadline, all);
      !done)
    return done;
  std::vector<PathPlace> places(all.size());
  std::string salt;
  for (size_t i = 0; i != all.size(); ++i) {
    Reader reader(all[i]);
    unsigned status = reader.u8();
    places[i].address.host = reader.string();
    places[i].address.port = uint16_t(reader.u32());
    places[i].random = reader.string();
    salt += places[i].random;
    std::string who = "rank " + std::to_string(context.members[i]) + ": ";
    if (!reader.complete() || status > BRAID_MISMATCH)
      return {BRAID_MISMATCH, who + "expected the address where it listens for paths, got other bytes"};
    if (status != BRAID_OK)
      return {braid_status(status), who + places[i].address.host};
  }
  sockets.to.resize(all.size());
  sockets.from.resize(all.size());
  std::string secret = bytesOf(hmacSha256(store ? store->rankInfo().secret : "", salt + context.key + "/paths"));
  PathCaller caller(context, paths, places, std::move(listener), secret, sockets);
  for (bool below : {true, false}) {
    Outcome done = caller.call(below);
    if (done)
      done = caller.answer(below);
    done = context.exchange.agree(context.key + (below ? "/paths below" : "/paths above"), context.members, done,
                                  context.deadline + 1);
    if (!done)
      return done;
  }
  return {};
}

} // namespace braid::runtime::tcp
