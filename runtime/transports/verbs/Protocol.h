//===- Protocol.h - what ranks say to each other over verbs ------------------------------------------------------------===//
//
// Between two ranks, on each rail: a queue pair for control messages, and some for data. A message of a lane, by its size and by
// what its receiver has said:
//
//   up to 4 KiB          Eager, in a control message
//   larger, granted      the receiver waits for it and has said where it is to land (Grant): RDMA writes, the bytes of each queue
//                        pair in one write with immediate, whose 32 bits say which part of which message it is
//   larger               Offer says where it lies; the receiver reads it (RDMA read) where it wants it, and says Fetched
//
// So nothing larger than 4 KiB is copied if it is registered. The sender decides: a Grant that crosses an Offer is void.
//
// That is the mode auto of who receives. A knob forces one of three, for all that comes to a rank:
//
//   write                as auto, but an Offer is answered by Take, which says where to write it
//   read                 nothing is granted, all is offered and read
//   send                 nothing is granted. The receiver posts a receive for each part of an Offer, on a queue pair for data, and says
//                        Ready; the part is sent into it. Receives of a queue pair and what is sent to it have one order, that of
//                        the Readys
//
// Control messages go over one rail at a time, in order, each into a receive that was posted for it. A sender has as many of them
// under way as the receiver has posted; each message tells how many have come the other way. Accepted says the same of the
// messages of a lane, so that a lane that nobody reads does not stop the others.
//
// When a rail fails, both ends put its queue pairs into the error state, take all completions there are, and tell each other, over
// TCP, how many control messages have come. After that nothing moves on it any more, and what was lost is known: control messages
// are sent again over another rail, reads are begun again, and of a write that was not acknowledged its receiver reads the part
// itself, unless it has come (Pull, Placed): so nothing is ever written twice.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_VERBS_PROTOCOL_H
#define BRAID_RUNTIME_TRANSPORTS_VERBS_PROTOCOL_H

#include <cstddef>
#include <cstdint>

namespace braid::runtime::verbs {

constexpr int mostRails = 8;
constexpr size_t eagerBytes = 4096;
constexpr int controlDepth = 32; ///< control messages to a peer under way
constexpr int dataDepth = 64;    ///< of a queue pair for data: requests, and receives for immediates
constexpr int mostGrants = dataDepth;
constexpr int mostParts = 16;
constexpr size_t leastPart = 64 << 10;
constexpr size_t largestPart = size_t(1) << 30; ///< a work request carries at most 2 GiB
constexpr int lanes = 4096;                     ///< as in shared memory
constexpr unsigned grantAgain = 16; ///< messages of a lane that are offered after one whose grant came too late
constexpr uint64_t window = 16;     ///< messages of a lane that are not accepted yet
constexpr uint64_t acceptEvery = 4; ///< of a lane, before the sender is told

struct Control {
  enum Kind : uint8_t {
    Eager,    ///< bytes follow
    Offer,    ///< `bytes` at `address`
    Grant,    ///< so many may be written there
    Fetched,  ///< the message has been read
    Accepted, ///< `bytes`: messages of the lane, since the beginning
    Credit,   ///< only tells `consumed`
    Pull,     ///< `part` of a message that was granted, at `address`: read it if it has not come
    Placed,   ///< it has
    Take,     ///< as Grant, of a message that was offered
    Ready ///< a receive is posted for `part` of a message that was offered, `bytes` from `offset` on: on the rail and the queue pair
          ///< that keys[0] and keys[1] say
  };
  uint32_t sequence = 0;
  uint32_t consumed = 0; ///< control messages that have come from who is told, since the beginning
  uint8_t kind = Credit;
  uint8_t part = 0, parts = 0;
  uint8_t reserved = 0;
  uint16_t lane = 0, note = 0;
  uint64_t message = 0; ///< its number in the lane
  uint64_t bytes = 0;
  uint64_t address = 0;          ///< Offer, Grant, Pull: with the two below
  uint64_t offset = 0;           ///< Pull, Ready: of the part in the message
  uint32_t keys[mostRails] = {}; ///< of the memory there, on each rail

  static constexpr size_t shortBytes = 32; ///< of those without an address
  bool isLong() const { return kind == Offer || kind == Grant || kind == Pull || kind == Take || kind == Ready; }
};
static_assert(sizeof(Control) == 80 && offsetof(Control, address) == Control::shortBytes, "as on the wire");
constexpr size_t slotBytes = 4224; ///< of a control message: the short header, 4 KiB, rounded to cache lines
static_assert(slotBytes >= Control::shortBytes + eagerBytes && slotBytes % 64 == 0);

/// The immediate of a write: lane, the message's number modulo 4096, the part, the number of parts less one.
struct Immediate {
  unsigned lane, message, part, parts;
  explicit Immediate(uint32_t word)
      : lane(word >> 20), message(word >> 8 & 0xfff), part(word >> 4 & 0xf), parts((word & 0xf) + 1) {}
  static uint32_t of(int lane, uint64_t message, int part, int parts) {
    return uint32_t(lane) << 20 | uint32_t(message & 0xfff) << 8 | uint32_t(part) << 4 | uint32_t(parts - 1);
  }
};

/// What a work request was for.
struct RequestId {
  enum Kind : unsigned { ControlSent, ControlReceived, DataReceived, Moved } kind;
  unsigned peer, pair, index; ///< pair: 0 for control, from 1 on for data
  RequestId(Kind kind, unsigned peer, unsigned pair, unsigned index)
      : kind(kind), peer(peer), pair(pair), index(index) {}
  explicit RequestId(uint64_t word)
      : kind(Kind(word >> 60)), peer(word >> 40 & 0xfffff), pair(word >> 32 & 0xff), index(uint32_t(word)) {}
  uint64_t word() const { return uint64_t(kind) << 60 | uint64_t(peer) << 40 | uint64_t(pair) << 32 | index; }
};

/// Over TCP, when a rail has failed.
struct RailDown {
  uint32_t rail = 0;
  uint32_t received = 0; ///< control messages, since the beginning
};

} // namespace braid::runtime::verbs

#endif
