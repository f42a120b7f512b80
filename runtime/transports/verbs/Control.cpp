//===- Control.cpp - control messages: order, credits, slots -----------------------------------------------------------===//
//
// Sequence numbers wrap; only differences are looked at. A slot is used again when its message has been acknowledged and received.
//===------------------------------------------------------------------------------------------------------------===//
#include "transports/verbs/Peer.h"
#include <algorithm>
#include <cerrno>
#include <cstring>

namespace braid::runtime::verbs {

namespace {
constexpr uint32_t reserve = 2; ///< receives kept for what needs no credit
}

/// For an eager message or an offer: what answers others has half of the slots for itself.
bool Peer::roomForControl() const {
  return backlog.empty() && links[size_t(controlRail)].state == Link::Up && controlUnderWay() < controlDepth / 2 &&
         next - consumedThere < controlDepth - reserve;
}

/// What the protocol itself says. It needs no credit: the peer may wait for it while nobody here looks at credits any more, so the
/// device tries it until there is a receive (RNR). It waits here only if there is no slot.
void Peer::say(const Control &control) {
  if (stopped || gone)
    return;
  backlog.push_back(control);
  flushBacklog();
}

void Peer::flushBacklog() {
  while (!backlog.empty() && !stopped && !gone && links[size_t(controlRail)].state == Link::Up &&
         controlUnderWay() < controlDepth) {
    Control control = backlog.front();
    backlog.pop_front();
    transmit(control);
  }
}

void Peer::transmit(const Control &control, const void *payload) {
  uint32_t sequence = next++;
  unsigned slot = sequence % controlDepth;
  char *memory = slots + slot * slotBytes;
  Control stamped = control;
  stamped.sequence = sequence;
  stamped.consumed = told = received;
  size_t header = control.isLong() ? sizeof(Control) : Control::shortBytes;
  std::memcpy(memory, &stamped, header);
  if (control.kind == Control::Eager && control.bytes)
    std::memcpy(memory + header, payload, control.bytes);
  sizes[slot] = uint32_t(header + (control.kind == Control::Eager ? control.bytes : 0));
  postControl(sequence);
}

void Peer::postControl(uint32_t sequence) {
  Link &link = links[size_t(controlRail)];
  if (link.state != Link::Up)
    return; // resume sends it
  unsigned slot = sequence % controlDepth;
  char *memory = slots + slot * slotBytes;
  WorkRequest request;
  request.operation = WorkRequest::Send;
  request.id = RequestId(RequestId::ControlSent, unsigned(index), 0, sequence).word();
  request.local = memory;
  request.bytes = sizes[slot];
  request.inlined = request.bytes <= link.pairs[0]->inlineBytes();
  const MemoryRegion *region = common.registrations.region(memory, request.bytes, LocalWrite, size_t(controlRail));
  request.localKey = region ? region->localKey() : 0;
  if (int error = region ? link.pairs[0]->send(request) : ENODEV)
    return fail(controlRail, std::string("posting a control message: ") + std::strerror(error));
  ++link.posted;
}

/// 0 or an errno.
int Peer::postControlReceive(int rail, unsigned slot) {
  Link &link = links[size_t(rail)];
  char *memory = link.receives + slot * slotBytes;
  const MemoryRegion *region = common.registrations.region(memory, slotBytes, LocalWrite, size_t(rail));
  RequestId id(RequestId::ControlReceived, unsigned(index), 0, slot);
  int error = region ? link.pairs[0]->receive(id.word(), memory, slotBytes, region->localKey()) : ENODEV;
  link.posted += error == 0;
  return error;
}

void Peer::heard(const char *slot, uint32_t bytes) {
  Control control;
  std::memcpy(&control, slot, std::min<size_t>(bytes, Control::shortBytes));
  bool whole = bytes >= Control::shortBytes && control.kind <= Control::Ready && control.lane < lanes;
  if (whole && control.isLong() && (whole = bytes == sizeof control))
    std::memcpy(&control, slot, sizeof control);
  if (whole && control.kind == Control::Eager)
    whole = control.bytes <= eagerBytes && bytes == Control::shortBytes + control.bytes;
  if (!whole || control.sequence != received)
    return broken("control message " + std::to_string(received) + ", got " + std::to_string(control.sequence) + " of " +
                  std::to_string(bytes) + " bytes");
  ++received;
  consumedThere = control.consumed;
  handle(control, slot + Control::shortBytes);
}

void Peer::handle(const Control &control, const char *payload) {
  Lane &lane = at(control.lane);
  switch (control.kind) {
  case Control::Credit:
    return;
  case Control::Accepted:
    if (control.bytes < lane.credited || control.bytes > lane.offered)
      return broken("at most " + std::to_string(lane.offered) + " accepted messages, got " +
                    std::to_string(control.bytes));
    lane.credited = control.bytes;
    return;
  case Control::Grant:
    if (control.message < lane.offered) // it crossed an offer
      return;
    lane.grant = {true, control.message, control.bytes, control.address, control.note, {}};
    std::copy(std::begin(control.keys), std::end(control.keys), lane.grant.keys);
    return;
  case Control::Fetched:
  case Control::Placed:
  case Control::Take:
  case Control::Ready: {
    if (control.message < lane.first || control.message - lane.first >= lane.sent.size())
      return broken("a message that was sent, got number " + std::to_string(control.message));
    Sent &sent = lane.sent[control.message - lane.first];
    if (control.kind == Control::Take || control.kind == Control::Ready)
      return answer(lane, sent, control);
    if (control.kind == Control::Placed && --sent.parts)
      return;
    sent.free = sent.finished = true;
    return finishSent(lane);
  }
  default:
    break;
  }
  if (control.kind == Control::Pull && control.message < lane.taken) { // it came, and its acknowledgement did not
    Control placed = control;
    placed.kind = Control::Placed;
    return say(placed);
  }
  Incoming *one = incoming(lane, control.message);
  if (!one)
    return;
  if (control.kind == Control::Pull) {
    Landing &landing = lane.landing;
    if (one->state == Incoming::Ready || one->come >> control.part & 1) {
      Control placed = control;
      placed.kind = Control::Placed;
      return say(placed);
    }
    const bool answered = one->state == Incoming::Moving; // Take or Ready
    char *to = answered ? one->data : landing.to;
    if (control.message != lane.taken || !(answered || landing.granted) ||
        control.offset + control.bytes > (answered ? one->bytes : landing.bytes))
      return broken("a message that was granted, got number " + std::to_string(control.message));
    Move move;
    move.kind = Move::ReadPart;
    move.part = control.part;
    move.parts = control.parts;
    move.lane = control.lane;
    move.message = control.message;
    move.local = to + control.offset;
    move.bytes = control.bytes;
    move.remote = control.address;
    std::copy(std::begin(control.keys), std::end(control.keys), move.keys);
    return deal(move, 1, -1, -1);
  }
  if (one->state != Incoming::Absent)
    return broken("each message once, got number " + std::to_string(control.message) + " again");
  one->note = control.note;
  one->bytes = control.bytes;
  if (control.kind == Control::Eager) {
    one->small = common.small.take(control.bytes);
    one->data = one->small.data;
    if (!one->data)
      return common.fail(Fault::System, index,
                         "no memory for a message of " + std::to_string(control.bytes) + " bytes");
    if (control.bytes) {
      std::memcpy(one->data, payload, control.bytes);
      ++common.count.copies;
      common.count.bytesCopied += control.bytes;
    }
    one->state = Incoming::Ready;
  } else { // an offer
    one->address = control.address;
    std::copy(std::begin(control.keys), std::end(control.keys), one->keys);
    one->state = Incoming::Offered;
    if (control.message == lane.taken && lane.landing.asked)
      fetch(lane, control.lane, *one, true);
  }
  // A grant that crossed this message is void.
  if (control.message == lane.taken && lane.landing.granted) {
    lane.landing.granted = false;
    lane.ungranted = grantAgain;
    --grants;
  }
}

} // namespace braid::runtime::verbs
