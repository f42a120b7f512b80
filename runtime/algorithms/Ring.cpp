//===- Ring.cpp - ring all_reduce, reduce_scatter, all_gather and broadcast -------------------------------------===//
//
// Each rank sends only to the next one and receives only from the one before, cyclically, in the order asked for
// (StepOptions::order; else that of the ranks). Optimal in bytes on the wire for any number of ranks; the chain of messages
// grows with n. (Patarasuk and Yuan, 2009.)
//
// With n ranks and k channels the buffer has n blocks of k chunks; channel j owns chunk j of each block, a ring of its own.
// b(p) is the block of the rank at place p: that rank's own.
//
//   reduce_scatter  step s = 0 .. n-2: place p sends b(p-1-s) and combines b(p-2-s), so that b(p) is complete at place p
//   all_gather      step s = 0 .. n-2: place p sends b(p-s) and receives b(p-1-s)
//   all_reduce      the one, then the other
//   broadcast       a chain from the root, in k shares of `segments` chunks each; a chunk is passed on as soon as it is there
//
//                   steps (chain of messages)   chunks on the wire, all ranks   bytes sent per rank of a buffer of m bytes
//   reduce_scatter  n-1                         k n (n-1)                       m (n-1)/n
//   all_gather      n-1                         k n (n-1)                       m (n-1)/n
//   all_reduce      2 (n-1)                     2 k n (n-1)                     2 m (n-1)/n
//   broadcast       n-1                         k segments (n-1)                m (the last rank of the chain: 0)
//
// Worked example, reduce_scatter, n = 3, k = 1; a1 is rank 0's operand in block 1, b rank 1's, c rank 2's; [x] is sent
// next:
//
//              rank 0                  rank 1                  rank 2
//   at first   a0    a1    [a2]        [b0]  b1    b2          c0    [c1]  c2
//   s = 0      a0   [c1+a1] a2         b0    b1   [a2+b2]     [b0+c0] c1   c2
//   s = 1      b0+c0+a0 ...            ... c1+a1+b1 ...        ...  a2+b2+c2
//
// Each sum is made in one order, on the way around the ring, and then copied: all ranks hold the same bytes.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Order.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && (collective == Collective::AllReduce || collective == Collective::ReduceScatter ||
                        collective == Collective::AllGather || collective == Collective::Broadcast);
}

/// n-1 steps in which the rank at `place` sends the block of place `first` - s and takes the one before that.
static void turn(StepProgram &program, const Order &order, int place, int first, Action take) {
  int n = program.ranks, k = program.channels;
  int next = order.rankAt((place + 1) % n), previous = order.rankAt((place + n - 1) % n);
  for (int s = 0; s < n - 1; ++s) {
    int sentPlace = ((first - s) % n + n) % n;
    int sent = order.rankAt(sentPlace), taken = order.rankAt((sentPlace + n - 1) % n);
    for (int channel = 0; channel < k; ++channel)
      program.steps.push_back({Action::Send, next, sent * k + channel, 1, channel});
    for (int channel = 0; channel < k; ++channel)
      program.steps.push_back({take, previous, taken * k + channel, 1, channel});
  }
}

static void chain(StepProgram &program, const Order &order, int place, const StepOptions &options) {
  int n = program.ranks;
  int position = (place - order.placeOf(options.root) + n) % n;
  int next = order.rankAt((place + 1) % n), previous = order.rankAt((place + n - 1) % n);
  for (int segment = 0; segment < options.segments; ++segment)
    for (int channel = 0; channel < options.channels; ++channel) {
      int chunk = channel * options.segments + segment;
      if (position > 0)
        program.steps.push_back({Action::Receive, previous, chunk, 1, channel});
      if (position < n - 1)
        program.steps.push_back({Action::Send, next, chunk, 1, channel});
    }
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  StepProgram result;
  result.collective = collective;
  result.ranks = ranks;
  result.channels = options.channels;
  result.chunks = options.channels * (collective == Collective::Broadcast ? options.segments : ranks);
  Order order(ranks, options);
  int place = order.placeOf(rank);
  if (collective == Collective::Broadcast) {
    chain(result, order, place, options);
    return result;
  }
  if (collective != Collective::AllGather)
    turn(result, order, place, place - 1, Action::ReceiveReduce);
  if (collective != Collective::ReduceScatter)
    turn(result, order, place, place, Action::Receive);
  return result;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  return int64_t(collective == Collective::AllReduce ? 2 : 1) * (ranks - 1);
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  if (collective == Collective::Broadcast)
    return int64_t(options.channels) * options.segments * (ranks - 1);
  return steps(collective, ranks, options) * ranks * options.channels;
}

Algorithm ring() { return {"ring", serves, program, steps, wireChunks, Needs::Nothing, true}; }

} // namespace braid::algorithms
