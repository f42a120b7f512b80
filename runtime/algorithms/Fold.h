//===- Fold.h - any number of ranks as a power of two ------------------------------------------------------------===//
//
// n = m + r ranks, m the largest power of two <= n. The first 2 r ranks are pairs of which only the odd one takes part in
// what follows; the even one hands its data over before and gets the result after. (Rabenseifner, 2004; MPICH.)
//
//   n = 5:   ranks       (0 1) 2 3 4        member v < r is rank 2 v + 1 and stands for two ranks,
//            members      0    1 2 3        else rank v + r
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_FOLD_H
#define BRAID_RUNTIME_ALGORITHMS_FOLD_H

#include "Builder.h"

namespace braid::algorithms {

struct Fold {
  int members, extra; ///< m, r

  explicit Fold(int ranks) : members(1 << floorLog2(ranks)), extra(ranks - members) {}
  /// Messages that the pairs add to the chain of one exchange over all log2 m distances. What an even rank hands over goes
  /// through one message more; a chain of log2 m further ones ends at the opposite member, which is one of a pair, and has one
  /// more to send, only where the pairs are more than half of the members.
  int pass() const { return (extra > 0) + (2 * extra > members); }
  bool folded(int rank) const { return rank < 2 * extra; }
  bool sitsOut(int rank) const { return folded(rank) && rank % 2 == 0; }
  int memberOf(int rank) const { return folded(rank) ? rank / 2 : rank - extra; }
  int rankOf(int member) const { return member < extra ? 2 * member + 1 : member + extra; }
  /// The first rank that a member stands for, or with `members`, n.
  int firstOf(int member) const { return member < extra ? 2 * member : member + extra; }
  /// Blocks of the ranks that `count` members from `first` on stand for.
  Range ranksOf(int first, int count) const {
    return blocksOf(firstOf(first), firstOf(first + count) - firstOf(first));
  }
};

} // namespace braid::algorithms

#endif
