//===- Ranks.h - starts ranks as processes of this host and ends them together ------------------------*- C++ -*-===//
#ifndef BRAID_RUN_RANKS_H
#define BRAID_RUN_RANKS_H

#include <functional>
#include <string>

namespace braid::run {

/// Forks `count` processes that run `body(rank)` and returns the job's exit status (command/Endings.h). When a rank fails, the
/// others have `grace` seconds to say what they saw, then they are killed; one line at the end says how all of them ended. A rank finds the others by its environment, as under
/// any launcher.
int runRanks(int count, double grace, const std::function<int(int)> &body);

/// Whether no rank that runRanks has started said `text` before: what is wrong on all of them is said once. Under a launcher each
/// rank is the first.
bool firstToSay(const std::string &text);
/// Whether any rank has said anything.
bool anySaid();

} // namespace braid::run

#endif
