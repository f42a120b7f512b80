//===- Affinity.h - which processors the runtime's own threads use -------------------------------------------------===//
//
// What a process may use is decided outside: taskset, a cgroup, mpirun's binding. The runtime chooses inside that set and
// never widens it, binds only threads that it made itself, and leaves the program's threads as they are. Ranks that may use
// the same processors share them out by the machine's topology (hwloc_distrib: far apart first, whole cores before halves);
// a rank whose set nobody shares keeps all of it. BRAID_AFFINITY=off: threads inherit, nothing is chosen.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_BOOTSTRAP_AFFINITY_H
#define BRAID_RUNTIME_BOOTSTRAP_AFFINITY_H

#include "bootstrap/RankInfo.h"
#include "core/Exchange.h"
#include <string>
#include <vector>

namespace braid::runtime {

struct Affinity {
  std::vector<int> allowed; ///< of the calling thread, when it asked
  std::vector<int> chosen;  ///< for the runtime's threads; a subset, never empty unless off
  bool off = false;

  /// "threads on processors 2-3 of 0-3 (local rank 1 of 2)".
  std::string text;
};

/// This thread's set, as "0-3,8": what ranks exchange to see who shares processors with whom.
std::string allowedProcessors();

/// Chooses for local rank `local` of `sets.size()` ranks on this host; `sets` are their allowedProcessors() by local rank.
/// `synthetic`: a topology for tests as hwloc describes it ("pack:2 core:2 pu:2"), else this machine's.
Outcome chooseAffinity(int local, const std::vector<std::string> &sets, Affinity &affinity,
                       const Environment &environment = processEnvironment(), const char *synthetic = nullptr);

/// A thread of the runtime: named, bound as chosen, without signals (they are the program's).
Outcome startThread(const Affinity &affinity, const char *name, std::function<void()> body, std::thread &thread);

std::string rangesOf(const std::vector<int> &processors); ///< "0-3,8"
bool parseRanges(const std::string &text, std::vector<int> &processors);

} // namespace braid::runtime

#endif
