//===- StoreProtocol.h - requests and answers of the store ---------------------------------------------------------===//
//
// After the handshake (Handshake.h) a client sends one request at a time and gets one answer:
//
//   u32 size of what follows, u8 operation or result, fields (Wire.h)
//
//   Set     key value                         -> Ok
//   Get     key                               -> Ok value | Missing
//   Add     key delta                         -> Ok sum (a number starts at 0)
//   Remove  key                               -> Ok
//   Wait    key owner seconds                 -> Ok value, once it is set; Died if `owner` (a rank or -1) is gone first
//   Gather  key count members... value seconds -> Ok values..., once every member has given one; Died; Late
//   Died    rank why                          -> Ok; from launchers, which see processes end
//   Leave                                     -> Ok; who waits for this rank hears that it has left (Died, with no reason)
//
// Gather is the one primitive that set-up needs: it is an allgather, and with empty values a barrier. The store forgets it
// when it is complete, so that nothing grows in a job that makes communicators for ever.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_STOREPROTOCOL_H
#define BRAID_RUNTIME_BOOTSTRAP_STOREPROTOCOL_H

#include <cstddef>
#include <cstdint>

namespace braid::runtime {

enum class StoreRequest : uint8_t { Set = 1, Get, Add, Remove, Wait, Gather, Died, Leave };
enum class StoreResult : uint8_t { Ok = 100, Missing, Late, Died, Refused };

constexpr size_t storeMaximumFrame = 8u << 20;  ///< bytes of one request
constexpr size_t storeMaximumBytes = 64u << 20; ///< bytes of all keys, values and gathers together

} // namespace braid::runtime

#endif
