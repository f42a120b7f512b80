//===- Region.h - what the ranks of an emulated fabric share ----------------------------------------------------===//
//
// One block of memory without pointers, on the heap when ranks are threads, in a shared mapping when they are processes:
//
//   Header | RankState[ranks] | LaneState, a hash table | free time of each link | events, a heap | messages, a pool
//
// Everything but the atomics is read and written under the header's lock.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_EMULATED_REGION_H
#define BRAID_RUNTIME_TRANSPORTS_EMULATED_REGION_H

#include "transports/emulated/Profile.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace braid::runtime {

struct Event {
  enum Kind : int32_t { Arrival, Delivery, Timer };
  double time;
  int32_t rank;
  Kind kind;
  uint64_t number;
  int64_t index;                         ///< message; unused for a timer
  bool operator<(const Event &o) const { // the standard heap has the largest first
    if (time != o.time)
      return time > o.time;
    return rank != o.rank ? rank > o.rank : number > o.number;
  }
};

/// A message, or one part of one that is dealt over several uplinks; `whole` is the first part.
struct Flight {
  int32_t links[EmulatedProfile::longestPath];
  int32_t hops = 0, hop = 0;
  int32_t source = 0, target = 0, lane = 0; ///< the lane by its slot
  int32_t whole = 0, partsLeft = 0, nextUnused = -1;
  int32_t pieces = 1; ///< messages of the inner transport
  double bytes = 0;
  double factor[2] = {1, 1}; ///< of the job and the operation on the latency of each class of links
  double excess = 0;
  double tail = 0;   ///< earliest time the tail can be at the end of the links so far
  double latest = 0; ///< of the parts
};

/// Messages of one lane of one communicator from one rank to another. Slots are never given up; one is in use when its key
/// is not 0, which is written last.
struct LaneState {
  std::atomic<uint64_t> key{0};
  int32_t source = 0, target = 0;
  std::atomic<uint64_t> delivered{0}; ///< messages of the inner transport that the receiver may see
  std::atomic<uint64_t> accepted{0};  ///< messages that the sender knows were accepted
  uint64_t acceptedSoFar = 0;         ///< what it will know when virtual time lets it
  double last = 0;                    ///< last delivery: messages of a lane do not overtake
  int32_t nextNewly = 0; ///< list of the lanes of a sender on which something was newly accepted; 0: the end
  bool newly = false;    ///< in that list
};

struct RankState {
  static constexpr int timers = 8;
  enum State : int32_t { Running, Blocked, Outside, Gone };
  std::atomic<uint32_t> word{0}; ///< changes when the rank is woken
  State state = Running;
  bool signalled = false;                 ///< something happened since it last returned from blocking
  bool aligning = false;                  ///< it waits in align()
  bool watched = false;                   ///< a thread of it sleeps on the word without being its blocked rank
  int32_t newly = 0;                      ///< 1 + its first lane with something newly accepted; 0: none
  std::atomic<bool> wantsAccepted{false}; ///< it asked for messages that were not accepted yet
  int32_t armed = 0;                      ///< timers it asked for, so that none is asked for twice
  double timer[timers] = {};
  double reducerFree = 0;
};

struct Header {
  std::atomic<uint32_t> ready{0};
  std::atomic<uint32_t> stuck{0}; ///< every rank blocked, and nothing under way; or the lock's owner died
  pthread_mutex_t lock;
  std::atomic<int32_t> communicators{0}; ///< numbers given so far
  double now = 0;                        ///< virtual
  int64_t origin = 0;                    ///< wall: nanoseconds of the monotonic clock
  int32_t running = 0;                   ///< ranks that are not blocked
  int32_t outside = 0;
  int32_t gone = 0;    ///< ranks that have left for good, or died
  int32_t newly = 0;   ///< ranks with something newly accepted
  int32_t aligned = 0; ///< ranks that wait in align()
  uint32_t alignments = 0;
  uint64_t events = 0;            ///< numbers given so far
  int64_t queued = 0;             ///< events in the heap
  int64_t made = 0;               ///< messages ever taken from the pool
  int32_t unused = -1;            ///< list of messages that are free again
  std::atomic<uint32_t> pacer{0}; ///< wall: changes when an earlier event was queued, or all is over
};

} // namespace braid::runtime

#endif
