//===- SharedRanks.h - collectives that must not be in flight together ------------------------------------------===//
//
// Two collectives on different communicators that share two or more ranks can block each other for ever: one rank
// begins with the first, the other with the second. On one communicator the order of starts is the order of execution,
// so that is safe.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_PASSES_ANALYSIS_SHAREDRANKS_H
#define BRAID_PASSES_ANALYSIS_SHAREDRANKS_H

#include "braid/cost_models/Schedule.h"
#include <map>

namespace mlir::braid {

namespace cost = ::braid::cost;

class SharedRanks {
public:
  /// Different groups (by object: equal groups share one) with two ranks in common.
  bool conflict(const std::shared_ptr<const cost::RankGroups> &a, const std::shared_ptr<const cost::RankGroups> &b);

private:
  std::map<std::pair<const void *, const void *>, bool> known;
};

/// Moves waits forward, before the start of a collective that conflicts. Returns whether anything moved. Always legal:
/// a wait may stand anywhere between its start and its first reader.
bool separateConflicts(const cost::Block &block, cost::BlockSchedule &schedule, SharedRanks &shared);

} // namespace mlir::braid

#endif
