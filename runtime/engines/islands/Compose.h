//===- Compose.h - a collective on islands, as collectives inside them and between them -------------------------------------===//
//
//                 inside each island, by its engine      between islands, by Braid                    inside again
//   all_reduce    reduce to the leader                   leaders: all_reduce                          broadcast
//   reduce        reduce to the leader                   leaders: reduce                              leader to root
//   reduce_scatter reduce to the leader                  leaders: all_reduce                          scatter
//   all_gather    gather at the leader                   leaders: a broadcast of each island's blocks broadcast
//   broadcast     on the root's island                   leaders: broadcast                           elsewhere: broadcast
//   gather        gather at the leader                   leaders: to the root's                       leader to root
//   scatter       root to leader                         leaders: from the root's                     scatter
//   all_to_all    blocks between neighbours              all ranks: the other blocks
//   permute       pairs of neighbours                    all ranks: the other pairs
//   barrier       barrier                                leaders: barrier                             barrier
//   send, recv    between neighbours                     else
//
// All leaders have the bytes of one all_reduce, and broadcasts copy: all ranks hold the same bytes.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ENGINES_ISLANDS_COMPOSE_H
#define BRAID_RUNTIME_ENGINES_ISLANDS_COMPOSE_H

#include "core/Request.h"
#include "engines/islands/Layout.h"

namespace braid::runtime::islands {

/// Elements of a program's buffer. Of tensor i: 2 i the operand, 2 i + 1 the result; then scratch.
struct Place {
  int buffer = -1; ///< none; to copy from: zeros
  size_t at = 0;
};

enum Who { Neighbours, Leaders, Everybody };

/// A copy, or a collective of those ranks.
struct Step {
  bool copies = false;
  Who who = Neighbours;
  Place send, receive;                    ///< of a copy: from, to
  size_t sendCount = 0, receiveCount = 0; ///< elements
  braid_collective collective = BRAID_BARRIER;
  int root = 0, peer = 0, tag = 0;
  std::vector<int32_t> pairs;
  std::vector<size_t> sendCounts, receiveCounts; ///< ragged
};

struct Program {
  std::vector<Step> steps;     ///< of this rank, one after another
  std::vector<size_t> scratch; ///< elements of each buffer after the tensors'
};

/// The steps of this rank. Those of one communicator are the same on all its ranks, and in one order.
Program compose(const Request &request, const Layout &layout);

} // namespace braid::runtime::islands

#endif
