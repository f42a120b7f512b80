//===- Liveness.h - bytes alive at each event of a schedule -----------------------------------------------------===//
//
// A result of 0 bytes that has operands is a view (or an update in place) of its largest operand: that operand's bytes
// live as long as the view does.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SIMULATE_LIVENESS_H
#define BRAID_COST_MODELS_SIMULATE_LIVENESS_H

#include "braid/cost_models/Schedule.h"

namespace braid::cost {

/// When each task's result lives, in events of the order, both ends included. `end` = order.size(): to the end of the
/// block.
struct Lifetime {
  int begin = -1, end = -1;
};
std::vector<Lifetime> lifetimes(const Block &block, const BlockSchedule &schedule);

/// Bytes alive at each event: the block's own, results, and what a nested block adds to the values that are passed to
/// it. `peaks`: peak of each earlier block; null: nested blocks add nothing.
std::vector<Bytes> liveBytes(const Program &program, int block, const BlockSchedule &schedule,
                             const std::vector<Bytes> *peaks);

} // namespace braid::cost

#endif
