//===- Frame.h - what goes over a connection between two ranks -----------------------------------------------------===//
//
// A header of 16 bytes, little-endian, and for Data and Abort the bytes that it announces. Messages of all lanes share the
// connection, so each lane has a bounded number of bytes and messages that its receiver has not accepted yet: a lane that
// nobody reads can't stop the others, and what a receiver has to hold is bounded.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_TCP_FRAME_H
#define BRAID_RUNTIME_TRANSPORTS_TCP_FRAME_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace braid::runtime::tcp {

struct Frame {
  enum Kind : uint32_t {
    Data = 0x42520001,   ///< value: bytes that follow
    Credit = 0x42520002, ///< value: messages of the lane accepted since the beginning
    Abort = 0x42520003,  ///< value: bytes of the reason that follow; lane: 1 + the rank that died, 0: none has
    Bye = 0x42520004     ///< the sender leaves in good order
  };
  uint32_t kind = Data;
  uint16_t lane = 0;
  uint16_t note = 0; ///< Data: the sender's
  uint64_t value = 0;
};
static_assert(sizeof(Frame) == 16, "as on the wire; both ends are little-endian, which the kind shows");

constexpr int lanes = 4096;                    ///< as in shared memory
constexpr uint64_t window = 16;                ///< messages of a lane that are not accepted yet
constexpr uint64_t windowBytes = 16u << 20;    ///< a message may start while fewer bytes than this are not accepted
constexpr uint64_t creditEvery = 4;            ///< messages, or
constexpr uint64_t creditEveryBytes = 1 << 18; ///< bytes
constexpr size_t longestReason = 1024;

} // namespace braid::runtime::tcp

#endif
