//===- BinaryBlocks.cpp - halving and doubling in blocks of ranks that are powers of two -------------------------===//
//
// The other way to deal with a number of ranks that is no power of two: n = 2^b1 + 2^b2 + ..., b1 > b2 > ... (the ones of n).
// The ranks are dealt in blocks of these sizes, in order. m = 2^b1.
//
//   1. inside each block, reduce_scatter by halves: rank i of a block of size s holds part i of s, m/s chunks
//   2. the smallest block sends its sums to the next larger one, each rank to those ranks that hold smaller pieces of its
//      part; that one adds them to its own and sends on, until the largest block has the sums of all ranks
//   3. back: the largest block gives each piece to the next smaller one, which gives them on
//   4. inside each block, all_gather by doubling
//
// No rank sits out and nothing is sent twice, so that the chain is that of the largest block alone: step 2 is done before
// the larger block is. (Rabenseifner and Traeff, 2004; Gloo.)
//
// k channels of m chunks.
//
//               steps (chain of messages)   chunks on the wire   bytes sent per rank of a buffer of M bytes
//   all_reduce  2 floor(log2 n)             2 k m (n-1)          2 M (m-1)/m about; the smallest block of one rank: M
//
// Worked example, n = 3, blocks {0, 1} {2}, operands a b c, chunks 0 1: ranks 0 and 1 exchange: 0 has (b+a).0, 1 has (a+b).1;
// rank 2 sends c.0 to 0 and c.1 to 1, gets the sums c+(b+a) from both; 0 and 1 exchange theirs.
//===------------------------------------------------------------------------------------------------------------===//
#include "Algorithms.h"
#include "Builder.h"

namespace braid::algorithms {

static bool serves(Collective collective, int ranks) { return ranks >= 1 && collective == Collective::AllReduce; }

static StepProgram program(Collective collective, int ranks, int rank, const StepOptions &options) {
  int m = 1 << floorLog2(ranks);
  Builder builder(collective, ranks, m, options.channels);
  // The block of this rank, the next larger and the next smaller one: first rank and size.
  int first = 0, size = m, largerFirst = 0, larger = 0;
  while (rank >= first + size) {
    largerFirst = first;
    larger = size;
    first += size;
    size = 1 << floorLog2(ranks - first);
  }
  int smallerFirst = first + size, smaller = ranks > smallerFirst ? 1 << floorLog2(ranks - smallerFirst) : 0;
  int me = rank - first;
  auto part = [&](int index, int of) { return blocksOf(index * (m / of), m / of); }; // of `of` equal parts
  auto inside = [&](Action take, int distance, int given, int taken) { // parts in units of `distance` ranks
    builder.message(Action::Send, first + (me ^ distance), part(given, size / distance));
    builder.message(take, first + (me ^ distance), part(taken, size / distance));
  };
  for (int distance = size / 2; distance >= 1; distance /= 2)
    inside(Action::ReceiveReduce, distance, (me ^ distance) / distance, me / distance);
  if (smaller)
    builder.message(Action::ReceiveReduce, smallerFirst + me / (size / smaller), part(me, size));
  int fan = larger ? larger / size : 0; // ranks of the larger block for one of this
  for (int i = 0; i < fan; ++i)
    builder.message(Action::Send, largerFirst + me * fan + i, part(me * fan + i, larger));
  for (int i = 0; i < fan; ++i)
    builder.message(Action::Receive, largerFirst + me * fan + i, part(me * fan + i, larger));
  if (smaller)
    builder.message(Action::Send, smallerFirst + me / (size / smaller), part(me, size));
  for (int distance = 1; distance < size; distance *= 2)
    inside(Action::Receive, distance, me / distance, (me ^ distance) / distance);
  return builder.program;
}

static int64_t steps(Collective collective, int ranks, const StepOptions &options) { return 2 * floorLog2(ranks); }

static int64_t wireChunks(Collective collective, int ranks, const StepOptions &options) {
  return 2 * int64_t(options.channels) * (int64_t(1) << floorLog2(ranks)) * (ranks - 1);
}

Algorithm binaryBlocks() { return {"binary_blocks", serves, program, steps, wireChunks}; }

} // namespace braid::algorithms
