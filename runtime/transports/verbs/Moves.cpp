//===- Moves.cpp - reads, writes and sends, dealt over queue pairs -------------------------------------------------------===//
//
// A message is cut into as many parts as there are queue pairs for data on all rails, of 64 KiB at least; the next message begins
// with the next queue pair. So the flows of a peer, which have source ports of their own, carry equal shares.
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/verbs/Peer.h"
#include <algorithm>
#include <cstring>

namespace braid::runtime::verbs {

unsigned Peer::partsOf(size_t bytes, int pair) const {
  unsigned up = 0;
  for (const Link &link : links)
    up += link.state == Link::Up;
  size_t pairs = pair >= 0 ? 1 : std::max(1u, up * unsigned(dataPairs()));
  size_t parts = std::min(std::max<size_t>(bytes / leastPart, 1), pairs);
  return unsigned(std::max(parts, (bytes + largestPart - 1) / largestPart));
}

/// Bytes of each of so many parts but the last.
static uint64_t pieceOf(uint64_t bytes, unsigned parts) {
  return parts == 1 ? bytes : (bytes / parts + 127) / 128 * 128;
}

unsigned Peer::add(const Move &made) {
  unsigned number;
  if (freeMoves.empty()) {
    number = unsigned(moves.size());
    moves.emplace_back();
  } else {
    number = freeMoves.back();
    freeMoves.pop_back();
  }
  moves[number] = made;
  moves[number].used = true;
  ++movesUnderWay;
  return number;
}

void Peer::deal(const Move &whole, unsigned parts, int pair, int rail) {
  uint64_t piece = pieceOf(whole.bytes, parts);
  for (unsigned part = 0; part < parts; ++part) {
    uint64_t from = part * piece;
    unsigned number = add(whole);
    Move &move = moves[number];
    if (whole.kind != Move::ReadPart) {
      move.part = uint8_t(part);
      move.parts = uint8_t(std::min<unsigned>(parts, mostParts));
    }
    move.offset = from;
    move.local += from;
    move.remote += from;
    move.bytes = part + 1 == parts ? whole.bytes - from : piece;
    begin(number, pair, rail);
  }
}

/// Posts a receive for each part, each on the next queue pair that has room, and says so. False: there is not room for all.
bool Peer::receiveParts(int number, Incoming &one, uint64_t message) {
  Lane &to = at(number);
  const Block *block = common.registrations.find(one.data, one.bytes, LocalWrite);
  unsigned parts = std::min<unsigned>(partsOf(one.bytes, to.inPair), mostParts);
  std::vector<std::pair<size_t, size_t>> ways; // rail and queue pair of each
  std::vector<std::vector<int>> taken;         // of each
  for (const Link &link : links)
    taken.push_back(link.expecting);
  const unsigned all = unsigned(links.size()) * unsigned(dataPairs());
  for (unsigned tries = 0; ways.size() < parts && tries < all * unsigned(dataDepth); ++tries, ++turn) {
    size_t rail = turn % links.size(), pair = 1 + turn / links.size() % size_t(dataPairs());
    if (to.inPair >= 0)
      pair = 1 + size_t(to.inPair);
    if (to.inRail >= 0 && to.inRail < int(links.size()) && links[size_t(to.inRail)].state == Link::Up)
      rail = size_t(to.inRail);
    if (links[rail].state != Link::Up || !block->regions[rail] || taken[rail][pair] >= dataDepth)
      continue;
    ++taken[rail][pair];
    ways.emplace_back(rail, pair);
  }
  if (ways.size() < parts)
    return false;
  one.left = parts;
  const uint64_t piece = pieceOf(one.bytes, parts);
  for (unsigned part = 0; part < parts; ++part) {
    auto [rail, pair] = ways[part];
    unsigned slot = unsigned(expected.size());
    if (freeExpected.empty()) {
      expected.emplace_back();
    } else {
      slot = freeExpected.back();
      freeExpected.pop_back();
    }
    expected[slot] = {number, message, part, parts};
    Control ready;
    ready.kind = Control::Ready;
    ready.lane = uint16_t(number);
    ready.message = message;
    ready.part = uint8_t(part);
    ready.parts = uint8_t(parts);
    ready.offset = part * piece;
    ready.bytes = part + 1 == parts ? one.bytes - ready.offset : piece;
    ready.keys[0] = uint32_t(rail);
    ready.keys[1] = uint32_t(pair);
    Link &link = links[rail];
    RequestId id(RequestId::DataReceived, unsigned(index), unsigned(pair), slot);
    if (int error = link.pairs[pair]->receive(id.word(), one.data + ready.offset, uint32_t(ready.bytes),
                                              block->regions[rail]->localKey())) {
      fail(int(rail), std::string("posting a receive: ") + std::strerror(error)); // then the sender has it read
    } else {
      ++link.posted;
      ++link.expecting[pair];
    }
    say(ready);
  }
  return true;
}

/// The peer says how a message that was offered comes to it.
void Peer::answer(Lane &lane, Sent &sent, const Control &control) {
  Move move;
  move.lane = control.lane;
  move.message = control.message;
  move.local = sent.data.data;
  move.bytes = control.bytes;
  const bool writes = control.kind == Control::Take;
  const bool there = writes ? control.bytes == sent.data.bytes && !sent.parts
                            : control.offset <= sent.data.bytes && control.bytes <= sent.data.bytes - control.offset &&
                                  control.keys[0] < links.size() && control.keys[1] >= 1 &&
                                  control.keys[1] <= unsigned(dataPairs()) && control.part < control.parts;
  if (!sent.data.data || !there)
    return broken("an answer to what was offered, got one for message " + std::to_string(control.message));
  if (writes) {
    move.kind = Move::Write;
    move.remote = control.address;
    std::copy(std::begin(control.keys), std::end(control.keys), move.keys);
    sent.parts = std::min<unsigned>(partsOf(move.bytes, lane.outPair), mostParts);
    return deal(move, sent.parts, lane.outPair, lane.outRail);
  }
  if (!sent.parts) // the first of them
    sent.parts = control.parts;
  move.kind = Move::Send;
  move.part = control.part;
  move.parts = control.parts;
  move.offset = control.offset;
  move.local += control.offset;
  move.rail = int(control.keys[0]);
  move.pair = int(control.keys[1]);
  unsigned number = add(move);
  Link &link = links[size_t(move.rail)];
  if (link.state == Link::Down)
    return pull(number);
  if (link.state != Link::Up)
    return homeless.push_back(number);                           // until it is known to be down
  if (!link.waiting[size_t(move.pair)].empty() || !post(number)) // in the order of the receives
    link.waiting[size_t(move.pair)].push_back(number);
}

int Peer::anyUp() const {
  for (size_t rail = 0; rail < links.size(); ++rail)
    if (links[rail].state == Link::Up)
      return int(rail);
  return -1;
}

/// Finds a queue pair for it.
void Peer::begin(unsigned number, int pair, int rail) {
  Move &move = moves[number];
  auto goes = [&](size_t way) {
    const Block *block = common.registrations.find(move.local, move.bytes, move.goesOut() ? RemoteRead : LocalWrite);
    return links[way].state == Link::Up && move.keys[way] && (!block || block->regions[way]);
  };
  size_t ways = 0;
  for (size_t way = 0; way < links.size(); ++way)
    ways += goes(way);
  if (ways == 0)
    return homeless.push_back(number); // until a rail that fails has failed
  unsigned all = unsigned(links.size()) * unsigned(dataPairs());
  for (;; ++turn) { // rails first: two parts in a row take two rails
    unsigned at = turn % all;
    move.rail = rail >= 0 && rail < int(links.size()) && goes(size_t(rail)) ? rail : int(at % unsigned(links.size()));
    move.pair = 1 + (pair >= 0 ? pair : int(at / unsigned(links.size())));
    if (goes(size_t(move.rail)))
      break;
  }
  ++turn;
  if (!post(number))
    links[size_t(move.rail)].waiting[size_t(move.pair)].push_back(number);
}

/// False: there is no room.
bool Peer::post(unsigned number) {
  Move &move = moves[number];
  Link &link = links[size_t(move.rail)];
  int &requests = link.requests[size_t(move.pair)];
  if (requests >= dataDepth)
    return false;
  bool writes = move.kind == Move::Write;
  const Block *block = common.registrations.find(move.local, move.bytes, move.goesOut() ? RemoteRead : LocalWrite);
  if (!block) {
    common.fail(Fault::System, index, "a buffer was freed while its operation was in flight");
    return true;
  }
  const MemoryRegion *region = block->regions[size_t(move.rail)].get();
  if (!region) { // the peer has chosen the rail, and does not know yet that its device is gone here
    homeless.push_back(number);
    fail(move.rail, "the device is gone");
    return true;
  }
  WorkRequest request;
  request.operation = writes                    ? WorkRequest::WriteWithImmediate
                      : move.kind == Move::Send ? WorkRequest::Send
                                                : WorkRequest::Read;
  request.id = RequestId(RequestId::Moved, unsigned(index), unsigned(move.pair), number).word();
  request.local = move.local;
  request.bytes = uint32_t(move.bytes);
  request.localKey = region->localKey();
  request.remote = move.remote;
  request.remoteKey = move.keys[move.rail];
  if (writes)
    request.immediate = Immediate::of(move.lane, move.message, move.part, move.parts);
  if (int error = link.pairs[size_t(move.pair)]->send(request)) {
    homeless.push_back(number);
    fail(move.rail, std::string("posting a work request: ") + std::strerror(error));
    return true;
  }
  ++requests;
  ++link.posted;
  return true;
}

/// It has been executed.
void Peer::moved(unsigned number) {
  Move move = moves[number];
  moves[number].used = false;
  freeMoves.push_back(number);
  --movesUnderWay;
  if (move.goesOut())
    return finishWrite(move);
  if (move.kind == Move::ReadPart) {
    Control placed;
    placed.kind = Control::Placed;
    placed.lane = uint16_t(move.lane);
    placed.message = move.message;
    placed.part = move.part;
    say(placed);
    return come(move.lane, move.message, move.part, move.parts);
  }
  Lane &lane = at(move.lane);
  Incoming &one = lane.incoming.front();
  if (--one.left)
    return;
  one.state = Incoming::Ready;
  Control fetched;
  fetched.kind = Control::Fetched;
  fetched.lane = uint16_t(move.lane);
  fetched.message = move.message;
  say(fetched);
}

void Peer::completed(int rail, const RequestId &id, const Completion &completion) {
  Link &link = links[size_t(rail)];
  --link.posted;
  if (id.kind == RequestId::Moved)
    --link.requests[id.pair];
  const bool expects = id.kind == RequestId::DataReceived && common.knobs.mode == Mode::Send;
  const Expected came = expects ? expected[id.index] : Expected();
  if (expects) {
    --link.expecting[id.pair];
    freeExpected.push_back(id.index);
  }
  if (completion.status != Status::Success) {
    if (id.kind == RequestId::Moved)
      moves[id.index].lost = true;
    if (gone || stopped) {
      if (id.kind == RequestId::Moved)
        --movesUnderWay;
    } else if (link.state == Link::Up) {
      std::string what = describe(completion, common.knobs);
      if (!ofRail(completion.status))
        common.fail(Fault::System, index, "over " + common.rails[size_t(rail)].name() + ": " + what);
      fail(rail, what);
    }
  } else {
    switch (id.kind) {
    case RequestId::ControlSent:
      acknowledged = id.index + 1;
      break;
    case RequestId::ControlReceived:
      heard(link.receives + id.index * slotBytes, completion.bytes);
      if (link.state == Link::Up)
        if (int error = postControlReceive(rail, id.index))
          fail(rail, std::string("posting a receive: ") + std::strerror(error));
      break;
    case RequestId::DataReceived: {
      if (expects) {
        come(came.lane, came.message, came.part, came.parts);
        break;
      }
      Immediate said(completion.immediate);
      come(int(said.lane), said.message, said.part, said.parts);
      if (link.state == Link::Up) {
        if (int error = link.pairs[id.pair]->receive(id.word(), nullptr, 0, 0))
          fail(rail, std::string("posting a receive: ") + std::strerror(error));
        else
          ++link.posted;
      }
      break;
    }
    case RequestId::Moved: {
      moved(id.index);
      std::deque<unsigned> &waiting = link.waiting[id.pair];
      while (!waiting.empty() && link.state == Link::Up && link.requests[id.pair] < dataDepth) {
        unsigned number = waiting.front();
        waiting.pop_front();
        post(number);
      }
    }
    }
    flushBacklog();
    // The peer can't send for want of receives that it does not know of: say so, also beyond what may be under way.
    if (received - told >= controlDepth / 2 && links[size_t(controlRail)].state == Link::Up && !stopped && !gone &&
        controlUnderWay() < controlDepth)
      transmit(Control());
  }
  if (link.state == Link::Draining && link.posted == 0)
    drained(rail);
}

} // namespace braid::runtime::verbs
