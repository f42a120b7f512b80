//===- NaiveExchange.cpp - everybody sends everything that is wanted straight to those who want it --------------===//
//
// One message per pair and no forwarding: the shortest chain there is. Best where messages are small, or where a message
// is read from the sender's memory and moves nothing (shared memory). The messages grow with n squared, so it serves at
// most 64 ranks.
//
//   all_reduce      each rank sends its operand to all others and adds all operands itself, in the order of the ranks:
//                   every rank evaluates ((x0 + x1) + x2) + ..., so that all hold the same bytes
//   reduce_scatter  block b of each rank goes to rank b, which adds them: its own, then rank b-1's, b-2's, ...
//   all_gather, all_to_all, broadcast, reduce, gather, scatter: each block goes straight to where it is wanted
//   barrier         a message without bytes to all others
//
// A ragged all_to_all is the same, of blocks of any sizes: each travels once, and a rank needs to know only its own sizes.
//
// k channels: each block is k chunks (all_reduce, broadcast, reduce: the buffer is k chunks). A barrier uses one.
//
//                   steps (chain of messages)   chunks on the wire   bytes sent per rank of a buffer of m bytes
//   all_reduce      1                           k n (n-1)            m (n-1)
//   reduce_scatter  1                           k n (n-1)            m (n-1)/n
//   all_gather      1                           k n (n-1)            m (n-1)/n
//   all_to_all      1                           k n (n-1)            m (n-1)/n
//   broadcast       1                           k (n-1)              root: m (n-1)
//   reduce          1                           k (n-1)              m, root: 0
//   gather          1                           k (n-1)              m/n, root: 0
//   scatter         1                           k (n-1)              root: m (n-1)/n
//   barrier         1                           n (n-1)              0
//
// Worked example, all_reduce, n = 3, rank 2: send c0->0, send c0->1, receive c0<-0, reduce c0<-1 (x0 + x1), combine own.
// Rank 1: send, send, reduce c0<-0 (x0 + x1: additions commute, so that its own may be there first), reduce c0<-2.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"

namespace braid::algorithms {

constexpr int mostRanks = 64;

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && ranks <= mostRanks && collective != Collective::Permute;
}

/// Adds `action` on the `count` chunks of each channel from `first` on.
static void add(StepProgram &program, Action action, int peer, int first) {
  for (int channel = 0; channel < program.channels; ++channel)
    program.steps.push_back({action, peer, first + channel, 1, channel});
}

/// x0 + x1 + ... in the order of the ranks.
static void sumInOrder(StepProgram &program, int rank) {
  for (int peer = 0; peer < program.ranks; ++peer) {
    if (peer == rank) {
      if (rank >= 2) // ranks 0 and 1 start with their own operand
        add(program, Action::Combine, rank, 0);
    } else {
      add(program, peer == 0 && rank >= 2 ? Action::Receive : Action::ReceiveReduce, peer, 0);
    }
  }
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  StepProgram result;
  int n = ranks, k = collective == Collective::Barrier ? 1 : options.channels;
  bool blocks = collective == Collective::ReduceScatter || collective == Collective::AllGather ||
                collective == Collective::AllToAll || collective == Collective::Gather ||
                collective == Collective::Scatter;
  result.collective = collective;
  result.ranks = n;
  result.channels = k;
  result.chunks = blocks ? n * k : k;
  result.ragged = options.ragged;
  int root = options.root;
  bool toRoot = collective == Collective::Reduce || collective == Collective::Gather;
  bool fromRoot = collective == Collective::Broadcast || collective == Collective::Scatter;
  bool reduces =
      collective == Collective::ReduceScatter || collective == Collective::Reduce || collective == Collective::Barrier;
  bool theirs = collective == Collective::ReduceScatter || collective == Collective::AllToAll ||
                collective == Collective::Scatter;   // what goes to a rank is that rank's block
  for (int distance = 1; distance < n; ++distance) { // everyone starts with another target
    int peer = (rank + distance) % n;
    if ((toRoot && peer != root) || (fromRoot && rank != root))
      continue;
    int block = !blocks ? 0 : (theirs ? peer : rank) * k;
    add(result, Action::Send, peer, result.ragged ? result.own(block) : block);
  }
  if (collective == Collective::AllReduce) {
    sumInOrder(result, rank);
    return result;
  }
  bool mine = collective == Collective::ReduceScatter || collective == Collective::Scatter;
  for (int distance = 1; distance < n; ++distance) {
    int peer = (rank - distance + n) % n;
    if ((fromRoot && peer != root) || (toRoot && rank != root))
      continue;
    add(result, reduces ? Action::ReceiveReduce : Action::Receive, peer, !blocks ? 0 : (mine ? rank : peer) * k);
  }
  return result;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) { return ranks > 1; }

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  int64_t n = ranks;
  switch (collective) {
  case Collective::Broadcast:
  case Collective::Reduce:
  case Collective::Gather:
  case Collective::Scatter:
    return options.channels * (n - 1);
  case Collective::Barrier:
    return n * (n - 1);
  default:
    return options.channels * n * (n - 1);
  }
}

static int64_t hops(int ranks, int source, int target, const StepOptions &options) { return source != target; }

Algorithm naiveExchange() {
  return {"naive_exchange", serves, program, steps, wireChunks, Needs::Nothing, false, hops};
}

} // namespace braid::algorithms
