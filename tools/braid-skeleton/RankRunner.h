//===- RankRunner.h - one rank of a skeleton --------------------------------------------------------------------===//
//
// The order of events is the schedule's. Compute is a timed sleep during which collectives go on. A started collective waits
// in the queue of its fabric (inside hosts, between them), which serves one at a time in the order of starts; its launch is
// charged, then its step program runs.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_SKELETON_RANKRUNNER_H
#define BRAID_SKELETON_RANKRUNNER_H

#include "tools/braid-skeleton/Skeleton.h"
#include "tools/braid-skeleton/StepDriver.h"
#include "transports/Clock.h"
#include <deque>

namespace braid::skeleton {

class RankRunner {
public:
  RankRunner(const SkeletonSchedule &schedule, int rank, int ranks, runtime::Transport &transport);
  /// One step; the collectives' draws are those of `step`. False: the transport has a fault.
  bool step(uint64_t number);
  static int lanesNeeded(const SkeletonSchedule &schedule);

private:
  struct Operation {
    std::unique_ptr<StepDriver> driver; ///< null: this rank has no part in it
    int track = 0;
    bool pending = false; ///< started and not finished
    uint64_t number = 0;  ///< of the execution in the step
  };
  struct Track {
    std::deque<Operation *> queue;
    bool launching = false, running = false;
    double launchedAt = 0;
  };
  bool run(size_t block);
  bool compute(double seconds);
  bool wait(Operation &operation);
  bool progress();
  bool advance(Track &track);

  const SkeletonSchedule &schedule;
  runtime::Transport &transport;
  runtime::Clock &clock;
  std::vector<Operation> operations; ///< of each collective
  Track tracks[2];
  uint64_t stepNumber = 0, executed = 0;
};

} // namespace braid::skeleton

#endif
