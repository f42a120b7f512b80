//===- Emulation.h - messages on the links of a fabric, and the time they take ----------------------------------===//
//
// The link rule, the same as the cost model's: a message takes its links in order, cut-through; on each it starts when the link
// direction is free (arrival order, ties by rank) and it has started on the one before (plus that link's latency), and holds it
// bytes / bandwidth. It is delivered when its tail has left every link, and its excess has passed. What the messages are for,
// this file does not know.
//
// Virtual time. Ranks run on the machine and time stands still, until all are blocked. Whoever blocks last then moves time to
// the next event and wakes the rank that it concerns; the others stay blocked, so that in effect one rank runs at a time, and
// a run is a function of its input. What a rank may see of another (a delivery, an acceptance) changes only while all are
// blocked.
//
// Wall time. A thread of one rank's process handles events when they are due, and wakes the ranks they concern.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_EMULATED_EMULATION_H
#define BRAID_RUNTIME_TRANSPORTS_EMULATED_EMULATION_H

#include "transports/emulated/Parker.h"
#include "transports/emulated/Profile.h"
#include "transports/emulated/Region.h"
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace braid::runtime {

enum class EmulatedTime { Virtual, Wall };

struct EmulationOptions {
  EmulatedTime time = EmulatedTime::Virtual;
  uint64_t seed = 1;
  double shortestDelay = 0.010; ///< wall: what the shortest latency of the profile is stretched to, seconds
  int64_t messages = 1 << 16;   ///< under way at once
  int64_t lanes = 1 << 15;      ///< (source, target, lane) that are ever used, a power of two
};

class Emulation {
public:
  /// Ranks as threads, or as fibers with their own parker.
  static std::shared_ptr<Emulation> inProcess(EmulatedProfile profile, const EmulationOptions &options,
                                              Parker &parker = futexParker());
  /// Ranks as processes, which all map the same `region` of regionBytes() zeroes. One of them is the first.
  static std::shared_ptr<Emulation> attach(EmulatedProfile profile, const EmulationOptions &options, void *region,
                                           bool first);
  static size_t regionBytes(const EmulatedProfile &profile, const EmulationOptions &options);
  ~Emulation();

  const EmulatedProfile profile;
  const EmulationOptions options;
  /// Seconds of the machine for a second of emulated time; 1 in virtual time, where it means nothing.
  double dilation() const { return stretch; }

  double now();
  /// A message leaves; false: too many are under way. `excess`: later than by the links alone.
  struct Departure {
    LaneState *lane;
    int number;   ///< of the lane, for draws
    int pieces;   ///< messages of the inner transport that travel as this one
    double bytes; ///< times the draw of its bandwidth
    double excess;
    double factor[2]; ///< on the latency of each class of links
    uint64_t job;
  };
  bool send(const Departure &departure);
  /// Numbers of communicators, so that their lanes are apart; the first one's is 0.
  static constexpr int mostCommunicators = 0xfff;
  int newCommunicator() { return header->communicators++; }
  /// The lane; `make`: also one that was not used yet, else null. Null too when there are too many.
  LaneState *lane(int source, int target, int communicator, int lane, bool make);
  static uint64_t delivered(const LaneState &lane) { return lane.delivered.load(std::memory_order_acquire); }
  /// The receiver is done with a message.
  void accept(LaneState &lane);
  /// What the sender may know; `wait`: it goes on when more is accepted.
  uint64_t accepted(LaneState &lane, bool wait);

  /// Moves bytes that are on their way in the machine; tells how long it may sleep at most until it is called again
  /// (seconds), negative: give up waiting.
  using Pump = std::function<double()>;
  static constexpr double longestSleep = 0.004; ///< a peer may have died
  /// Until something happened for this rank, or some milliseconds of the machine's time have passed: the caller may have a
  /// deadline. That it looks around then is not seen by the others.
  static constexpr double longestBlock = 0.004;
  void block(int rank, const Pump &pump);
  /// For a thread beside the rank's own, on the wall clock: from `watch` on, what would wake the rank ends the sleep too.
  uint32_t watch(int rank);
  void sleepWatching(int rank, uint32_t seen, double atMost);
  void wakeAt(int rank, double time);
  double reduced(int rank, double bytes);
  void align(int rank, const Pump &pump);
  void leave(int rank);
  void enter(int rank);
  /// The rank will not come back: it has left, or its process has died. Anybody may say so, more than once.
  void gone(int rank);
  void stopPacer();
  bool stuck() const { return header->stuck.load(std::memory_order_relaxed) != 0; }

private:
  Emulation(EmulatedProfile profile, const EmulationOptions &options, Parker &parker);
  void layOut(void *region);
  void initialise();
  void startPacer();
  void pace();
  double handleDue();

  class Locked;

  bool isVirtual() const { return options.time == EmulatedTime::Virtual; }
  void push(double time, int rank, Event::Kind kind, int64_t index);
  void handle(const Event &event);
  void enterLink(int64_t index, double time);
  void advance();
  bool showAccepted();
  bool alignAll(int caller);
  void wake(int rank);

  Parker &parker;
  double stretch = 1;
  int spines = 0;
  std::unique_ptr<char[]> owned;
  Header *header = nullptr;
  RankState *ranks = nullptr;
  LaneState *lanes = nullptr;
  double *linkFree = nullptr;
  Event *events = nullptr;
  int64_t capacity = 0; ///< of the heap
  Flight *flights = nullptr;
  std::thread pacer;
  std::atomic<bool> over{false};
};

} // namespace braid::runtime

#endif
