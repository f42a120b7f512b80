//===- Connect.cpp - queue pairs between all ranks of a communicator -----------------------------------------------------===//
//
// Each rank tells all others its rails and the numbers of its queue pairs, one list for each peer, through the exchange of the
// bootstrap. Rail i is connected with rail i. Nobody sends before all have posted their receives. With BRAID_IB_CM=rdma_cm only the number
// of the queue pairs counts; where each rank listens goes with it, and Managed.cpp connects.
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/verbs/Connect.h"
#include "bootstrap/Wire.h"
#include "braid/runtime/draws/Draws.h"
#include "core/Log.h"
#include "transports/verbs/Managed.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace braid::runtime::verbs {
namespace {

struct Told {
  struct Rail {
    Port port;
    Gid gid;
    int readsServed = 1;
  };
  struct Number {
    uint32_t pair, psn;
  };
  Outcome outcome;
  bool managed = false; ///< BRAID_IB_CM=rdma_cm
  Listening listening;  ///< so
  std::vector<Rail> rails;
  std::vector<std::vector<Number>> numbers; ///< for each rank: of each rail, of each of its queue pairs
};

std::string write(const Told &told) {
  std::string text;
  Writer writer(text);
  writer.u8(uint8_t(told.outcome.status)).string(told.outcome.text).u32(uint32_t(told.rails.size()));
  for (const Told::Rail &rail : told.rails)
    writer.u8(rail.port.ethernet)
        .u32(rail.port.lid)
        .u32(rail.port.mtu)
        .u32(uint32_t(rail.readsServed))
        .string(std::string(rail.gid.raw.begin(), rail.gid.raw.end()));
  writer.u32(uint32_t(told.numbers.size()));
  for (const auto &list : told.numbers) {
    writer.u32(uint32_t(list.size()));
    for (const Told::Number &number : list)
      writer.u32(number.pair).u32(number.psn);
  }
  writer.u8(told.managed).u64(told.listening.seed).u32(uint32_t(told.listening.at.size()));
  for (const Endpoint &at : told.listening.at)
    writer.string(at.address).u32(at.port);
  return text;
}

bool read(const std::string &text, Told &told) {
  Reader reader(text);
  told.outcome.status = braid_status(reader.u8());
  told.outcome.text = reader.string();
  told.rails.resize(std::min<uint32_t>(reader.u32(), mostRails));
  for (Told::Rail &rail : told.rails) {
    rail.port.ethernet = reader.u8();
    rail.port.lid = uint16_t(reader.u32());
    rail.port.mtu = reader.u32();
    rail.readsServed = int(reader.u32());
    std::string gid = reader.string();
    if (gid.size() != rail.gid.raw.size())
      return false;
    std::copy(gid.begin(), gid.end(), rail.gid.raw.begin());
  }
  uint32_t ranks = reader.u32();
  for (uint32_t rank = 0; rank < ranks && !reader.failed; ++rank) {
    told.numbers.emplace_back();
    uint32_t count = reader.u32();
    for (uint32_t i = 0; i < count && !reader.failed; ++i) {
      uint32_t pair = reader.u32();
      told.numbers.back().push_back({pair, reader.u32()});
    }
  }
  told.managed = reader.u8();
  told.listening.seed = reader.u64();
  told.listening.at.resize(std::min<uint32_t>(reader.u32(), mostRails));
  for (Endpoint &at : told.listening.at) {
    at.address = reader.string();
    at.port = uint16_t(reader.u32());
  }
  return reader.complete() && told.outcome.status <= BRAID_MISMATCH;
}

/// Queue pairs for data between two ranks, on each rail.
int dataPairs(const TransportContext &context, const Knobs &knobs, const algorithms::Paths &paths, int peer) {
  int mine = context.members[size_t(context.me)], theirs = context.members[size_t(peer)];
  size_t most = std::max(paths.between(mine, theirs).size(), paths.between(theirs, mine).size());
  return int(std::max(most, size_t(knobs.queuePairs)));
}

Outcome makePairs(const TransportContext &context, const Knobs &knobs, const algorithms::Paths &paths, Common &common,
                  std::vector<std::vector<Link>> &links, Told &mine) {
  std::random_device random;
  int pairs = 0;
  for (int peer = 0; peer < context.size(); ++peer)
    pairs += peer == context.me ? 0 : dataPairs(context, knobs, paths, peer);
  int64_t completions = int64_t(context.size()) * 2 * controlDepth + int64_t(pairs) * 2 * dataDepth;
  for (Rail &rail : common.rails) {
    int error = 0;
    if (completions > rail.limits.completions)
      return {BRAID_UNSUPPORTED, rail.name() + ": expected room for " + std::to_string(completions) +
                                     " completions of " + std::to_string(pairs) + " queue pairs for data, got " +
                                     std::to_string(rail.limits.completions) +
                                     "; a smaller NCCL_IB_QPS_PER_CONNECTION or fewer ranks need less"};
    rail.completions = rail.device->makeCompletionQueue(int(completions), error);
    if (!rail.completions)
      return {BRAID_SYSTEM, rail.name() + ": cannot make a completion queue of " + std::to_string(completions) + ": " +
                                std::strerror(error)};
  }
  links.resize(size_t(context.size()));
  mine.numbers.resize(size_t(context.size()));
  for (int peer = 0; peer < context.size(); ++peer)
    for (Rail &rail : common.rails) {
      if (peer == context.me)
        break;
      Link link;
      int count = 1 + dataPairs(context, knobs, paths, peer);
      for (int i = 0; i < count; ++i) {
        int error = 0, depth = i == 0 ? controlDepth : dataDepth;
        link.pairs.push_back(rail.device->makeQueuePair(*rail.completions, {depth, depth, i == 0 ? 96u : 0u}, error));
        if (!link.pairs.back())
          return {BRAID_SYSTEM, rail.name() + ": cannot make queue pair " + std::to_string(i + 1) + " of " +
                                    std::to_string(count) + " to rank " +
                                    std::to_string(context.members[size_t(peer)]) + ": " + std::strerror(error)};
        mine.numbers[size_t(peer)].push_back({link.pairs.back()->number(), uint32_t(random()) & 0xffffff});
      }
      links[size_t(peer)].push_back(std::move(link));
    }
  return {};
}

/// Whether the plan says which way a queue pair for data goes.
bool isPlanned(const TransportContext &context, const algorithms::Paths &paths, int peer, size_t pair) {
  auto own = paths.between(context.members[size_t(context.me)], context.members[size_t(peer)]);
  return pair > 0 && pair <= own.size() && own[pair - 1].port > 0;
}

uint32_t labelOf(const TransportContext &context, const algorithms::Paths &paths, int peer, size_t rail, size_t pair) {
  int mine = context.members[size_t(context.me)], theirs = context.members[size_t(peer)];
  if (isPlanned(context, paths, peer, pair))
    return flowLabelOf(paths.between(mine, theirs)[pair - 1].port);
  // None was chosen: one for each, which differ in the part that becomes the port.
  uint64_t draw = draws::mix(draws::mix(uint64_t(mine) << 32 | uint32_t(theirs), rail), pair);
  return flowLabelOf(49152 + int(draw % 16384));
}

/// The rails and queue pairs that both sides have.
Outcome match(const TransportContext &context, const Common &common, const Told &mine, const Told &theirs, int peer,
              std::vector<Link> &links) {
  std::string who = "rank " + std::to_string(context.members[size_t(peer)]);
  size_t rails = std::min(mine.rails.size(), theirs.rails.size());
  links.resize(rails); // rails that only one side has stay unused
  const auto &numbers = theirs.numbers[size_t(context.me)];
  size_t each = rails ? links[0].pairs.size() : 0;
  if (each == 0 || numbers.size() != theirs.rails.size() * each)
    return {BRAID_MISMATCH, "NCCL_IB_QPS_PER_CONNECTION: expected the same on all ranks, got " +
                                std::to_string(each - 1) + " queue pairs here and " +
                                std::to_string(numbers.size() / std::max<size_t>(theirs.rails.size(), 1) - 1) + " on " +
                                who};
  for (size_t rail = 0; rail < rails; ++rail) {
    const Rail &here = common.rails[rail];
    if (theirs.rails[rail].port.ethernet != here.port.ethernet)
      return {BRAID_MISMATCH, here.name() + ": expected " + (here.port.ethernet ? "RoCE" : "InfiniBand") +
                                  " also as rail " + std::to_string(rail) + " of " + who +
                                  ", got the other; NCCL_IB_HCA chooses devices, whose order is that of ibv_devices"};
  }
  if (theirs.managed && theirs.listening.at.size() != theirs.rails.size())
    return {BRAID_MISMATCH, who + ": expected where it listens on " + std::to_string(theirs.rails.size()) +
                                " rails, got " + std::to_string(theirs.listening.at.size())};
  return {};
}

/// What does not depend on how queue pairs find each other.
void wish(const Knobs &knobs, const Rail &here, const Told::Rail &there, QueuePairAttributes &to) {
  to.access = RemoteWrite | RemoteRead;
  to.readsServed = std::max(1, std::min(here.limits.readsServed, 16));
  to.readsInFlight = std::max(1, std::min({here.limits.readsInFlight, there.readsServed, 16}));
  to.rnrTimer = QueuePairAttributes().rnrTimer;
  to.timeout = knobs.timeout;
  to.retries = knobs.retries;
  to.rnrRetries = QueuePairAttributes().rnrRetries;
}

Outcome bringUp(const TransportContext &context, const Knobs &knobs, const algorithms::Paths &paths,
                const Common &common, const Told &mine, const Told &theirs, int peer, std::vector<Link> &links) {
  QueuePairAttributes to;
  size_t each = links.empty() ? 0 : links[0].pairs.size();
  for (size_t rail = 0; rail < links.size(); ++rail) {
    const Told::Rail &there = theirs.rails[rail];
    const Rail &here = common.rails[rail];
    for (size_t pair = 0; pair < each; ++pair) {
      const Told::Number &own = mine.numbers[size_t(peer)][rail * each + pair],
                         &other = theirs.numbers[size_t(context.me)][rail * each + pair];
      wish(knobs, here, there, to);
      to.port = here.port.number;
      to.pkeyIndex = knobs.pkeyIndex;
      to.mtu = std::min(here.port.mtu, there.port.mtu);
      to.peer = other.pair;
      to.receivePsn = other.psn;
      to.sendPsn = own.psn;
      to.address.global = here.port.ethernet;
      to.address.gid = there.gid;
      to.address.sourceIndex = here.gid.index;
      to.address.flowLabel = labelOf(context, paths, peer, rail, pair);
      to.address.trafficClass = knobs.trafficClass;
      to.address.serviceLevel = knobs.serviceLevel;
      to.address.lid = there.port.lid;
      struct Stage {
        State state;
        unsigned mask;
        const char *name;
      };
      static const Stage stages[] = {
          {State::Init, SetState | SetPkeyIndex | SetPort | SetAccess, "init"},
          {State::ReadyToReceive,
           SetState | SetAddress | SetMtu | SetPeer | SetReceivePsn | SetReadsServed | SetRnrTimer, "ready to receive"},
          {State::ReadyToSend, SetState | SetTimeout | SetRetries | SetRnrRetries | SetSendPsn | SetReadsInFlight,
           "ready to send"}};
      for (const Stage &stage : stages) {
        to.state = stage.state;
        if (int error = links[rail].pairs[pair]->modify(to, stage.mask))
          return {BRAID_SYSTEM, here.name() + ": queue pair to rank " + std::to_string(context.members[size_t(peer)]) +
                                    ": cannot get " + stage.name + ": " + std::strerror(error) + " (" + here.gidWhy +
                                    ")"};
      }
    }
  }
  return {};
}

/// The manager's path, but for what was asked for by name: flow labels of planned paths, traffic class and service level.
Outcome bringUpManaged(const TransportContext &context, const Knobs &knobs, const algorithms::Paths &paths,
                       Common &common, const std::vector<Told> &told, std::vector<std::vector<Link>> &links,
                       Transport &side, bool &met) {
  auto wishes = [&](int peer, size_t rail, size_t pair, QueuePairAttributes &to) {
    wish(knobs, common.rails[rail], told[size_t(peer)].rails[rail], to);
    if (isPlanned(context, paths, peer, pair))
      to.address.flowLabel = labelOf(context, paths, peer, rail, pair);
    if (knobs.trafficClass)
      to.address.trafficClass = knobs.trafficClass;
    if (knobs.serviceLevel)
      to.address.serviceLevel = knobs.serviceLevel;
  };
  std::vector<const Listening *> all;
  for (const Told &each : told)
    all.push_back(&each.listening);
  return connectByManager(context, knobs, common, all, links, wishes, side, met);
}

} // namespace

