//===- Completion.cpp - where in its step program a sum becomes complete ------------------------------------------===//
#include "core/Completion.h"
#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace braid::runtime {

using algorithms::Action;
using algorithms::Step;
using algorithms::StepProgram;

std::vector<bool> completingSteps(const std::vector<StepProgram> &programs, int me) {
  int ranks = int(programs.size());
  for (const StepProgram &program : programs)
    if (program.ranks != ranks) // helpers, which may complete sums, do not divide
      return {};
  std::map<std::tuple<int, int, int>, std::deque<int>> wires; ///< of a (source, target, channel): chunks in their order
  std::vector<std::vector<int>> operands(programs.size());    ///< rank, chunk -> how many it holds
  std::vector<std::vector<bool>> completes(programs.size());
  struct Lane {
    int rank;
    std::vector<size_t> steps;
    size_t next = 0;
  };
  std::vector<Lane> lanes;
  for (int rank = 0; rank < ranks; ++rank) {
    const StepProgram &program = programs[size_t(rank)];
    operands[size_t(rank)].assign(size_t(program.end()), 1); // scratch is written before it is read
    completes[size_t(rank)].assign(program.steps.size(), false);
    size_t first = lanes.size();
    for (int channel = 0; channel < program.channels; ++channel)
      lanes.push_back({rank, {}});
    for (size_t i = 0; i < program.steps.size(); ++i)
      lanes[first + size_t(program.steps[i].channel)].steps.push_back(i);
  }
  bool whole = true;
  auto execute = [&](int rank, size_t index) {
    const Step &step = programs[size_t(rank)].steps[index];
    int *held = operands[size_t(rank)].data() + step.chunk;
    if (step.action == Action::Send) {
      auto &wire = wires[{rank, step.peer, step.channel}];
      wire.insert(wire.end(), held, held + step.count);
      return true;
    }
    std::vector<int> arrived(size_t(step.count), 1); // Combine: this rank's own operand
    if (step.action != Action::Combine) {
      auto &wire = wires[{step.peer, rank, step.channel}];
      if (wire.size() < arrived.size())
        return false;
      std::copy(wire.begin(), wire.begin() + step.count, arrived.begin());
      wire.erase(wire.begin(), wire.begin() + step.count);
    }
    int complete = 0;
    for (int c = 0; c < step.count; ++c) {
      bool receives = step.action == Action::Receive;
      held[c] = arrived[size_t(c)] + (receives ? 0 : held[c]);
      complete += !receives && held[c] == ranks;
    }
    completes[size_t(rank)][index] = complete > 0;
    whole &= complete == 0 || complete == step.count;
    return true;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (Lane &lane : lanes)
      for (; lane.next < lane.steps.size() && execute(lane.rank, lane.steps[lane.next]); ++lane.next)
        moved = true;
  }
  return whole ? completes[size_t(me)] : std::vector<bool>();
}

} // namespace braid::runtime
