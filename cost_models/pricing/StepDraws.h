//===- StepDraws.h - numbers drawn for the operations of steps, kept ------------------------------------------===//
//
// Schedules of a program are compared by the same draws: the numbers behind the noise of operation k in step s of job j are the same in all of
// them, whatever it is that runs there. They are drawn once, as long as there is room.
//===------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_COST_MODELS_PRICING_STEPDRAWS_H
#define BRAID_COST_MODELS_PRICING_STEPDRAWS_H

#include "fabrics/Draws.h"
#include <cmath>
#include <limits>
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
    double bulk =
        std::numeric_limits<double>::quiet_NaN(); ///< standard normal, purpose serialBulk; not a number: not drawn yet
    double spike = 0, pause = 0;                  ///< uniform
  };
  /// What is known of one step.
  struct Row {
    double latency[2] = {0, 0}; ///< the job's factor on both fabrics; 0: not drawn yet
    std::vector<Numbers> operations;
    uint64_t seed = 0, job = 0, step = 0;
    Row *next = nullptr; ///< the one that was asked for after it
    bool is(uint64_t ofSeed, uint64_t ofJob, uint64_t ofStep) const {
      return step == ofStep && job == ofJob && seed == ofSeed;
    }
  };
  /// Schedule after schedule asks for steps in the same order, so that mostly a row knows the next one.
  Row &row(uint64_t seed, uint64_t job, uint64_t step) {
    if (last && last->is(seed, job, step))
      return *last;
    Row *found = last ? last->next : nullptr;
    if (!found || !found->is(seed, job, step)) {
      found = &rows[{seed, job, step}];
      found->seed = seed;
      found->job = job;
      found->step = step;
      if (last)
        last->next = found;
    }
    return *(last = found);
  }

  /// `row`: of the place's step.
  Numbers at(Row &row, const DrawPlace &place) {
    if (place.operation < row.operations.size())
      if (const Numbers &numbers = row.operations[place.operation]; !std::isnan(numbers.bulk))
        return numbers;
    return drawnAt(row, place);
  }

private:
  Numbers drawnAt(Row &row, const DrawPlace &place) {
    if (place.operation >= row.operations.size()) {
      size_t more = place.operation + 1 - row.operations.size();
      if (count + more > most)
        return drawn(place);
      count += more;
      row.operations.resize(place.operation + 1);
    }
    return row.operations[place.operation] = drawn(place);
  }
  static StepDraws &ofThread() {
    static thread_local StepDraws kept;
    return kept;
  }
  static Numbers drawn(DrawPlace place) {
    Numbers numbers;
    place.purpose = purpose::serialBulk;
    numbers.bulk = normal(place);
    place.purpose = purpose::spike;
    numbers.spike = uniform(place);
    place.purpose = purpose::pause;
    numbers.pause = uniform(place);
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
  std::unordered_map<Key, Row, Hash> rows; // which keeps them where they are
  Row *last = nullptr;
  size_t count = 0;
};

} // namespace braid::cost

#endif
