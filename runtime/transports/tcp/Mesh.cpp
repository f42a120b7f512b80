//===- Mesh.cpp - a connection between every two ranks of a communicator -------------------------------------------===//
//
// Each rank listens, tells the others where, calls the ranks below it and is called by those above. Rank 0 calls nobody, so
// there is always a lowest one that answers. The secret of these connections is made of the job's and of fresh random bytes
// of every member, so that a rank of another communicator is as much a stranger as anybody.
//===--------------------------------------------------------------------------------------------------------------===//
#include "transports/tcp/Mesh.h"
#include "bootstrap/Handshake.h"
#include "bootstrap/Hmac.h"
#include "bootstrap/StoreExchange.h"
#include "bootstrap/Wire.h"
#include <poll.h>

namespace braid::runtime::tcp {
namespace {

constexpr uint64_t meshTopic = 2;
constexpr int lookForDeaths = 100; // ms between looks whether who is missing is still there

struct Place {
  Address address;
  std::string random;
};

std::string rankName(const TransportContext &context, int index) {
  return "rank " + std::to_string(context.members[index]);
}

Outcome callLower(const TransportContext &context, const std::vector<Place> &places, const std::string &secret,
                  Deadline deadline, std::vector<Socket> &sockets) {
  for (int peer = 0; peer != context.me; ++peer) {
    Outcome done = connectTo(places[peer].address, deadline, sockets[peer]);
    if (done)
      done = introduce(sockets[peer], {context.me, context.size(), meshTopic}, secret, deadline);
    if (!done) {
      // A rank that listened and does so no more has ended.
      bool timeout = done.status == BRAID_TIMEOUT, refused = done.status == BRAID_INVALID;
      return {timeout   ? BRAID_TIMEOUT
              : refused ? BRAID_SYSTEM
                        : BRAID_PEER_DIED,
              rankName(context, peer) + (timeout || refused ? ": " : " died: ") + done.text};
    }
  }
  return {};
}

Outcome answerHigher(const TransportContext &context, Doorman &doorman, Deadline deadline,
                     std::vector<Socket> &sockets) {
  std::vector<pollfd> entries;
  std::vector<Doorman::Admitted> admitted;
  for (int missing = context.size() - 1 - context.me; missing;) {
    entries.clear();
    doorman.collect(entries);
    int wait = doorman.milliseconds();
    wait = std::min({wait < 0 ? lookForDeaths : wait, lookForDeaths, deadline.milliseconds()});
    if (poll(entries.data(), entries.size(), wait) == 0)
      for (int peer = context.me + 1; peer != context.size(); ++peer)
        if (!sockets[peer])
          if (Outcome there = context.exchange.alive(context.members[peer]); !there)
            return there;
    admitted.clear();
    doorman.handle(entries.data(), entries.size(), admitted);
    for (Doorman::Admitted &one : admitted)
      if (!sockets[one.hello.rank]) {
        sockets[one.hello.rank] = std::move(one.socket);
        --missing;
      }
    if (missing && deadline.passed()) {
      int peer = context.me + 1;
      while (sockets[peer])
        ++peer;
      return {BRAID_TIMEOUT, rankName(context, peer) + " has not connected by the deadline"};
    }
  }
  return {};
}

Outcome connectAll(const TransportContext &context, Socket listener, const std::vector<Place> &places,
                   std::vector<Socket> &sockets) {
  auto *store = dynamic_cast<StoreExchange *>(&context.exchange);
  std::string salt;
  for (const Place &place : places)
    salt += place.random;
  std::string secret = bytesOf(hmacSha256(store ? store->rankInfo().secret : "", salt + context.key));
  Doorman doorman(std::move(listener), secret, meshTopic, [&](const Hello &hello) -> std::string {
    bool expected = hello.ranks == context.size() && hello.rank > context.me && hello.rank < hello.ranks;
    return expected && !sockets[hello.rank] ? "" : "expected ranks above this one, each once";
  });
  Deadline deadline(context.deadline);
  if (Outcome done = callLower(context, places, secret, deadline, sockets); !done)
    return done;
  return answerHigher(context, doorman, deadline, sockets);
}

} // namespace

Outcome connectMesh(const TransportContext &context, std::vector<Socket> &sockets) {
  auto *store = dynamic_cast<StoreExchange *>(&context.exchange);
  Socket listener;
  Address bound;
  // For the peers, the listener, and one that knocks.
  Outcome own = roomForDescriptors(context.members.size() + 1,
                                   "connections to " + std::to_string(context.size() - 1) + " ranks over TCP");
  if (own)
    own = listenOn({store ? store->host() : "127.0.0.1", 0}, listener, bound);
  // A rank that can't listen still takes part in the exchange, so that the others learn of it at once.
  std::string mine;
  Writer(mine)
      .u8(static_cast<uint8_t>(own.status))
      .string(own ? bound.host : own.text)
      .u32(bound.port)
      .string(randomBytes(16));
  std::vector<std::string> all;
  if (Outcome done = context.exchange.allgather(context.key + "/tcp", context.members, mine, context.deadline, all);
      !done)
    return done;
  std::vector<Place> places(all.size());
  for (size_t i = 0; i != all.size(); ++i) {
    Reader reader(all[i]);
    unsigned status = reader.u8();
    places[i].address.host = reader.string();
    uint32_t port = reader.u32();
    places[i].address.port = static_cast<uint16_t>(port);
    places[i].random = reader.string();
    if (!reader.complete() || status > BRAID_MISMATCH || (status == BRAID_OK && (port == 0 || port > 65535)))
      return {BRAID_MISMATCH, rankName(context, static_cast<int>(i)) + ": expected the address where it listens, got " +
                                  std::to_string(all[i].size()) + " other bytes"};
    if (status != BRAID_OK)
      return {static_cast<braid_status>(status),
              rankName(context, static_cast<int>(i)) + ": " + places[i].address.host};
  }
  sockets.clear();
  sockets.resize(all.size());
  Outcome outcome = connectAll(context, std::move(listener), places, sockets);
  return context.exchange.agree(context.key + "/tcp connected", context.members, outcome, context.deadline + 1);
}

} // namespace braid::runtime::tcp
