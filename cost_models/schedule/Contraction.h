//===- Contraction.h - the dependence graph with each bucket as one node ----------------------------------------===//
// What bucketing and list scheduling share. The verifier shares none of it.
//
// Besides the operands there are two kinds of order:
//   segment  Barriers cut a block into segments; nothing leaves its segment. A barrier is a segment of its own.
//   chain    Ordered collectives and Nested tasks keep the program's order among themselves. This orders starts only:
//            the later one need not wait for the earlier one's end.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_SCHEDULE_CONTRACTION_H
#define BRAID_COST_MODELS_SCHEDULE_CONTRACTION_H

#include "braid/cost_models/Schedule.h"

namespace braid::cost {

/// The segment of each task, ascending in program order.
std::vector<int> segmentsOf(const Block &block);
/// The task before each one in the chain, or -1.
std::vector<int> chainOf(const Block &block);

/// Nodes 0 .. buckets-1 are the buckets, then every other task in program order.
struct Contraction {
  struct Node {
    int task = -1;    ///< or -1: a bucket
    int position = 0; ///< in the program: of the task, of a bucket's last member
    int segment = 0;
    bool blocking = false;      ///< a bucket that must be synchronous
    std::vector<int> operands;  ///< nodes whose results it reads
    std::vector<int> chain;     ///< nodes it must start after
    std::vector<int> readers;   ///< nodes that have it as operand
    std::vector<int> followers; ///< nodes that have it in their chain
  };
  const Block &block;
  std::vector<Bucket> buckets; ///< as given, and one for each collective that was in none
  std::vector<Node> nodes;
  std::vector<int> nodeOf; ///< task -> node

  Contraction(const Block &block, std::vector<Bucket> buckets);
  bool isBucket(int node) const { return node < int(buckets.size()); }

  /// Topological order that follows the program as far as the buckets allow. Shorter than `nodes` if there is a cycle.
  std::vector<int> programOrder() const;
};

} // namespace braid::cost

#endif
