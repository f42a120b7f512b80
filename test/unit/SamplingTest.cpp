//===- SamplingTest.cpp - how braid-bench and its peers time and check a collective ------------------------------------===//
#include "tools/braid-bench/Sampling.h"
#include "tools/braid-bench/Values.h"
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

using namespace braid::bench;

TEST_CASE("interval of a median: order statistics of the table", "[bench]") {
  // David and Nagaraja's rule by hand: P(at most 7 of 25 heads) = 0.0216, of 26 at most 7: 0.0145, of 6 none: 0.0156.
  auto interval = [](int n) {
    std::vector<double> values(static_cast<size_t>(n));
    std::iota(values.rbegin(), values.rend(), 1);
    return medianOf(values);
  };
  CHECK(interval(25).low == 8);
  CHECK(interval(25).value == 13);
  CHECK(interval(25).high == 18);
  CHECK(interval(26).low == 8);
  CHECK(interval(26).value == 13.5);
  CHECK(interval(6).low == 1);
  CHECK(interval(6).high == 6);
  CHECK(interval(1).value == 1);
}

TEST_CASE("interval of a median holds it 95 times of 100, also of a skewed distribution", "[bench]") {
  std::mt19937 random(1);
  std::exponential_distribution<double> draw;
  int held = 0;
  for (int run = 0; run < 4000; ++run) {
    std::vector<double> values(25);
    for (double &value : values)
      value = draw(random);
    Median median = medianOf(values);
    held += median.low <= std::log(2.0) && std::log(2.0) <= median.high;
  }
  CHECK(held > 4000 * 0.945); // 95.7 % expected
  CHECK(held < 4000 * 0.97);
}

namespace {
/// One rank whose clock goes on by what a call takes.
struct Alone {
  double time = 0, slowest = 0;
  int barriers = 0;
  void barrier() { ++barriers; }
  void maximum(double *values, size_t count) {
    for (size_t i = 0; i < count; ++i)
      values[i] = std::max(values[i], slowest);
  }
  double now() const { return time; }
  double wall() const { return time; }
};
} // namespace

TEST_CASE("batches of calls: 2 ms, at most 50 calls, samples within the budget", "[bench]") {
  auto batchesOf = [](double seconds, double budget, double slowest = 0) {
    Alone alone;
    alone.slowest = slowest;
    return sampleBatches(alone, [&](int) { alone.time += seconds; }, 25, budget);
  };
  CHECK(batchesOf(1e-6, 1).calls == 50);
  CHECK(batchesOf(1e-6, 1).seconds.size() == 25);
  CHECK(batchesOf(1e-6, 1).seconds[3] == Approx(1e-6));
  CHECK(batchesOf(0.3e-3, 1).calls == 6);
  CHECK(batchesOf(0.1, 1).calls == 1);
  CHECK(batchesOf(0.1, 1).seconds.size() == 10);
  CHECK(batchesOf(1, 1).seconds.size() == 6);
  CHECK(batchesOf(1e-6, 1, 5e-6).seconds[3] == Approx(5e-6)); // of the slowest rank
}

TEST_CASE("a machine that turns busy while it is measured takes little longer than the budget", "[bench]") {
  Alone alone;
  int calls = 0;
  auto call = [&](int) { alone.time += ++calls > 42 ? 16e-3 : 1e-6; }; // after the warm-up
  Batches batches = sampleBatches(alone, call, 25, 0.5);
  CHECK(batches.seconds.size() == 6);
  CHECK(batches.seconds.back() == Approx(16e-3));
  CHECK(alone.time < 1.5);
  alone.time = 0;
  size_t single = sampleCalls(alone, call, 10000, 0.5).size();
  CHECK(single >= 6);
  CHECK(single < 60);
  CHECK(alone.time < 1);
  CHECK(sampleCalls(alone, [&](int) { alone.time += 1e-6; }, 10000, 0.5).size() == 10000);
  CHECK(sampleCalls(alone, [&](int) { alone.time += 10; }, 10000, 0.5).size() == 6);
}

TEST_CASE("values tell ranks, places and double additions apart", "[bench]") {
  constexpr size_t elements = 4096;
  auto differences = [](auto &&left, auto &&right) {
    size_t count = 0;
    for (size_t i = 0; i < elements; ++i)
      count += left(i) != right(i);
    return count;
  };
  auto of = [](int rank, size_t shift = 0) { return [=](size_t i) { return operandAt(rank, i + shift); }; };
  CHECK(differences(of(0), of(1)) > elements / 2);
  for (size_t shift : {1, 2, 4, 64, 1024})
    CHECK(differences(of(0), of(0, shift)) > elements / 2);
  auto sum = [](size_t i) { return resultAt(Kind::AllReduce, elements, 3, 0, 0, i); };
  auto twice = [](size_t i) { return operandAt(0, i) + 2 * operandAt(1, i); };
  CHECK(differences(sum, twice) > elements / 2);
  // The same sums wherever they are: reduce_scatter's block of rank 2 is the end of all_reduce's result.
  CHECK(resultAt(Kind::ReduceScatter, 9, 3, 2, 0, 1) == resultAt(Kind::AllReduce, 9, 3, 0, 0, 7));
  CHECK(resultAt(Kind::AllToAll, 9, 3, 2, 0, 4) == operandAt(1, 7));
}
