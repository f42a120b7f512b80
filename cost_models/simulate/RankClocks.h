//===- RankClocks.h - a schedule played with a clock for each rank ---------------------------------------------------===//
//
// A step is as late as its slowest rank; a collective on several groups at once is not as late as the slowest group for all ranks,
// since a rank waits for its own group only. Where each of many collectives counts as the slowest of all groups, the noise of a step
// is overstated, if little.
//
// Each rank computes by its own factor, and is slowed by what is in flight on it: from when it has reached a start, also while it waits
// for the others there. Of a collective between hosts that is, on a rank whose group stays inside its host, its group's own time inside
// the host, behind nothing that the rank has in flight between hosts; one clock for all ranks counts the collective for it, too.
//
// Example: 12 all_reduces one after another, each an exchange of 4 pairs. A rank ends when its partner's message has come: the step
// is late by the largest of 8 sums of 12 delays, not by a sum of 12 largest ones.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SIMULATE_RANKCLOCKS_H
#define BRAID_COST_MODELS_SIMULATE_RANKCLOCKS_H

#include "simulate/Flatten.h"

namespace braid::cost {

class RankClocks {
public:
  /// setting: larger jobs are played with one clock, where every group waits for the slowest.
  static constexpr int mostRanks = 64;

  /// Whether a rank's clock can differ from another's: some collective has several groups.
  static bool differ(const Program &program);

  /// All three outlive it.
  RankClocks(const FlatProgram &flat, const Program &program, const Schedule &schedule, const Pricer &pricer);
  /// When the last rank has ended the step.
  double step(uint64_t seed, uint64_t job, uint64_t step);

private:
  using Groups = std::vector<std::vector<int>>;
  struct Place {
    uint64_t seed, job, step, operation;
  };
  using Clocks = std::vector<double>; ///< of each rank

  /// Of all ranks, by fabric.
  struct Channels {
    Clocks free[2];   ///< when the next collective can begin
    Clocks flying[2]; ///< until when something is in flight on the rank
  };

  void run(int block, Clocks &clocks);
  void start(int block, const FlatEvent &event, const Clocks &clocks, Channels &channels);
  std::vector<double> insideHosts(const CollectiveSpec &spec, const Candidate &candidate, const Groups &of) const;
  void nested(const FlatEvent &event, Clocks &clocks);

  const FlatProgram &flat;
  const Pricer &pricer;
  size_t ranks;
  std::vector<double> factors;             ///< on the time that each rank computes
  std::vector<std::vector<Groups>> groups; ///< of each block's buckets
  /// Of each block's buckets; of each group, if it stays inside a host and others don't, what its price is of theirs; else 0. Empty: of none.
  std::vector<std::vector<std::vector<double>>> inside;
  std::vector<std::vector<Clocks>> ends; ///< of each block's buckets
  Place place{};
};

} // namespace braid::cost

#endif
