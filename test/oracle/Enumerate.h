//===- Enumerate.h - every schedule of a tiny program ---------------------------------------------------------------===//
#ifndef BRAID_TEST_ORACLE_ENUMERATE_H
#define BRAID_TEST_ORACLE_ENUMERATE_H

#include "braid/cost_models/Schedule.h"

namespace braid::oracle {

/// The shortest of all schedules of the only block, one collective in flight per fabric, waits where something needs them: all
/// buckets and all orders, each played by Braid's own player. It is what the solver's model is checked with.
cost::Seconds shortestOfAll(const cost::Program &program, const cost::Pricer &pricer);

} // namespace braid::oracle

#endif
