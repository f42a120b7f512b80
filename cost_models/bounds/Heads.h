//===- Heads.h - what must pass before and after each task of a block -------------------------------------------===//
#ifndef BRAID_COST_MODELS_BOUNDS_HEADS_H
#define BRAID_COST_MODELS_BOUNDS_HEADS_H

#include "braid/cost_models/Schedule.h"
#include <cstdint>

namespace braid::cost {

/// Seconds, of the tasks [first, last) of a block.
struct Heads {
  std::vector<double> head; ///< no task begins earlier
  std::vector<double> tail; ///< no step ends earlier than this after the task's end
  std::vector<int> from;    ///< whose end the head waits for; -1: nothing, -2: all computation that the task depends on
  /// Bits, `words` for each task: what it depends on. Empty for large blocks.
  std::vector<uint64_t> above;
  size_t words = 0;
  /// Calls use(task) for each task that `task` depends on. Numbers count from the first task.
  template <class Use> void eachAbove(int task, Use use) const {
    for (size_t w = 0; w < words; ++w)
      for (uint64_t bits = above[size_t(task) * words + w]; bits; bits &= bits - 1)
        use(int(w * 64) + __builtin_ctzll(bits));
  }
};

/// Longest paths; and since the compute stream does one thing at a time, a task begins no earlier than one machine could
/// have served all computation that it depends on, and the same backwards. The second is left out where it would take
/// seconds.
Heads headsAndTails(const Block &block, int first, int last, const std::vector<Seconds> &durations);

/// Whether a task keeps the compute stream: all but asynchronous collectives.
bool onStream(const Task &task);

} // namespace braid::cost

#endif
