//===- KindTape.h - the order in which a play's events came, to play it again ---------------------------------------===//
//
// At another size events mostly come in the same order. Then there is nothing to queue: a play is a recurrence in sums and maxima,
// message by message, along the tape of an earlier one. It holds if each shared link and each rank had its own events in order,
// which is seen on the way: a few times as fast as taking events by time, and never another result.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_KINDTAPE_H
#define BRAID_COST_MODELS_PRICING_KINDTAPE_H

#include "pricing/Kinds.h"

namespace braid::cost {

/// What happened next: a message took its turn on a link that it shares, or a lane went on with some of its ops.
struct KindEvent {
  enum How : char {
    Message, ///< `op`: its send, on the sender's half of the way, or its receive
    Runs,    ///< nobody else uses the lane's link out and its reducer, or it begins
    Turn,    ///< the lane had its turn among those of its rank
    Heard    ///< so, when the message of its next op was there
  } how = Message;
  bool tied = false; ///< Heard: the lane had come to this op at that very time
  bool late =
      false; ///< at the time of the last event at its place, and before it by their turns, but made by it or after it
  bool reduced = false; ///< the lane's run ended with an addition that took its turn at the rank's reducer
  int lane = 0, op = 0, end = 0;
};

struct KindTape {
  std::vector<KindEvent> events;
};

/// The last event on a link, or of a rank.
struct KindMoment {
  double time = 0;
  int turn = 0;
};

/// A link while a program is played.
struct KindLink {
  double free, latency, bandwidth;
  bool inOrder;
  KindMoment last = {};
};

/// What a play is asked, and the same in ticks.
struct KindPlay {
  KindPlay(const KindProgram &program, double chunk, const std::vector<Topology::Link> &links, BytesPerSecond reduction,
           const std::vector<double> *late);

  const KindProgram &program;
  double chunk; ///< bytes
  /// Messages without bytes hold no link and no reducer: nobody waits for a turn, and the order of events is all one.
  bool weightless;
  double reduction;
  const std::vector<double> *late;
  std::vector<KindLink> links; ///< by slot
  std::vector<double> detours; ///< how much further
};

/// By time; the events are put on the tape, if there is one. Nothing if ranks wait for each other.
std::optional<Seconds> playByTime(KindPlay &play, KindTape *tape);
/// Along the tape. Nothing if its order is not that of time.
std::optional<Seconds> playAgain(KindPlay &play, const KindTape &tape);

} // namespace braid::cost

#endif
