//===- PipelinedChain.cpp - broadcast, reduce and all_reduce along a chain of ranks ------------------------------===//
//
// The ranks stand in a line from the root on, in the order asked for, cyclically. A buffer in S segments moves along it, each
// segment one link behind the one before: every link carries every byte once, so that for large buffers the time is that
// of one link, however many ranks there are.
//
//   broadcast   from the root to the last
//   reduce      from the last to the root; each adds its own
//   all_reduce  to the first rank and back. A rank at place d has the round trip to place 0, 2 d messages, ahead of it: it
//               handles segment i on the way there together with segment i - 2d on the way back (DoubleBinaryTree.cpp)
//
// k channels of S chunks. With h = n-1; S - 1 = q (2h + 1) + t, 0 <= t <= 2h:
//
//                      steps (chain of messages)               chunks on the wire   bytes sent per rank, buffer of m bytes
//   broadcast, reduce  n-1                                     k S (n-1)            m, the last of the line 0
//   all_reduce         2h + 2h q + 2 floor(max(t - 1, 0) / 2)  2 k S (n-1)          2 m, the ends m
//
// Worked example, all_reduce, n = 3, S = 1: rank 2 sends c to 1, which sends c+b to 0, which sends (c+b)+a back to 1, and that
// to 2: 4 messages.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Builder.h"
#include "Order.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) {
  return ranks >= 1 && (collective == Collective::Broadcast || collective == Collective::Reduce ||
                        collective == Collective::AllReduce);
}

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  int n = ranks, S = options.segments;
  Builder builder(collective, n, S, options.channels);
  Order order(n, options);
  int start = collective == Collective::AllReduce ? 0 : order.placeOf(options.root);
  int place = (order.placeOf(rank) - start + n) % n; // in the line
  bool first = place == 0, last = place == n - 1;
  auto at = [&](int other) { return order.rankAt((other + start) % n); };
  auto in = [&](int segment) { // towards the root
    if (!last)
      builder.message(Action::ReceiveReduce, at(place + 1), blocksOf(segment));
    if (!first)
      builder.message(Action::Send, at(place - 1), blocksOf(segment));
  };
  auto out = [&](int segment) {
    if (!first)
      builder.message(Action::Receive, at(place - 1), blocksOf(segment));
    if (!last)
      builder.message(Action::Send, at(place + 1), blocksOf(segment));
  };
  int lag = collective == Collective::AllReduce ? 2 * place : 0;
  for (int64_t i = 0; i < int64_t(S) + lag; ++i) {
    if (i < S && collective != Collective::Broadcast)
      in(int(i));
    if (i >= lag && collective != Collective::Reduce)
      out(int(i) - lag);
  }
  return builder.program;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) {
  if (collective != Collective::AllReduce || ranks == 1)
    return ranks - 1;
  int64_t h = ranks - 1, q = (options.segments - 1) / (2 * h + 1), t = (options.segments - 1) % (2 * h + 1);
  return 2 * h + 2 * h * q + 2 * (t > 1 ? (t - 1) / 2 : 0);
}

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return int64_t(collective == Collective::AllReduce ? 2 : 1) * options.channels * options.segments * (ranks - 1);
}

Algorithm pipelinedChain() { return {"pipelined_chain", serves, program, steps, wireChunks, Needs::Nothing, true}; }

} // namespace braid::algorithms
