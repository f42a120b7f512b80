//===- Gradients.h - what a data-parallel step reduces, and where it reads its parameters -----------------------===//
//
// Systems that shard parameters, gradients or the optimizer's state (FSDP, ZeRO) run another set of collectives than the
// program says. What they make of it follows from its gradients:
//
//   gradient     an all_reduce on whose result no other collective depends, over a group that mostly all-reduces such: sums
//                of activations (tensor parallelism) are not gradients. A collective of one element (a loss) is none either.
//   maker        the computation that gives the gradient
//   update       everything that depends on a reduced gradient
//   turn         the first maker in the text: what stands before it is the forward pass, the rest the backward pass
//
// Each gradient has a parameter of as many bytes. The plain problem does not say which tasks read it. Backward: what runs
// behind the maker of the gradient before, up to its own. Forward: passes mirror each other, so a parameter's share of the
// time before the turn is its share of the time behind it, in reverse order.
//
//   time        0      2      4   6 (turn)  10          16
//   text        |  forward        | maker c | makers b, a |       c took 4 of 10 behind the turn, a and b 3 each:
//   reads       | a   | b   | c   |                               forward a from 0, b from 1.8, c from 3.6
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SCHEDULE_GRADIENTS_H
#define BRAID_COST_MODELS_SCHEDULE_GRADIENTS_H

#include "braid/cost_models/Systems.h"

namespace braid::cost {

struct Gradient {
  int collective = -1; ///< task
  int maker = -1;      ///< task; -1: an argument
  CollectiveSpec spec;
  int ranks = 1;
  int64_t elements = 0;
  int forward = 0;  ///< first task that reads the parameter in the forward pass
  int backward = 0; ///< first one in the backward pass; `maker` is the last
};

/// Of the one block that has gradients; it runs once.
struct DataParallelStep {
  int block = -1;
  std::vector<Gradient> gradients; ///< in the order of their makers
  int turn = 0;
  std::vector<char> reduction; ///< of each task: is a gradient's collective
  std::vector<char> update;    ///< of each task: depends on one
};

/// Errors say why a system for data parallelism has nothing to do in this program.
Result<DataParallelStep> dataParallelStep(const Program &program);

} // namespace braid::cost

#endif
