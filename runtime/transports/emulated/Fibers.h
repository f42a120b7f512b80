//===- Fibers.h - ranks that take turns on one thread -----------------------------------------------------------===//
//
// In virtual time one rank runs at a time, so threads only add the cost of waking each other (some microseconds). Fibers switch
// in a fraction of one: what makes a thousand steps of a job with a hundred collectives a matter of seconds.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_TRANSPORTS_EMULATED_FIBERS_H
#define BRAID_RUNTIME_TRANSPORTS_EMULATED_FIBERS_H

#include "transports/emulated/Parker.h"
#include <functional>
#include <memory>

namespace braid::runtime {

/// The parker of an emulation in virtual time whose ranks are fibers of the calling thread.
class Fibers : public Parker {
public:
  explicit Fibers(int ranks);
  ~Fibers() override;
  /// Whose fiber the caller is; null: none.
  static Fibers *running();
  /// From a fiber: others have their turn first; whether there are any.
  void yield();
  bool othersReady() const;
  /// Runs `body` once for each rank, and returns when all have returned.
  void run(const std::function<void(int rank)> &body);

  void park(int rank, std::atomic<uint32_t> &word, uint32_t seen, double atMost) override;
  void unpark(int rank, std::atomic<uint32_t> &word) override;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace braid::runtime

#endif
