//===- StoreExchange.cpp - the core's Exchange, over the store ----------------------------------------------------===//
#include "bootstrap/StoreExchange.h"
#include "bootstrap/LauncherLink.h"
#include "bootstrap/Wire.h"
#include "core/Log.h"
#include "core/SystemError.h"
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unistd.h>

namespace braid::runtime {
namespace {

constexpr double farewell = 5; // seconds that rank 0's store outlives it for the others

/// Takes the first address that is free; the others are tried only if it is in use.
Outcome serve(const RankInfo &info, std::unique_ptr<StoreThread> &server) {
  Outcome last;
  for (const std::string &text : info.rendezvous) {
    Address address, bound;
    Socket listener;
    if (Outcome done = parseAddress(text, address); !done)
      return done;
    last = listenOn(address, listener, bound);
    if (last) {
      server =
          std::make_unique<StoreThread>(std::make_unique<StoreServer>(std::move(listener), info.secret, info.ranks));
      return {};
    }
  }
  return {last.status, "rank 0 can't serve the store: " + last.text};
}

} // namespace

Outcome StoreExchange::connect(const RankInfo &info, double seconds, std::shared_ptr<StoreExchange> &exchange) {
  Deadline deadline(seconds);
  bool own = info.ranks > 1 && info.rank == 0 && !info.launcherServes;
  // Looked for before anybody calls: a store that can't accept is silent, and its callers wait for as long as they may.
  if (Outcome room = own ? roomForDescriptors(size_t(info.ranks) + 4, "the store of " + std::to_string(info.ranks) +
                                                                          " ranks, which rank 0 serves")
                         : roomForDescriptors(2, "connection to the store");
      !room)
    return room;
  std::shared_ptr<StoreExchange> made(new StoreExchange);
  made->info = info;
  made->process = getpid();
  made->hosts = {thisHost()};
  std::vector<std::string> processors = {allowedProcessors()};
  if (info.ranks > 1) {
    if (own)
      if (Outcome done = serve(info, made->server); !done)
        return done;
    if (Outcome done = StoreClient::connect(info.rendezvous, info.secret, info.rank, info.ranks,
                                            info.launcherServes ? "the launcher" : "rank 0", deadline, made->client);
        !done)
      return done;
    std::vector<int> everybody(info.ranks);
    for (int i = 0; i != info.ranks; ++i)
      everybody[i] = i;
    std::vector<std::string> all;
    std::string mine;
    Writer(mine).string(made->hosts[0].encode()).string(processors[0]);
    if (Outcome done = made->client->gather("braid/hosts", everybody, mine, all, std::max(deadline.left(), 0.0)); !done)
      return done;
    made->hosts.resize(info.ranks);
    processors.resize(info.ranks);
    for (int i = 0; i != info.ranks; ++i) {
      Reader reader(all[i]);
      bool good = HostIdentity::decode(reader.string(), made->hosts[i]);
      processors[i] = reader.string();
      if (!good || !reader.complete())
        return {BRAID_MISMATCH, "host of rank " + std::to_string(i) + ": expected its identity, got " +
                                    std::to_string(all[i].size()) + " other bytes"};
    }
  }
  std::vector<std::string> neighbours; // by local rank
  for (int i = 0; i != info.ranks; ++i)
    if (made->hosts[i].sameAs(made->hosts[info.rank]))
      neighbours.push_back(processors[i]);
  if (Outcome done = chooseAffinity(made->place().rank, neighbours, made->threads); !done)
    return done;
  exchange = std::move(made);
  return {};
}

std::string StoreExchange::text() const {
  LocalPlace here = place();
  return info.text() + ", host " + hosts[info.rank].host + " (" + std::to_string(here.host + 1) + " of " +
         std::to_string(here.hosts) + "), rank " + std::to_string(here.rank) + " of " + std::to_string(here.ranks) +
         " there; " + threads.text + "; " + LauncherLink::ofProcess().text();
}

StoreExchange::~StoreExchange() {
  if (getpid() != process) { // a fork: connection and thread are the parent's
    if (client)
      client->forget();
    (void)server.release();
    return;
  }
  if (client)
    client->leave();
  if (server)
    server->finish(Deadline(farewell));
}

Outcome StoreExchange::allgather(const std::string &key, const std::vector<int> &members, const std::string &mine,
                                 double deadline, std::vector<std::string> &all) {
  if (client)
    return client->gather(key, members, mine, all, deadline);
  all = {mine};
  return {};
}

/// A wait for a key that nobody sets ends at once: the owner is gone, or it is late.
Outcome StoreExchange::alive(int rank) {
  std::string none;
  Outcome answer = client ? client->wait("braid/never", rank, none, 0) : Outcome();
  return answer.status == BRAID_PEER_DIED ? answer : Outcome();
}

bool StoreExchange::ended(uint64_t scope, std::string &why) {
  int culprit; // the sentence names it
  return LauncherLink::ofProcess().ended(scope, why, culprit);
}

void StoreExchange::abort(uint64_t scope, const std::string &why) {
  LauncherLink::ofProcess().abort(info.rank, scope, why);
}

Outcome connectExchange(const braid_comm_options &options, double deadline, std::shared_ptr<Exchange> &exchange) {
  RankInfo info;
  std::string rendezvous = options.rendezvous ? options.rendezvous : "";
  if (options.ranks == 0 && options.rank == 0) {
    if (Outcome done = readRankInfo(info, rendezvous); !done)
      return done;
  } else {
    if (options.ranks < 1 || options.rank < 0 || options.rank >= options.ranks)
      return {BRAID_INVALID, "rank and ranks: expected 0 <= rank < ranks, got " + std::to_string(options.rank) +
                                 " and " + std::to_string(options.ranks)};
    info.rank = options.rank;
    info.ranks = options.ranks;
    if (Outcome done = readRendezvous(info, rendezvous); !done)
      return done;
  }
  // A process meets the others once and stays connected until it ends, so that communicators may come and go, and the store
  // tells the end of a process from that of a communicator. A lock of its own for each rank: in tests ranks are threads.
  struct Known {
    std::mutex mutex;
    std::shared_ptr<StoreExchange> exchange;
  };
  static std::mutex mutex;
  static std::map<std::string, Known> all;
  Known *known;
  {
    std::lock_guard<std::mutex> lock(mutex);
    known = &all[std::to_string(getpid()) + " " + info.text() + " " + info.job];
  }
  std::lock_guard<std::mutex> lock(known->mutex);
  if (!known->exchange || known->exchange->broken()) {
    known->exchange.reset();
    if (Outcome done = StoreExchange::connect(info, deadline, known->exchange); !done)
      return done;
    LauncherLink::ofProcess().progress(info.rank, "has met the others: " + known->exchange->text());
    if (logs())
      std::fprintf(stderr, "braid: %s\n", known->exchange->text().c_str());
  }
  exchange = known->exchange;
  return {};
}

} // namespace braid::runtime
