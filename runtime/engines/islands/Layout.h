//===- Layout.h - which ranks run by which engine ---------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_ISLANDS_LAYOUT_H
#define BRAID_RUNTIME_ENGINES_ISLANDS_LAYOUT_H

#include "core/Outcome.h"
#include <vector>

namespace braid::runtime::islands {

/// Ranks of a communicator that one engine can connect. The first is its leader.
struct Island {
  std::string engine;
  std::vector<int> ranks; ///< of the communicator, ascending
};

/// The islands of a communicator.
struct Layout {
  std::vector<Island> islands; ///< those that have ranks here
  std::vector<int> islandOf, indexIn; ///< of each rank
  int me = 0;

  int mine() const { return islandOf[size_t(me)]; }
  bool leads() const { return indexIn[size_t(me)] == 0; }
  const std::vector<int> &neighbours() const { return islands[size_t(mine())].ranks; }
  int ranks() const { return int(islandOf.size()); }
};

/// "mpi:0-2;braid:3-7": engines, and the ranks of the job that each connects. `members`: of the communicator, ranks of the job, each of
/// which must be on one island.
Outcome readLayout(const std::string &text, const std::vector<int> &members, int me, Layout &layout);

} // namespace braid::runtime::islands

#endif
