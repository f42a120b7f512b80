//===- Order.h - the order in which a ring or chain visits the ranks ---------------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_ORDER_H
#define BRAID_RUNTIME_ALGORITHMS_ORDER_H

#include "braid/runtime/algorithms/StepProgram.h"

namespace braid::algorithms {

/// StepOptions::order as a permutation of the ranks; 0, 1, ... where there is none for this many.
class Order {
public:
  Order(int ranks, const StepOptions &options) : given(int(options.order.size()) == ranks ? &options.order : nullptr) {}
  int rankAt(int place) const { return given ? (*given)[place] : place; }
  int placeOf(int rank) const {
    int place = given ? 0 : rank;
    while (given && (*given)[place] != rank)
      ++place;
    return place;
  }

private:
  const std::vector<int> *given;
};

} // namespace braid::algorithms

#endif
