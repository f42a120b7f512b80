//===- Sampling.h - how one collective of one size is timed -------------------------------------------------*- C++ -*-===//
//
// One method for Braid and for what it is compared with (test/bench/peers), so it is a header without dependences. `Ranks`
// is any type with
//
//   void barrier();                                  all ranks leave it at about the same time
//   void maximum(double *values, size_t count);      of all ranks, elementwise, on all ranks
//   double now();                                    seconds, of the clock that the collective lives on
//   double wall();                                   seconds of the machine; the same but for emulated fabrics
//
// and `call(k)` is the collective, called by all ranks; k counts calls, so that a rooted one can rotate its root.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef BRAID_BENCH_SAMPLING_H
#define BRAID_BENCH_SAMPLING_H

#include <algorithm>
#include <cstddef>
#include <vector>

namespace braid::bench {

struct Batches {
  int calls = 1;               ///< back to back in each sample
  double wall = 0;             ///< seconds of one call on the machine's clock, roughly
  std::vector<double> seconds; ///< of one call: each sample's time over its calls, slowest rank
};

/// Warms up, then takes `samples` samples of B back-to-back calls each. B calls take about 2 ms, as far as 50 suffice, so
/// that neither the clock (25 ns) nor the skew with which ranks leave the barrier matters to a call of 0.2 us. As many
/// samples as fit into `budget` seconds, 6 at least (the fewest with a confidence interval), `samples` at most. Where calls turn
/// out far slower than those that B was chosen by (ranks that wait for a processor), samples of fewer calls make up the 6.
template <class Ranks, class Call> Batches sampleBatches(Ranks &ranks, Call &&call, int samples, double budget) {
  Batches batches;
  int number = 0;
  double began = ranks.wall(), past = 0; ///< what has passed, the same on all ranks
  auto timed = [&](int calls) {
    ranks.barrier();
    double wall = ranks.wall(), begin = ranks.now();
    for (int i = 0; i < calls; ++i)
      call(number++);
    double seconds[] = {(ranks.now() - begin) / calls, (ranks.wall() - wall) / calls, ranks.wall() - began};
    ranks.maximum(seconds, 3);
    batches.wall = std::max(seconds[1], 1e-9);
    past = seconds[2];
    return seconds[0];
  };
  timed(6); // connections, page faults, each root
  timed(4);
  if (batches.wall < 1e-3)
    timed(32); // caches and branches were still cold
  began = ranks.wall();
  past = 0;
  batches.calls = int(std::clamp(2e-3 / batches.wall, 1.0, 50.0));
  int count = int(std::clamp(budget / (batches.wall * batches.calls), 6.0, double(std::max(samples, 6))));
  for (int sample = 0; sample < count && (sample < 6 || past < 1.5 * budget); ++sample) {
    if (past > budget)
      batches.calls = std::max(1, batches.calls / 4);
    batches.seconds.push_back(timed(batches.calls));
  }
  return batches;
}

/// Times of single calls, back to back, slowest rank of each; the clock's own 25 ns are in them. `count` of them, or as many, 6
/// at least, as fit into `budget` seconds: in blocks, each twice as long as the one before, that all ranks go on to or none.
template <class Ranks, class Call>
std::vector<double> sampleCalls(Ranks &ranks, Call &&call, size_t count, double budget) {
  std::vector<double> times, stamps;
  double began = ranks.wall(), past = 0;
  for (size_t block = 6; times.size() < count && 2 * past < 1.5 * budget; block *= 2) {
    block = std::min(block, count - times.size());
    stamps.assign(block + 1, 0);
    ranks.barrier();
    stamps[0] = ranks.now();
    for (size_t i = 0; i < block; ++i) {
      call(int(times.size() + i));
      stamps[i + 1] = ranks.now();
    }
    for (size_t i = 0; i < block; ++i)
      stamps[i] = stamps[i + 1] - stamps[i];
    ranks.maximum(stamps.data(), block);
    times.insert(times.end(), stamps.begin(), stamps.end() - 1);
    past = ranks.wall() - began;
    ranks.maximum(&past, 1);
  }
  return times;
}

/// The q-quantile of sorted values, the nearest one.
inline double quantile(const std::vector<double> &sorted, double q) {
  return sorted[size_t(q * double(sorted.size() - 1) + 0.5)];
}

struct Median {
  double value = 0, low = 0, high = 0;
};

/// The median and an interval that holds the true one with a probability of at least 95 %, whatever the distribution: the
/// k-th smallest and k-th largest value, where fewer than k of n fair coins show heads with a probability of at most 2.5 %
/// (David and Nagaraja, Order Statistics, 2003, section 7.1). 25 values: the 8th and the 18th.
inline Median medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t n = values.size();
  double term = 1, below = 0; // P(heads = k) and P(heads < k), times 2^n
  for (size_t i = 0; i < n; ++i)
    term /= 2;
  size_t k = 0;
  while (k < n / 2 && below + term <= 0.025) {
    below += term;
    term = term * double(n - k) / double(k + 1);
    ++k;
  }
  size_t low = k ? k - 1 : 0;
  double middle = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  return {middle, values[low], values[n - 1 - low]};
}

} // namespace braid::bench

#endif
