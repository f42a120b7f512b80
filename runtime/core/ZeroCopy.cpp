//===- ZeroCopy.cpp - can a step program run while its messages stay in the sender's buffer? ----------------------===//
//
// Executes the programs of all ranks without values: only how many messages each (source, target, channel) has sent and
// received. Lanes are independent, so any order of running them finds the same end.
//===------------------------------------------------------------------------------------------------------------===//
#include "core/ZeroCopy.h"
#include <map>
#include <tuple>

namespace braid::runtime {

using algorithms::Action;
using algorithms::Step;
using algorithms::StepProgram;

bool runsWithoutCopies(const std::vector<StepProgram> &programs, bool inPlace) {
  struct Stream {
    int64_t sent = 0, received = 0;
  };
  struct Lane {
    int rank;
    std::vector<const Step *> steps;
    size_t next = 0;
  };
  struct Chunk {
    bool written = false;
    std::map<int, int64_t> pending; ///< target -> number of its last message that has this chunk's memory
  };
  int ranks = int(programs.size());
  std::map<std::tuple<int, int, int>, Stream> streams;
  std::vector<Lane> lanes;
  std::vector<std::vector<Chunk>> chunks(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    chunks[rank].resize(size_t(programs[rank].own(0)));
    size_t first = lanes.size();
    for (int channel = 0; channel < programs[rank].channels; ++channel)
      lanes.push_back({rank, {}});
    for (const Step &step : programs[rank].steps)
      lanes[first + size_t(step.channel)].steps.push_back(&step);
  }
  auto ready = [&](const Lane &lane) {
    const Step &step = *lane.steps[lane.next];
    if (step.action == Action::Send)
      return true;
    if (step.action != Action::Combine) {
      const Stream &stream = streams[{step.peer, lane.rank, step.channel}];
      if (stream.received == stream.sent)
        return false;
    }
    for (int c = step.chunk; c < step.chunk + step.count; ++c)
      for (auto [target, number] : chunks[lane.rank][size_t(c)].pending)
        if (streams[{lane.rank, target, step.channel}].received < number)
          return false;
    return true;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (Lane &lane : lanes)
      for (; lane.next < lane.steps.size() && ready(lane); ++lane.next, moved = true) {
        const Step &step = *lane.steps[lane.next];
        if (step.action == Action::Send) {
          bool gathered = step.more || (lane.next > 0 && lane.steps[lane.next - 1]->more); // and so copied
          if (step.more)
            continue;
          int64_t number = ++streams[{lane.rank, step.peer, step.channel}].sent;
          for (int c = step.chunk; c < step.chunk + step.count && !gathered && !programs[lane.rank].isOwn(c); ++c)
            if (Chunk &chunk = chunks[lane.rank][size_t(c)]; inPlace || chunk.written)
              chunk.pending[step.peer] = number;
          continue;
        }
        if (step.action != Action::Combine && !step.more)
          ++streams[{step.peer, lane.rank, step.channel}].received;
        for (int c = step.chunk; c < step.chunk + step.count; ++c) {
          chunks[lane.rank][size_t(c)].written = true;
          chunks[lane.rank][size_t(c)].pending.clear();
        }
      }
  }
  for (const Lane &lane : lanes)
    if (lane.next < lane.steps.size())
      return false;
  return true;
}

} // namespace braid::runtime
