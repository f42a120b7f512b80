//===- Clock.h - the time that a rank lives in ------------------------------------------------------------------===//
//
// Code of the runtime asks its transport's clock for the time, and gives up the processor through it. On a machine as it is,
// that is the machine's time. The emulated transport has two clocks of its own, and nothing else in the runtime changes:
//
//   wall      the machine's time, stretched by a factor, so that a delay of a microsecond is long enough to be slept
//   virtual   time stands still while any rank can do something, and jumps to the next event when none can
//
// What virtual time must know of a rank:
//   - it is blocked when it calls Transport::idle or Clock::sleepUntil; it goes on when something happened for it: a message
//     was delivered, one of its own was accepted, or a time that it asked for (wakeAt) has come
//   - it waits for something outside the transport (a store, a barrier of processes): wrap that in a Clock::Outside
//   - what costs no processor time here but would cost time on the emulated device (launching, reducing) is charged
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_CLOCK_H
#define BRAID_RUNTIME_TRANSPORTS_CLOCK_H

#include <cstddef>
#include <cstdint>

namespace braid::runtime {

class Clock {
public:
  virtual ~Clock() = default;
  /// Time stands still while a rank can do something: there is no thread that makes progress while it computes.
  virtual bool isVirtual() const = 0;
  /// Seconds, from a start that all ranks share on an emulated clock.
  virtual double now() = 0;
  /// Blocks until then. Messages do not move meanwhile: a rank with operations in flight loops over wakeAt and idle.
  virtual void sleepUntil(double time) = 0;
  /// The transport's idle() returns at this time at the latest; holds once.
  virtual void wakeAt(double time) = 0;

  /// When an operation that starts now has been launched.
  virtual double launched() { return now(); }
  /// When a reduction of this many bytes of one operand, begun now, is done. A rank has one reducer: the second waits for the
  /// first.
  virtual double reduced(size_t bytes) { return now(); }
  /// Factor on the time of all that this rank computes in a step: ranks differ, and are not alike in each step.
  virtual double computeFactor(uint64_t step) { return 1; }
  /// Factor on the time of computation while operations inside hosts, or between hosts, are in flight.
  virtual double slowdown(bool inside, bool between) { return 1; }
  /// All ranks at one time, at no cost: the start of a step that is measured.
  virtual void align() {}

  /// While one lives, this rank does not hold virtual time up.
  class Outside {
  public:
    explicit Outside(Clock &clock) : clock(clock) { clock.stepOut(); }
    ~Outside() { clock.stepIn(); }
    Outside(const Outside &) = delete;
    Outside &operator=(const Outside &) = delete;

  private:
    Clock &clock;
  };

protected:
  virtual void stepOut() {}
  virtual void stepIn() {}
};

} // namespace braid::runtime

#endif