uint32_t flowLabelOf(int sourcePort) {
  uint32_t low = uint32_t(sourcePort) & 0x3fff;
  return low ? low : 0x4001; // the port is 0xc000 | (low 14 bits ^ the 6 bits above them)
}

Outcome connect(const TransportContext &context, Provider &provider, const Knobs &knobs, const algorithms::Paths &paths,
                Transport &side, std::unique_ptr<Common> &common, std::vector<std::unique_ptr<Peer>> &peers) {
  std::vector<Rail> rails;
  std::vector<std::vector<Link>> links;
  Told mine;
  // A rank that has no device still takes part in the exchange, so that the others learn of it at once.
  mine.outcome = openRails(provider, knobs, rails);
  common = std::make_unique<Common>(std::move(rails), knobs);
  if (mine.outcome)
    mine.outcome = makePairs(context, knobs, paths, *common, links, mine);
  mine.managed = knobs.manager == Manager::RdmaCm;
  if (mine.outcome && mine.managed) {
    size_t pairs = 0; // of one rail, to all peers
    for (const std::vector<Link> &rails : links)
      pairs += rails.empty() ? 0 : rails[0].pairs.size();
    mine.outcome = listen(provider, int(pairs) + 1, *common, mine.listening);
  }
  if (!mine.outcome)
    mine.numbers.clear();
  for (const Rail &rail : common->rails)
    mine.rails.push_back({rail.port, rail.gid, rail.limits.readsServed});
  std::vector<std::string> all;
  Outcome done =
      context.exchange.allgather(context.key + "/verbs", context.members, write(mine), context.deadline, all);
  if (!done)
    return done;
  std::vector<Told> told(all.size());
  for (size_t rank = 0; rank < all.size(); ++rank) {
    std::string who = "rank " + std::to_string(context.members[rank]);
    if (!read(all[rank], told[rank]) || (told[rank].outcome && told[rank].numbers.size() != all.size()))
      return {BRAID_MISMATCH,
              who + ": expected its queue pairs, got " + std::to_string(all[rank].size()) + " other bytes"};
    if (!told[rank].outcome)
      return {told[rank].outcome.status, who + ": " + told[rank].outcome.text};
  }
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (told[rank].managed != told[0].managed)
      return {BRAID_MISMATCH, std::string("BRAID_IB_CM: expected the same on all ranks, got ") +
                                  (told[0].managed ? "rdma_cm" : "exchange") + " on rank " +
                                  std::to_string(context.members[0]) + " and the other on rank " +
                                  std::to_string(context.members[rank])};
  peers.resize(all.size());
  Outcome up;
  bool met = true;
  for (size_t peer = 0; peer < all.size() && up; ++peer)
    if (int(peer) != context.me) {
      up = match(context, *common, mine, told[peer], int(peer), links[peer]);
      if (up && !mine.managed)
        up = bringUp(context, knobs, paths, *common, mine, told[peer], int(peer), links[peer]);
    }
  if (mine.managed) { // also who fits nobody: the others learn of it before they wait
    up = context.exchange.agree(context.key + "/verbs matched", context.members, up, context.deadline);
    if (up)
      up = bringUpManaged(context, knobs, paths, *common, told, links, side, met);
  }
  for (size_t peer = 0; peer < all.size() && up && met; ++peer)
    if (int(peer) != context.me) {
      peers[peer] = std::make_unique<Peer>(*common, int(peer), std::move(links[peer]));
      up = peers[peer]->prepare();
    }
  if (context.me == 0 && logs())
    for (size_t rail = 0; rail < common->rails.size(); ++rail)
      std::fprintf(
          stderr, "braid: verbs: %s: %s%s\n", common->rails[rail].name().c_str(), common->rails[rail].gidWhy.c_str(),
          mine.managed && up && met ? ("; connected by rdma_cm at " + mine.listening.at[rail].address).c_str() : "");
  up = context.exchange.agree(context.key + "/verbs connected", context.members, up, context.deadline + 1);
  return up && !met ? Outcome(BRAID_SYSTEM, "queue pairs are not connected by rdma_cm: a rank gave up without a word")
                    : up;
}

} // namespace braid::runtime::verbs
