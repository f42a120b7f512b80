//===- Prove.cpp - all programs through the checker, and broken ones too ----------------------------------------===//
#include "test/algorithms/Cases.h"
#include "test/algorithms/Checks.h"
#include <cstdio>
#include <cstdlib>
#include <set>

namespace braid::test {

static int proveAll() {
  int64_t programsMade = 0, sets = 0;
  std::set<std::string> served;
  std::vector<int> sizes;
  for (int ranks = 1; ranks <= 33; ++ranks)
    sizes.push_back(ranks);
  sizes.insert(sizes.end(), {64, 100, 128});
  for (int ranks : sizes)
    for (const Algorithm &algorithm : registry())
      for (Collective collective : collectives) {
        if (!algorithm.serves(collective, ranks))
          continue;
        served.insert(algorithm.name + " " + name(collective));
        for (const StepOptions &options : optionsFor(algorithm, collective, ranks)) {
          std::vector<StepProgram> made = programs(algorithm, collective, ranks, options);
          std::string problem = check(collective, ranks, made, options);
          int64_t wire = countWireChunks(made), chain = longestChain(made);
          int64_t wireSaid = algorithm.wireChunks(collective, ranks, options);
          int64_t chainSaid = algorithm.steps(collective, ranks, options);
          if (wire != wireSaid)
            problem += " chunks on the wire: expected " + std::to_string(wireSaid) + ", got " + std::to_string(wire);
          if (chain != chainSaid)
            problem += " steps: expected " + std::to_string(chainSaid) + ", got " + std::to_string(chain);
          if (!problem.empty()) {
            std::printf("FAILS: %s %s on %d ranks, %d channels, %d segments: %s\n", algorithm.name.c_str(),
                        name(collective), ranks, options.channels, options.segments, problem.c_str());
            return 1;
          }
          ++sets;
          programsMade += int64_t(made.size());
        }
      }
  std::printf(
      "%zu algorithms, %zu with their collectives: %lld programs in %lld sets proven on 1 to 33, 64, 100, 128 ranks, "
      "steps and bytes as their files say\n",
      registry().size(), served.size(), (long long)programsMade, (long long)sets);
  return 0;
}

/// Breaks one step; false: it has no such defect to offer.
static bool sabotage(std::vector<StepProgram> &programs, size_t rank, size_t index, int defect) {
  std::vector<Step> &steps = programs[rank].steps;
  Step &step = steps[index];
  bool receives = step.action == Action::Receive || step.action == Action::ReceiveReduce;
  switch (defect) {
  case 0: // a step is missing
    if (step.more || (index > 0 && steps[index - 1].more))
      return false;
    steps.erase(steps.begin() + long(index));
    return true;
  case 1: // adds what it should take, or takes what it should add
    step.action = step.action == Action::Receive ? Action::ReceiveReduce : Action::Receive;
    return receives;
  case 2: // lands one chunk further, or one before
    if (!receives || programs[rank].own(0) < 2)
      return false;
    step.chunk += step.chunk + step.count < programs[rank].own(0) ? 1 : -1;
    return step.chunk >= 0;
  default: // adds its own operand once more
    if (step.action != Action::ReceiveReduce || step.chunk >= programs[rank].chunks || step.more)
      return false;
    steps.insert(steps.begin() + long(index) + 1, {Action::Combine, int(rank), step.chunk, step.count, step.channel});
    return rank < size_t(programs[rank].ranks);
  }
}

static int proveBroken() {
  int64_t planted = 0;
  for (const Algorithm &algorithm : registry())
    for (Collective collective : collectives)
      for (int ranks : {2, 3, 6, 8, -2, -3, -6, -8}) { // negative: blocks that differ in size
        bool ragged = ranks < 0;
        ranks = std::abs(ranks);
        if (!algorithm.serves(collective, ranks) || collective == Collective::Barrier ||
            (ragged && !(algorithm.hops && collective == Collective::AllToAll)))
          continue;
        StepOptions options;
        options.ragged = ragged;
        if (algorithm.needs == Needs::Switches)
          options.switches = std::vector<int>(size_t(ranks), 0);
        if (algorithm.needs == Needs::Topology)
          options.packed = packedFor(collective, ranks, true);
        std::vector<StepProgram> good = programs(algorithm, collective, ranks, options);
        for (size_t rank = 0; rank < good.size(); ++rank)
          for (size_t index = 0; index < good[rank].steps.size(); ++index)
            for (int defect = 0; defect < 4; ++defect) {
              std::vector<StepProgram> bad = good;
              if (!sabotage(bad, rank, index, defect))
                continue;
              ++planted;
              if (check(collective, ranks, bad, options).empty()) {
                std::printf("FAILS: accepted: %s %s on %d ranks with defect %d in step %zu of rank %zu\n",
                            algorithm.name.c_str(), name(collective), ranks, defect, index, rank);
                return 1;
              }
            }
      }
  std::printf("%lld planted defects, all rejected\n", (long long)planted);
  return 0;
}

int prove(bool control) { return control ? proveBroken() : proveAll(); }

} // namespace braid::test
