//===- Measure.h - what a run measures: its timeline, and a profile of its computation ----------------*- C++ -*-===//
//
// A module that was compiled with marks (braid-mark-compute) says what it computes and when its collectives are in flight; each
// rank writes that down, rank 0 gathers it after the last step.
//
// Clocks: times are the communicator's (braid_now). Ranks of one host share the machine's monotonic clock, ranks of an emulated
// fabric its clock; a rank of another real host is shifted so that its first step begins with rank 0's.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUN_MEASURE_H
#define BRAID_RUN_MEASURE_H

#include "../braid-doctor/RunCounters.h"
#include "Compile.h"
#include "Runtime.h"

namespace braid::run {

struct MeasureOptions {
  std::string timeline, profile; ///< files to write, or empty
  std::string fabric;            ///< of the emulated transport: path, or empty
  int steps = 0, warmUp = 0;     ///< steps that do not count, at the start
  bool wanted() const { return !timeline.empty() || !profile.empty(); }
};

/// One rank's record.
class Measurement {
public:
  Measurement(const Runtime &runtime, braid_comm *comm, const Program &program, const MeasureOptions &options,
              doctor::RunCounters &counters)
      : runtime(runtime), comm(comm), program(program), options(options), counters(counters) {}

  void begin();     ///< the first step follows
  void stepEnded(); ///< right after the module has returned
  /// Gathers and, on rank 0, writes. Returns an error or "".
  std::string finish();

private:
  const Runtime &runtime;
  braid_comm *comm;
  const Program &program;
  const MeasureOptions &options;
  doctor::RunCounters &counters;
  std::string text;
  int step = 0;
};

} // namespace braid::run

#endif
