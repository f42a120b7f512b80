//===- Order.h - the order in which a ring, chain or tree takes the ranks ----------------------------------------===//
#ifndef BRAID_RUNTIME_ALGORITHMS_ORDER_H
#define BRAID_RUNTIME_ALGORITHMS_ORDER_H

#include "Hosts.h"

namespace braid::algorithms {

/// StepOptions::order or byHosts as a permutation of the ranks; 0, 1, ... where there is neither for this many.
class Order {
public:
  Order(int ranks, const StepOptions &options) {
    if (int(options.order.size()) == ranks)
      places = options.order;
    else if (options.byHosts && int(options.hosts.size()) == ranks)
      for (const std::vector<int> &host : Hosts(ranks, options).members)
        places.insert(places.end(), host.begin(), host.end());
  }
  int rankAt(int place) const { return places.empty() ? place : places[place]; }
  int placeOf(int rank) const {
    int place = places.empty() ? rank : 0;
    while (!places.empty() && places[place] != rank)
      ++place;
    return place;
  }

private:
  std::vector<int> places; ///< the rank at each
};

} // namespace braid::algorithms

#endif
