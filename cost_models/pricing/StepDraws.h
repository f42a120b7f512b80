//===- StepDraws.h - numbers drawn for the operations of steps, kept ------------------------------------------===//
//
// Schedules of a program are compared by the same draws: the numbers behind the noise of operation k in step s of job j are the same in all of
// them, whatever it is that runs there. They are drawn once, as long as there is room.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_STEPDRAWS_H
#define BRAID_COST_MODELS_PRICING_STEPDRAWS_H

#include "fabrics/Draws.h"
#include <unordered_map>
#include <vector>

namespace braid::cost {

class StepDraws {
public:
  /// Of the thread, for one pricer at a time.
  static StepDraws &of(uint64_t pricer) {
    StepDraws &kept = ofThread();
    if (kept.owner != pricer) {
      kept = {};
      kept.owner = pricer;
    }
    return kept;
  }
  static void forget(uint64_t pricer) {
    if (ofThread().owner == pricer)
      ofThread() = {};
  }

  struct Numbers {
    bool known = false;
    double bulk = 0;  ///< standard normal, purpose serialBulk
    double spike = 0; ///< uniform, purpose spike
  };
  Numbers at(const DrawPlace &place) {
    if (Key asked{place.seed, place.job, place.step}; !row || !(key == asked)) {
      key = asked;
      row = &rows[key];
    }
    if (place.operation >= row->size()) {
      size_t more = place.operation + 1 - row->size();
      if (count + more > most)
        return drawn(place);
      count += more;
      row->resize(place.operation + 1);
    }
    Numbers &numbers = (*row)[place.operation];
    if (!numbers.known)
      numbers = drawn(place);
    return numbers;
  }

private:
  static StepDraws &ofThread() {
    static thread_local StepDraws kept;
    return kept;
  }
  static Numbers drawn(DrawPlace place) {
    Numbers numbers{true};
    place.purpose = purpose::serialBulk;
    numbers.bulk = normal(place);
    place.purpose = purpose::spike;
    numbers.spike = uniform(place);
    return numbers;
  }

  static constexpr size_t most = 2'000'000; ///< setting: numbers that are kept, 48 MB of them
  struct Key {
    uint64_t seed = 0, job = 0, step = 0;
    bool operator==(const Key &other) const { return seed == other.seed && job == other.job && step == other.step; }
  };
  struct Hash {
    size_t operator()(const Key &key) const {
      return draws::mix(draws::mix(draws::mix(0, key.seed), key.job), key.step);
    }
  };
  uint64_t owner = 0;
  std::unordered_map<Key, std::vector<Numbers>, Hash> rows;
  Key key;
  std::vector<Numbers> *row = nullptr;
  size_t count = 0;
};

} // namespace braid::cost

#endif
