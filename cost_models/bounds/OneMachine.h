//===- OneMachine.h - Jackson's preemptive schedule: a bound for what one resource serves one after another --------===//
#ifndef BRAID_COST_MODELS_BOUNDS_ONEMACHINE_H
#define BRAID_COST_MODELS_BOUNDS_ONEMACHINE_H

#include <vector>

namespace braid::cost {

/// Seconds. A job may not begin before its head, keeps the resource for its duration, and its tail must follow.
struct Job {
  double head = 0, duration = 0, tail = 0;
};

struct OneMachineBound {
  double time = 0;           ///< head + sum of durations + tail of the critical jobs
  double head = 0, tail = 0; ///< the smallest of the critical jobs
  std::vector<int> jobs;     ///< critical: those that attain the bound
};

/// The largest, over all sets of jobs, of (smallest head + sum of durations + smallest tail). Jackson's preemptive
/// schedule attains it: whatever is ready and has the longest tail runs (Carlier, The one-machine sequencing problem, EJOR
/// 11, 1982). O(n log n). Worked example: heads 0, 2, durations 4, 1, tails 0, 5: the second interrupts the first and ends
/// at 3, so the bound is 2 + 1 + 5 = 8.
OneMachineBound jacksonBound(const std::vector<Job> &jobs);

} // namespace braid::cost

#endif
