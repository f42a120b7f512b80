//===- Liveness.h - bytes alive at each event of a schedule -----------------------------------------------------===//
// A view has a result of 0 bytes; who reads it also has the task that holds the memory among its operands. A nested
// block's peak comes on top of what is alive around it: Block::live of a nested block holds only what its caller does
// not count.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SIMULATE_LIVENESS_H
#define BRAID_COST_MODELS_SIMULATE_LIVENESS_H

#include "braid/cost_models/Schedule.h"

namespace braid::cost {

/// When each task's result lives, in events of the order, both ends included; order.size(): to the end of the block.
struct Lifetime {
  int begin = -1, end = -1;
};
std::vector<Lifetime> lifetimes(const Block &block, const BlockSchedule &schedule);

/// Bytes alive at each event: the block's own, results, and the peak of a nested block that runs there. `peaks`: peak
/// of each earlier block; null: nested blocks add nothing.
std::vector<Bytes> liveBytes(const Program &program, int block, const BlockSchedule &schedule,
                             const std::vector<Bytes> *peaks);

} // namespace braid::cost

#endif
