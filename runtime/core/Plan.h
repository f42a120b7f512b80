//===- Plan.h - a step program with addresses ---------------------------------------------------------------------===//
//
// Made once for each operation: the steps of this rank with pointers and sizes, in lanes that are independent, and the
// copies before and after. Executing it allocates nothing and decides nothing (Operation.h).
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_CORE_PLAN_H
#define BRAID_RUNTIME_CORE_PLAN_H

#include "core/Request.h"
#include "reduce/Reduce.h"
#include "transports/Transport.h"

namespace braid::runtime {

/// What a rank does next on a lane.
struct PlannedStep {
  enum Kind : uint8_t { Send, Receive, Reduce, Combine, Copy } kind; ///< Copy: a piece of a message that is sent next
  bool more = false;           ///< Receive, Reduce: the next step takes the rest of the message
  int outbox = -1;             ///< Send: index in the lane's outboxes
  int peer = 0;                ///< Receive, Reduce
  char *to = nullptr;          ///< where the result goes; Send: null, or where the message is copied to
  char *also = nullptr;        ///< Receive, Reduce, Combine: and a second copy of it (fuseCopies)
  const char *mine = nullptr;  ///< Reduce, Combine: what is there so far; Send: what is copied
  const char *other = nullptr; ///< Combine: the rank's operand
  size_t bytes = 0, count = 0;
  size_t at = 0, whole = 0;         ///< Receive, Reduce: where in the message, and the bytes of all of it
  int firstHazard = 0, hazards = 0; ///< messages that must have been accepted before `to` is written
  int number = 0;                   ///< of the step in the program, for errors
  bool average = false;             ///< Reduce, Combine: complete the sum by the division
  bool stream = false;              ///< nobody reads `to` soon: write past the cache
};

/// The first `messages` messages to an outbox.
struct Hazard {
  int outbox;
  uint64_t messages;
};

struct OutMessage {
  const char *data;
  size_t bytes;
  int step; ///< of the program: those of one step, one for each part, travel as one
};

/// What a lane sends to one peer, in order.
struct Outbox {
  int peer;
  std::vector<OutMessage> messages;
};

struct PlannedLane {
  std::vector<PlannedStep> steps;
  std::vector<Outbox> outboxes;
};

struct Copy {
  char *to;
  const char *from; ///< null: zeros
  size_t bytes;
  bool stream = false; ///< past the cache
};

struct Conversion {
  char *to;
  const char *from;
  size_t count;
};

struct Quotient {
  char *data;
  size_t count;
};

struct Plan {
  std::vector<PlannedLane> lanes;
  std::vector<Hazard> hazards;
  std::vector<Conversion> widen; ///< operands to the type they are combined in, first of all
  std::vector<Copy> before;      ///< before the first step: packing, copies of operands
  std::vector<Copy> during;      ///< any time, one by one: a rank's own part of a result
  // When all steps are done and all messages accepted, in this order:
  std::vector<Copy> settle; ///< from scratch to results, and zeros
  std::vector<Quotient> averages;
  std::vector<Copy> after;        ///< unpacking
  std::vector<Conversion> narrow; ///< and back, last of all
  std::vector<void *> memory;     ///< of the transport, to be released
  Reducer reducer;
};

/// Lanes of a channel at most: parts of a large tensor take turns on them.
constexpr int partLanes = 2;

/// Tensors below this many bytes travel together in a bucket.
constexpr size_t packedBelow = 32 << 10;

/// On failure the memory that was taken is in plan.memory all the same.
Outcome makePlan(const Request &request, Transport &transport, Plan &plan);

/// Messages that are copied when they are sent are written by the step before, which makes what they carry, or else copied by a
/// step of their own: receive, reduce and copy in one pass.
void fuseCopies(Plan &plan);

} // namespace braid::runtime

#endif
