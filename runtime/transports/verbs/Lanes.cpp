//===- Lanes.cpp - messages of lanes -------------------------------------------------------------------------------------===//
#include "transports/verbs/Peer.h"
#include <algorithm>
#include <cstring>
#include <utility>

namespace braid::runtime::verbs {

Peer::Lane &Peer::at(int number) {
  if (size_t(number) >= lane.size())
    lane.resize(size_t(number) + 1);
  std::unique_ptr<Lane> &one = lane[size_t(number)];
  if (!one)
    one = std::make_unique<Lane>();
  return *one;
}

/// The place of a message that has not been accepted; null: it can't be one.
Peer::Incoming *Peer::incoming(Lane &lane, uint64_t message) {
  if (message < lane.taken || message - lane.taken >= window) {
    broken("one of messages " + std::to_string(lane.taken) + " to " + std::to_string(lane.taken + window - 1) +
           " of a lane, got number " + std::to_string(message));
    return nullptr;
  }
  while (lane.incoming.size() <= message - lane.taken)
    lane.incoming.emplace_back();
  return &lane.incoming[message - lane.taken];
}

bool Peer::keys(const void *memory, size_t bytes, unsigned access, uint32_t (&to)[mostRails]) const {
  const Block *block = common.registrations.find(memory, bytes, access);
  for (size_t rail = 0; block && rail < block->regions.size(); ++rail)
    to[rail] = block->regions[rail] ? block->regions[rail]->remoteKey() : 0; // 0: not over this rail
  return block;
}

bool Peer::offer(int number, const void *data, size_t bytes, uint16_t note) {
  Lane &lane = at(number);
  if (stopped || gone || lane.offered - lane.credited >= window)
    return false;
  Control control;
  control.lane = uint16_t(number);
  control.note = note;
  control.message = lane.offered;
  control.bytes = bytes;
  bool granted = lane.grant.given && lane.grant.message == lane.offered && lane.grant.bytes == bytes &&
                 lane.grant.note == note && bytes > eagerBytes && bytes <= largestPart * mostParts;
  if (granted && write(lane, number, data, bytes, note)) {
    lane.grant.given = false;
  } else {
    if (!roomForControl())
      return false;
    Sent sent;
    if (bytes <= eagerBytes) {
      control.kind = Control::Eager;
      sent.free = sent.finished = true;
      common.count.copies += bytes > 0;
      common.count.bytesCopied += bytes;
      transmit(control, data);
    } else {
      control.kind = Control::Offer;
      if (!keys(data, bytes, RemoteRead, control.keys)) { // nobody has said that it will be sent
        Outcome why;
        sent.staging = {common.landings.take(bytes, why), bytes};
        if (!sent.staging.data) {
          common.fail(Fault::System, -1, why.text);
          return false;
        }
        std::memcpy(sent.staging.data, data, bytes);
        ++common.count.copies;
        common.count.bytesCopied += bytes;
        sent.free = true;
        keys(data = sent.staging.data, bytes, RemoteRead, control.keys);
      }
      control.address = reinterpret_cast<uint64_t>(data);
      sent.data = {static_cast<char *>(const_cast<void *>(data)), bytes};
      transmit(control);
    }
    lane.sent.push_back(sent);
    lane.grant.given = false;
  }
  ++lane.offered;
  ++common.count.messages;
  common.count.bytes += bytes;
  finishSent(lane);
  return true;
}

/// Where the receiver waits for it.
bool Peer::write(Lane &lane, int number, const void *data, size_t bytes, uint16_t note) {
  if (!common.registrations.find(data, bytes, RemoteRead))
    return false;
  Move move;
  move.kind = Move::Write;
  move.lane = number;
  move.message = lane.offered;
  move.local = static_cast<char *>(const_cast<void *>(data));
  move.bytes = bytes;
  move.remote = lane.grant.address;
  std::copy(std::begin(lane.grant.keys), std::end(lane.grant.keys), move.keys);
  Sent sent;
  sent.parts = std::min<unsigned>(partsOf(bytes, lane.outPair), mostParts);
  lane.sent.push_back(sent);
  deal(move, sent.parts, lane.outPair, lane.outRail);
  return true;
}

void Peer::finishSent(Lane &lane) {
  while (lane.counted < lane.first + lane.sent.size() && lane.sent[lane.counted - lane.first].free)
    ++lane.counted;
  while (!lane.sent.empty() && lane.sent.front().finished) {
    if (lane.sent.front().staging.data)
      common.landings.give(lane.sent.front().staging.data, lane.sent.front().staging.bytes);
    lane.sent.pop_front();
    ++lane.first;
  }
}

/// Also a staged copy, which is the caller's no more: it may be read until the peer says that it was.
bool Peer::isRead() const {
  return std::any_of(lane.begin(), lane.end(), [](const auto &one) { return one && !one->sent.empty(); });
}

uint64_t Peer::accepted(int number) { return at(number).counted; }

void Peer::land(int number, void *to, size_t bytes, uint16_t note) {
  Lane &lane = at(number);
  Landing &landing = lane.landing;
  if (landing.asked || bytes <= eagerBytes || stopped || gone)
    return;
  landing = {true, false, static_cast<char *>(to), bytes, note};
  if (!lane.incoming.empty() && lane.incoming.front().state != Incoming::Absent) {
    if (lane.incoming.front().state == Incoming::Offered)
      fetch(lane, number, lane.incoming.front(), true);
    return;
  }
  Control grant;
  bool ahead = common.knobs.mode == Mode::Auto || common.knobs.mode == Mode::Write;
  if (lane.ungranted) {
    --lane.ungranted;
    return;
  }
  if (!ahead || grants >= mostGrants || !keys(to, bytes, RemoteWrite, grant.keys))
    return;
  grant.kind = Control::Grant;
  grant.lane = uint16_t(number);
  grant.note = note;
  grant.message = lane.taken;
  grant.bytes = bytes;
  grant.address = reinterpret_cast<uint64_t>(to);
  landing.granted = true;
  ++grants;
  say(grant);
}

/// Reads what was offered, or says where it may be written, or posts receives for it.
void Peer::fetch(Lane &lane, int number, Incoming &one, bool intoLanding) {
  Landing &landing = lane.landing;
  bool there = intoLanding && landing.bytes == one.bytes && landing.note == one.note &&
               common.registrations.find(landing.to, one.bytes, LocalWrite);
  if (there) {
    one.data = landing.to;
  } else {
    Outcome why;
    one.landing = {common.landings.take(one.bytes, why), one.bytes};
    if (!one.landing.data)
      return common.fail(Fault::System, -1, why.text);
    one.data = one.landing.data;
  }
  const Mode mode = one.bytes <= largestPart * mostParts ? common.knobs.mode : Mode::Read;
  if (mode == Mode::Send && !receiveParts(number, one, lane.taken)) {
    if (!there)
      common.landings.give(std::exchange(one.landing, {}).data, one.bytes);
    return; // there is no room: peek tries again
  }
  one.state = Incoming::Moving;
  if (mode == Mode::Send)
    return;
  if (mode == Mode::Write) {
    Control take;
    take.kind = Control::Take;
    take.lane = uint16_t(number);
    take.message = lane.taken;
    take.bytes = one.bytes;
    take.address = reinterpret_cast<uint64_t>(one.data);
    keys(one.data, one.bytes, RemoteWrite, take.keys);
    return say(take);
  }
  Move move;
  move.kind = Move::Read;
  move.lane = number;
  move.message = lane.taken; // only the oldest is fetched
  move.local = one.data;
  move.bytes = one.bytes;
  move.remote = one.address;
  std::copy(std::begin(one.keys), std::end(one.keys), move.keys);
  one.left = partsOf(one.bytes, lane.inPair);
  deal(move, one.left, lane.inPair, lane.inRail);
}

bool Peer::peek(int number, Message &message) {
  Lane &lane = at(number);
  if (lane.incoming.empty())
    return false;
  Incoming &one = lane.incoming.front();
  if (one.state == Incoming::Offered && !stopped && !gone)
    fetch(lane, number, one, lane.landing.asked);
  if (one.state != Incoming::Ready)
    return false;
  message = {one.data, one.bytes, one.note};
  return true;
}

void Peer::accept(int number) {
  Lane &lane = at(number);
  Incoming &one = lane.incoming.front();
  if (one.landing.data)
    common.landings.give(one.landing.data, one.landing.bytes);
  if (one.small.data)
    common.small.give(one.small);
  lane.incoming.pop_front();
  lane.landing = {};
  if (++lane.taken - lane.told < acceptEvery)
    return;
  lane.told = lane.taken;
  Control control;
  control.kind = Control::Accepted;
  control.lane = uint16_t(number);
  control.bytes = lane.taken;
  say(control);
}

bool Peer::expects(int number) {
  Lane &lane = at(number);
  return !lane.incoming.empty() && lane.incoming.front().state == Incoming::Moving && movesUnderWay > 0;
}

void Peer::route(int number, bool sends, int pair, int rail) {
  Lane &lane = at(number);
  (sends ? lane.outPair : lane.inPair) = pair < dataPairs() ? pair : -1;
  (sends ? lane.outRail : lane.inRail) = rail;
}

/// A part of a message that was granted is where it was to land.
void Peer::come(int number, uint64_t message, unsigned part, unsigned parts) {
  Lane &lane = at(number);
  uint64_t ahead = (message - lane.taken) & 0xfff;
  if (ahead >= window) // of one that is complete
    return;
  Incoming *one = incoming(lane, lane.taken + ahead);
  if (!one)
    return;
  const bool answered = one->state == Incoming::Moving; // Take or Ready
  if (ahead != 0 || !(answered || lane.landing.granted) || parts > mostParts || part >= parts)
    return broken("a message that was granted, got part " + std::to_string(part) + " of message " +
                  std::to_string(lane.taken + ahead));
  one->come = uint16_t(one->come | 1u << part);
  if (one->come != (1u << parts) - 1)
    return;
  one->state = Incoming::Ready;
  if (answered)
    return;
  one->data = lane.landing.to;
  one->bytes = lane.landing.bytes;
  one->note = lane.landing.note;
  lane.landing.granted = false;
  --grants;
}

void Peer::finishWrite(const Move &move) {
  Lane &lane = at(move.lane);
  Sent &sent = lane.sent[move.message - lane.first];
  if (--sent.parts)
    return;
  sent.free = sent.finished = true;
  finishSent(lane);
}

} // namespace braid::runtime::verbs
