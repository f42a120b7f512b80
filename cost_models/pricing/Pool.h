//===- Pool.h - messages on their way -----------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_POOL_H
#define BRAID_COST_MODELS_PRICING_POOL_H

#include <vector>

namespace braid::cost {

/// Things on their way, in places that are used again.
template <typename T> class Pool {
public:
  int add(const T &thing) {
    if (unused.empty()) {
      things.push_back(thing);
      return int(things.size()) - 1;
    }
    int place = unused.back();
    unused.pop_back();
    things[place] = thing;
    return place;
  }
  void remove(int place) { unused.push_back(place); }
  T &operator[](int place) { return things[place]; }

private:
  std::vector<T> things;
  std::vector<int> unused;
};

} // namespace braid::cost

#endif
