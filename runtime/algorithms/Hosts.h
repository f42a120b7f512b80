//===- Hosts.h - the ranks of each host -------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_HOSTS_H
#define BRAID_RUNTIME_ALGORITHMS_HOSTS_H

#include "braid/runtime/algorithms/StepProgram.h"

namespace braid::algorithms {

/// Ranks by host, both in the order of the ranks. From StepOptions::hosts, or, if they are not known, hosts of
/// dealtPerHost consecutive ranks.
class Hosts {
public:
  /// `even`: hosts of different sizes count as not known.
  Hosts(int ranks, const StepOptions &options, bool even = false);

  std::vector<std::vector<int>> members;
  /// Ranks of the smallest host: as many rails run across the hosts. Rail i joins the i-th ranks; a rank further on uses the
  /// rail (its place mod rails).
  int rails = 1;

  int count() const { return int(members.size()); }
  int size(int host) const { return int(members[host].size()); }
  int hostOf(int rank) const;
  int placeOf(int rank) const; ///< within its host
};

} // namespace braid::algorithms

#endif
