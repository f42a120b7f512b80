//===- Cycles.cpp - what hands itself on from trip to trip of a loop --------------------------------------------===//
//
// M[k][m]: the longest path of one trip from carried value m to what becomes carried value k; of several trips: M's powers in
// (max, +). On their diagonals are recurrences.
//===------------------------------------------------------------------------------------------------------------===//
#include "bounds/Cycles.h"
#include <algorithm>
#include <cmath>

using namespace braid::cost;

namespace {

// setting: how far is looked; a bound is sound without a recurrence
constexpr double none = -1; ///< no path: times are not negative
constexpr int mostTrips = 4;
constexpr size_t mostValues = 128; ///< whose powers are looked at
constexpr double mostSteps = 4e6;  ///< of all paths together

class TripPaths {
public:
  TripPaths(const Block &block, const std::vector<Seconds> &durations)
      : block(block), durations(durations), ends(block.tasks.size()), from(block.tasks.size()) {}

  /// When each task ends at the latest that waits for the value, which is there at 0.
  void follow(int value) {
    std::fill(ends.begin(), ends.end(), none);
    for (int reader : block.carried[size_t(value)].readers)
      ends[size_t(reader)] = 0;
    for (size_t task = 0; task < ends.size(); ++task) {
      double begin = ends[task] == 0 ? 0 : none;
      from[task] = -1;
      for (int operand : block.tasks[task].operands)
        if (ends[size_t(operand)] > begin) {
          begin = ends[size_t(operand)];
          from[task] = operand;
        }
      ends[task] = begin == none ? none : begin + durations[task].value;
    }
  }
  double to(int value, int followed) const {
    const Carried &carried = block.carried[size_t(value)];
    if (carried.from >= 0)
      return ends[size_t(carried.from)];
    return carried.passes == followed ? 0 : none;
  }
  std::vector<int> pathTo(int value) const {
    std::vector<int> tasks;
    for (int task = block.carried[size_t(value)].from; task >= 0; task = from[size_t(task)])
      tasks.insert(tasks.begin(), task);
    return tasks;
  }

private:
  const Block &block;
  const std::vector<Seconds> &durations;
  std::vector<double> ends;
  std::vector<int> from;
};

} // namespace

double Recurrence::of(double count) const { return std::floor(count / trips) * time; }

Recurrence braid::cost::longestRecurrence(const Block &block, const std::vector<Seconds> &durations) {
  Recurrence best;
  size_t values = block.carried.size(), edges = block.tasks.size();
  for (const Task &task : block.tasks)
    edges += task.operands.size();
  if (double(values) * double(edges) > mostSteps)
    return best;
  TripPaths paths(block, durations);
  std::vector<std::vector<double>> one(values, std::vector<double>(values, none));
  for (size_t m = 0; m < values; ++m) {
    paths.follow(int(m));
    for (size_t k = 0; k < values; ++k)
      one[k][m] = paths.to(int(k), int(m));
  }
  std::vector<std::vector<double>> power = one;
  for (int trips = 1; trips <= (values <= mostValues ? mostTrips : 1); ++trips) {
    if (trips > 1) {
      std::vector<std::vector<double>> next(values, std::vector<double>(values, none));
      for (size_t k = 0; k < values; ++k)
        for (size_t via = 0; via < values; ++via)
          if (one[k][via] != none)
            for (size_t m = 0; m < values; ++m)
              if (power[via][m] != none)
                next[k][m] = std::max(next[k][m], one[k][via] + power[via][m]);
      power = std::move(next);
    }
    for (size_t k = 0; k < values; ++k)
      if (power[k][k] / trips > best.perTrip() * (1 + 1e-9)) {
        best.time = power[k][k];
        best.trips = trips;
        best.carried = int(k);
      }
  }
  if (best.carried >= 0) {
    paths.follow(best.carried);
    int last = best.carried; // where its first trip leads
    if (best.trips > 1)
      for (size_t k = 0; k < values; ++k)
        if (one[k][size_t(best.carried)] > one[size_t(last)][size_t(best.carried)])
          last = int(k);
    best.tasks = paths.pathTo(last);
  }
  return best;
}
