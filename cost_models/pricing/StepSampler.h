//===- StepSampler.h - draws for one step after another ---------------------------------------------------------===//
//
// Sampling a schedule asks for the draws of the same few candidates in thousands of steps. What those of a candidate have in common is
// found out once, and those of a step when it begins; the numbers are those of Pricer::draw.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_STEPSAMPLER_H
#define BRAID_COST_MODELS_PRICING_STEPSAMPLER_H

#include "pricing/PricerState.h"

namespace braid::cost {

class StepSampler {
public:
  /// The pricer outlives it.
  StepSampler(const Pricer &pricer, uint64_t seed);

  /// A candidate, which outlives it, and its number.
  size_t add(const Candidate &candidate, Fabric fabric);
  /// Until the next one begins, no other pricer is asked on this thread.
  void begin(uint64_t job, uint64_t step);
  /// The time of candidate `number` as an operation of the step.
  Seconds draw(size_t number, uint64_t operation) {
    place.operation = operation;
    return state.draw(candidates[number], *kept, *row, place);
  }

private:
  Pricer::State &state;
  std::vector<Pricer::State::Prepared> candidates;
  DrawPlace place;
  StepDraws *kept = nullptr;
  StepDraws::Row *row = nullptr;
};

} // namespace braid::cost

#endif
