//===- BlockOrder.h - schedules that need no prices -------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_BLOCKORDER_H
#define BRAID_PASSES_ANALYSIS_BLOCKORDER_H

#include "braid/cost_models/Schedule.h"

namespace mlir::braid {

namespace cost = ::braid::cost;

/// Program order, as far as buckets allow: each bucket stands, synchronous, where its last member can.
cost::BlockSchedule orderAsWritten(const cost::Block &block, std::vector<cost::Bucket> buckets);

/// Computation in program order; each collective starts as soon as its operands exist and is awaited just before its
/// first reader, or before what nothing in flight may cross.
cost::BlockSchedule startEarlyWaitLate(const cost::Block &block);

} // namespace mlir::braid

#endif
