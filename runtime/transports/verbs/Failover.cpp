//===- Failover.cpp - a rail fails: what is left carries on --------------------------------------------------------------===//
#include "transports/verbs/Peer.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace braid::runtime::verbs {

namespace {
constexpr std::chrono::seconds longestDrain{2};
}

Peer::Peer(Common &common, int index, std::vector<Link> given) : common(common), index(index), links(std::move(given)) {
  for (Link &link : links) {
    link.requests.assign(link.pairs.size(), 0);
    link.expecting.assign(link.pairs.size(), 0);
    link.waiting.resize(link.pairs.size());
  }
}

Peer::~Peer() {
  for (Link &link : links)
    link.pairs.clear(); // then nothing reaches memory any more
  for (auto &one : lane)
    for (size_t i = 0; one && i < one->incoming.size(); ++i)
      if (one->incoming[i].small.data)
        common.small.give(one->incoming[i].small);
  for (Link &link : links)
    common.registrations.release(link.receives);
  common.registrations.release(slots);
}

Outcome Peer::prepare() {
  Outcome why;
  slots = static_cast<char *>(common.registrations.allocate(controlDepth * slotBytes, why));
  for (size_t rail = 0; rail < links.size() && why; ++rail) {
    Link &link = links[rail];
    link.receives = static_cast<char *>(common.registrations.allocate(controlDepth * slotBytes, why));
    for (unsigned slot = 0; slot < controlDepth && why; ++slot)
      if (int error = postControlReceive(int(rail), slot))
        why = {BRAID_SYSTEM, common.rails[rail].name() + ": posting a receive: " + std::strerror(error)};
    for (unsigned pair = 1; pair < link.pairs.size() && common.knobs.mode != Mode::Send;
         ++pair) // else they are of parts
      for (int i = 0; i < dataDepth && why; ++i) {
        RequestId id(RequestId::DataReceived, unsigned(index), pair, 0);
        if (int error = link.pairs[pair]->receive(id.word(), nullptr, 0, 0))
          why = {BRAID_SYSTEM, common.rails[rail].name() + ": posting a receive: " + std::strerror(error)};
        ++link.posted;
      }
  }
  return why;
}

void Peer::broken(const std::string &what) {
  common.fail(Fault::System, index, "expected " + what + "; do all ranks run one version?");
}

static void intoError(Link &link) {
  QueuePairAttributes error;
  error.state = State::Error;
  for (auto &pair : link.pairs)
    pair->modify(error, SetState); // if the device is gone, that has the same effect
}

void Peer::stop() {
  stopped = true;
  for (Link &link : links)
    intoError(link);
}

void Peer::fail(int rail, const std::string &why) {
  Link &link = links[size_t(rail)];
  if (link.state != Link::Up || stopped)
    return;
  link.state = Link::Draining;
  link.since = std::chrono::steady_clock::now();
  failing = true;
  intoError(link);
  if (gone)
    return;
  std::string others;
  for (size_t other = 0; other < links.size(); ++other)
    if (links[other].state == Link::Up)
      others += (others.empty() ? "" : ", ") + common.rails[other].name();
  std::string text = common.rails[size_t(rail)].name() + " to " + common.named(index) + " fails: " + why;
  if (reason.empty())
    reason = text;
  if (!common.fault)
    std::fprintf(stderr, "braid: %s; %s\n", text.c_str(),
                 others.empty() ? "no other rail is left" : ("what is left carries on: " + others).c_str());
  for (std::deque<unsigned> &waiting : link.waiting) {
    homeless.insert(homeless.end(), waiting.begin(), waiting.end());
    waiting.clear();
  }
  if (link.posted == 0)
    drained(rail);
}

/// Everything that was posted has a completion: what has come is known.
void Peer::drained(int rail) {
  links[size_t(rail)].state = Link::Drained;
  if (gone || stopped)
    return;
  common.tellRailDown(index, {uint32_t(rail), received});
  if (links[size_t(rail)].peerDrained)
    resume(rail);
}

void Peer::peerDown(const RailDown &down) {
  if (down.rail >= links.size())
    return broken("a rail below " + std::to_string(links.size()) + ", got " + std::to_string(down.rail));
  Link &link = links[down.rail];
  link.peerDrained = true;
  link.peerReceived = down.received;
  fail(int(down.rail), common.named(index) + " has lost it");
  if (link.state == Link::Drained)
    resume(int(down.rail));
}

void Peer::resume(int rail) {
  Link &link = links[size_t(rail)];
  link.state = Link::Down;
  if (controlRail == rail) {
    acknowledged = link.peerReceived; // what it has not received it never will
    resend = true;
  }
  failing = std::any_of(links.begin(), links.end(),
                        [](const Link &one) { return one.state == Link::Draining || one.state == Link::Drained; });
  if (anyUp() < 0) {
    if (!failing)
      common.fail(Fault::System, index, "no rail is left: " + reason);
    return;
  }
  if (resend) {
    resend = false;
    controlRail = anyUp();
    for (uint32_t sequence = acknowledged; sequence != next; ++sequence)
      postControl(sequence);
  }
  std::vector<unsigned> again;
  again.swap(homeless);
  for (unsigned number = 0; number < moves.size(); ++number) {
    Move &move = moves[number];
    if (!move.used || !move.lost || links[size_t(move.rail)].state != Link::Down)
      continue;
    move.lost = false;
    if (move.goesOut())
      pull(number);
    else
      again.push_back(number);
  }
  for (unsigned number : again)
    if (moves[number].kind != Move::Send)
      begin(number, -1, -1);
    else if (links[size_t(moves[number].rail)].state == Link::Down)
      pull(number);
    else
      homeless.push_back(number); // its receive is of a rail that is still failing
  flushBacklog();
}

/// Of a part that was written or sent and not acknowledged, or whose receive is lost: the peer reads it, unless it has come.
void Peer::pull(unsigned number) {
  Move &move = moves[number];
  Control pull;
  pull.kind = Control::Pull;
  pull.lane = uint16_t(move.lane);
  pull.message = move.message;
  pull.part = move.part;
  pull.parts = move.parts;
  pull.bytes = move.bytes;
  pull.offset = move.offset;
  pull.address = reinterpret_cast<uint64_t>(move.local);
  keys(move.local, move.bytes, RemoteRead, pull.keys);
  move.used = false;
  freeMoves.push_back(number);
  --movesUnderWay;
  say(pull);
}

void Peer::look() {
  flushBacklog();
  for (size_t rail = 0; failing && !gone && rail < links.size(); ++rail)
    if (links[rail].state == Link::Draining && std::chrono::steady_clock::now() - links[rail].since > longestDrain)
      common.fail(Fault::System, index,
                  common.rails[rail].name() + ": its requests have no end, " + std::to_string(links[rail].posted) +
                      " of them; what failed: " + reason);
}

} // namespace braid::runtime::verbs
