//===- Stages.h - ranks that run different programs and send each other messages -----------------------------------===//
//
// The stages of a pipeline. Each has a program and a schedule of its own, played by the same rules as any (Schedule.h); messages tie
// them together. A message is two collectives of the plain problem, a permute on either side: where the sender starts its one the
// message leaves, and `time` later it is there; the receiver's ends then, or where it begins if that is later. Sending keeps
// no channel busy, for messages of a pipeline are small beside the time between them.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_STAGES_H
#define BRAID_COST_MODELS_STAGES_H

#include "braid/cost_models/Schedule.h"

namespace braid::cost {

/// Of one entry block each; nested blocks hold no messages.
struct Stage {
  Program program;
  Schedule schedule;
};

/// From a collective of one stage's entry block to one of another's.
struct Message {
  int from = 0, sent = 0;   ///< stage, task
  int to = 0, received = 0; ///< stage, task
  Seconds time;
};

struct StagesPlayed {
  Seconds total;              ///< until the last stage has ended
  std::vector<Played> stages; ///< without timelines
};

/// One step of all stages, without noise. Errors: a bucket of several messages; stages that wait for each other.
/// Cost: m micro-batches on p stages are played in about m + p rounds of all stages.
Result<StagesPlayed> playStages(const std::vector<Stage> &stages, const std::vector<Message> &messages,
                                const Pricer &pricer);

} // namespace braid::cost

#endif
