//===- Kinds.cpp - programs of those who play, put together ------------------------------------------------------===//
#include "pricing/ClosedForms.h"
#include "pricing/KindMaker.h"
#include "pricing/Terms.h"
#include <algorithm>

namespace braid::cost {

using algorithms::Action;
using algorithms::Step;
using algorithms::StepProgram;

std::vector<std::vector<KindOp>> messagesOf(const StepProgram &program) {
  std::vector<std::vector<KindOp>> lanes(program.channels);
  int count = 0;
  bool reduces = false;
  for (const Step &step : program.steps) {
    count += step.count;
    reduces |= step.action != Action::Receive && step.action != Action::Send;
    if (step.more)
      continue;
    KindOp op;
    op.type = step.action == Action::Send      ? KindOp::Send
              : step.action == Action::Combine ? KindOp::Combine
                                               : KindOp::Receive;
    op.count = count;
    op.reduces = reduces;
    op.target = step.peer;
    lanes[step.channel].push_back(op);
    count = 0;
    reduces = false;
  }
  return lanes;
}

const StepProgram &KindMaker::programOf(int rank) {
  auto [found, isNew] = programs.try_emplace(rank);
  if (isNew)
    found->second = algorithm.program(kind, n, rank, options);
  return found->second;
}

int KindMaker::add(int rank) {
  players.push_back({rank, messagesOf(programOf(rank))});
  return int(players.size()) - 1;
}

void KindMaker::restart() {
  players.clear();
  sends.clear();
  near = false;
}

bool KindMaker::hears(KindOp &op, int player, int lane, int target, int nth) {
  if (sends.size() <= size_t(player))
    sends.resize(players.size());
  sends[player].resize(players[player].lanes.size());
  std::vector<std::pair<int, int>> &list = sends[player][lane];
  if (list.empty()) {
    for (const KindOp &other : players[player].lanes[lane])
      if (other.type == KindOp::Send)
        list.push_back({other.target, int(list.size())});
    std::sort(list.begin(), list.end());
  }
  auto found = std::lower_bound(list.begin(), list.end(), std::make_pair(target, 0));
  op.player = player;
  op.lane = lane;
  op.index =
      found - list.begin() + nth < std::ptrdiff_t(list.size()) && found[nth].first == target ? found[nth].second : -1;
  return op.index >= 0;
}

bool KindMaker::contended() const {
  return cluster.oversubscription > 1 || (cluster.hosts > 1 && cluster.nicsPerHost < cluster.devicesPerHost);
}

int KindMaker::detourOf(KindProgram &p, int sender, int target, int from, int to) const {
  KindProgram::Detour detour;
  auto add = [&](int a, int b, std::vector<int> &links) {
    Topology::Path way = topology.path(first + a, first + b);
    for (int hop = 0; hop < way.count / 2; ++hop) {
      links.push_back(way.links[hop]);
      detour.levels.push_back(topology.links()[way.links[hop]].level);
    }
  };
  add(sender, target, detour.sent);
  add(from, to, detour.heard);
  size_t half = detour.sent.size();
  if (half == detour.heard.size() &&
      std::equal(detour.levels.begin(), detour.levels.begin() + half, detour.levels.begin() + half))
    return -1;
  for (size_t i = 0; i < p.detours.size(); ++i)
    if (p.detours[i].levels == detour.levels && p.detours[i].sent.size() == half)
      return int(i);
  p.detours.push_back(std::move(detour));
  return int(p.detours.size()) - 1;
}

std::unique_ptr<KindProgram> KindMaker::finish() const {
  auto made = std::make_unique<KindProgram>();
  KindProgram &p = *made;
  p.collective = kind;
  p.groupRanks = n;
  p.playing = int(players.size());
  p.near = near;
  p.chunks = programs.begin()->second.chunks; // of all ranks
  std::vector<int> slotOf(topology.links().size(), -1);
  std::map<std::pair<int, int>, int> ownSlotOf; // (player, link)
  auto take = [&](KindProgram::Op &op, int player, int hop, int link) {
    bool spine = topology.links()[link].level == Topology::Level::Spine;
    bool counted = spine && op.crowd > 0; // the others on the link are
    int &place = counted ? ownSlotOf.try_emplace({player, link}, -1).first->second : slotOf[link];
    bool isNew = place < 0;
    if (isNew) {
      place = int(p.slots.size());
      p.slots.push_back({link});
    }
    KindProgram::Slot &slot = p.slots[place];
    // A sender's first link is its own; a receiver's first is taken in one order if all come from one rank.
    int before = op.hops ? op.slots[op.hops - 1] : op.type == KindProgram::Op::Receive ? -2 - op.target : hop - 1;
    if (isNew) {
      slot.player = player;
      slot.before = before;
    }
    if (counted)
      op.crowded = op.hops;
    slot.inOrder &= slot.player == player && slot.before == before;
    op.slots[int(op.hops++)] = place;
  };
  std::vector<std::vector<int>> firstSend(players.size()); // by channel
  int sends = 0;
  std::vector<int> targets; // of sends
  for (int player = 0; player < p.playing; ++player) {
    const Player &from = players[player];
    for (const std::vector<KindOp> &ops : from.lanes) {
      p.lanes.push_back({player, from.rank, int(p.ops.size()), int(p.ops.size() + ops.size()), from.lanes.size() == 1});
      firstSend[player].push_back(sends);
      for (const KindOp &message : ops) {
        KindProgram::Op op;
        op.type = KindProgram::Op::Type(message.type);
        op.reduces = message.reduces;
        op.count = message.count;
        op.crowd = message.crowd;
        op.target = message.target;
        if (message.type == KindOp::Send) {
          op.send = sends++;
          targets.push_back(message.target);
          Topology::Path way = topology.path(first + from.rank, first + message.target);
          for (int hop = 0; hop < way.count / 2; ++hop)
            take(op, player, hop, way.links[hop]);
        } else if (message.type == KindOp::Receive) {
          Topology::Path way = topology.path(first + message.target, first + from.rank);
          for (int hop = way.count / 2; hop < way.count; ++hop)
            take(op, player, hop, way.links[hop]);
        }
        p.ops.push_back(op);
      }
    }
  }
  // Who hears what.
  std::vector<std::pair<int, KindProgram::Listener>> pairs;
  size_t number = 0;
  for (int player = 0, lane = 0; player < p.playing; ++player)
    for (size_t channel = 0; channel < players[player].lanes.size(); ++channel, ++lane)
      for (const KindOp &message : players[player].lanes[channel]) {
        if (message.type == KindOp::Receive) {
          int send = firstSend[message.player][message.lane] + message.index, sender = players[message.player].rank;
          int detour =
              sender == message.target ? -1 : detourOf(p, sender, targets[send], message.target, players[player].rank);
          pairs.push_back({send, {lane, int(number), detour}});
        }
        ++number;
      }
  p.heard.assign(sends + 1, 0);
  for (auto &[send, listener] : pairs)
    ++p.heard[send + 1];
  for (int send = 0; send < sends; ++send)
    p.heard[send + 1] += p.heard[send];
  p.listeners.resize(pairs.size());
  std::vector<int> next(p.heard.begin(), p.heard.end() - 1);
  for (auto &[send, listener] : pairs)
    p.listeners[next[send]++] = listener;
  return made;
}

/// setting: where kinds are only near, all ranks of a large group play if they send no more messages than this.
constexpr int64_t mostOfEveryone = 6000;

std::unique_ptr<KindProgram> KindProgram::make(const algorithms::Algorithm &algorithm, CollectiveKind kind, int ranks,
                                               const algorithms::StepOptions &options, const Topology &topology,
                                               int first) {
  const Cluster &cluster = topology.cluster();
  if (!cluster.groups.empty() || cluster.topology == "three_tier" || cluster.routing != Routing::Static ||
      cluster.planes != 1)
    return nullptr; // not the same everywhere
  KindMaker maker(algorithm, kind, ranks, options, topology, first);
  std::unique_ptr<KindProgram> estimate;
  auto made = [&](bool (*kinds)(KindMaker &)) {
    maker.restart();
    if (kinds(maker))
      estimate = maker.finish();
    return estimate != nullptr;
  };
  made(symmetricKinds) || made(treeKinds) || made(doublingKinds) || made(doubleTreeKinds);
  if (estimate && estimate->exact())
    return estimate;
  int64_t most = ranks <= mostPlayedRanks ? INT64_MAX : mostOfEveryone;
  if (auto all = everyone(algorithm, kind, ranks, options, topology, first, most))
    return all;
  if (estimate)
    return estimate;
  if (made(refinedKinds) &&
      !estimate->play({ranks}, topology.links(), {0})) // some wait for each other: kinds too coarse
    return nullptr;
  return estimate;
}

std::unique_ptr<KindProgram> KindProgram::everyone(const algorithms::Algorithm &algorithm, CollectiveKind kind,
                                                   int ranks, const algorithms::StepOptions &options,
                                                   const Topology &topology, int first, int64_t most) {
  KindMaker maker(algorithm, kind, ranks, options, topology, first);
  int64_t messages = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    maker.add(rank);
    for (const std::vector<KindOp> &lane : maker.players.back().lanes)
      for (const KindOp &op : lane)
        messages += op.type == KindOp::Send;
    bool soMany = rank == 8 && messages / 9 > most / ranks; // not worth the programs of the others
    if (messages > most || soMany)
      return nullptr;
  }
  bool connected = maker.connect([&](int sender, int receiver, int lane, int nth, KindOp &op) {
    return maker.hears(op, sender, lane, receiver, nth);
  });
  return connected ? maker.finish() : nullptr;
}

std::string KindProgram::how() const {
  return playing == groupRanks ? std::string("message by message") : text("one rank of each of %d kinds", playing);
}

int64_t KindProgram::messages() const { return int64_t(heard.size()) - 1; }

} // namespace braid::cost
