//===- Instances.h - scheduling problems for the oracle, by seed ---------------------------------------------------===//
//
// What people run, with random sizes: the structure is that of training steps, the sizes of layers are lognormal. Durations
// of kernels are scaled so that the busier channel's load (each collective alone, at its cheapest) is between a third and three
// times the computation: contested. An instance depends on its seed alone.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_TEST_ORACLE_INSTANCES_H
#define BRAID_TEST_ORACLE_INSTANCES_H

#include "braid/cost_models/Schedule.h"

namespace braid::oracle {

struct Instance {
  std::string name; ///< family and seed
  cost::Program program;
  double contention = 0; ///< load of the busier channel / computation
};

/// 20 to 300 tasks, no collective may share a bucket: the order is the decision. Families, by seed: data parallel (input and
/// weight gradients, updates), tensor parallel in two half batches with data parallel gradients, sharded parameters (gathers,
/// reduce_scatters), mixture of experts (all_to_all in two half batches, data parallel gradients).
Instance orderInstance(uint64_t seed, const cost::Pricer &pricer);

/// 4 to 12 collectives that may share buckets by their keys: buckets, algorithms and order are decisions.
Instance bucketInstance(uint64_t seed, const cost::Pricer &pricer);

/// At most `tasks` random tasks of any structure, small enough to enumerate.
Instance tinyInstance(uint64_t seed, const cost::Pricer &pricer, int tasks);

} // namespace braid::oracle

#endif
