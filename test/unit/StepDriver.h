//===- StepDriver.h - one rank's step program, driven over a transport ------------------------------------------===//
//
// The least that executes a step program: no planning, no types, floats or no data at all. Tests compare the emulated fabric
// with the model's player by it.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_UNIT_STEPDRIVER_H
#define BRAID_TEST_UNIT_STEPDRIVER_H

#include "braid/runtime/algorithms/StepProgram.h"
#include "transports/Transport.h"
#include <memory>
#include <vector>

namespace braid::test {

class StepDriver {
public:
  /// `group`: the peers that the program's ranks are. The program's channels use lanes from `firstLane` on. `data`: the buffer
  /// of chunks x chunkBytes, floats; null: the bytes of messages are never touched.
  StepDriver(runtime::Transport &transport, algorithms::StepProgram program, std::vector<int> group, size_t chunkBytes,
             int firstLane, float *data = nullptr);

  /// From the first step, at the place of `operation` in `step`.
  void begin(uint64_t step, uint64_t operation);
  /// Executes what can be executed now; true: something was.
  bool advance();
  bool done() const { return unfinished == 0; }
  int channels() const { return program.channels; }

private:
  struct Lane {
    std::vector<const algorithms::Step *> steps;
    size_t next = 0;
    size_t taken = 0;     ///< floats of a message whose first pieces were taken
    double busyUntil = 0; ///< reducing; 0: not
    bool finished = false;
  };
  bool advanceLane(int channel);
  float *at(int chunk);
  size_t send(int channel, const Lane &lane);
  void combine(const algorithms::Step &step, const float *theirs, bool add);

  runtime::Transport &transport;
  runtime::Clock *const clock;
  const algorithms::StepProgram program;
  const std::vector<int> group;
  const size_t chunkBytes;
  const int firstLane;
  float *const data;
  std::vector<float> own;     ///< what the buffer held at first
  std::vector<float> scratch; ///< the program's
  std::vector<Lane> lanes;
  int unfinished = 0;
  std::vector<std::unique_ptr<char[]>> copies; ///< of chunks that were sent: a send takes the value of the moment
};

} // namespace braid::test

#endif
