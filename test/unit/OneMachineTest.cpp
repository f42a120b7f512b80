//===- OneMachineTest.cpp - bounds of one resource, against every order of few jobs -----------------------------===//
#include "cost_models/bounds/OneMachine.h"
#include "cost_models/bounds/Batches.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

using namespace braid::cost;

/// The best order, without interruption.
static double bestOrder(const std::vector<Job> &jobs) {
  std::vector<int> order(jobs.size());
  std::iota(order.begin(), order.end(), 0);
  double best = 1e300;
  do {
    double now = 0, end = 0;
    for (int job : order) {
      now = std::max(now, jobs[job].head) + jobs[job].duration;
      end = std::max(end, now + jobs[job].tail);
    }
    best = std::min(best, end);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST_CASE("one machine: Jackson's bound is below every order, and near the best") {
  OneMachineBound example = jacksonBound({{0, 4, 0}, {2, 1, 5}});
  CHECK(example.time == 8);
  CHECK(example.jobs == std::vector<int>{1});
  CHECK(jacksonBound({}).time == 0);

  std::mt19937 random(1);
  double closest = 1e9;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<Job> jobs(1 + random() % 6);
    for (Job &job : jobs)
      job = {double(random() % 20), double(random() % 8), double(random() % 20)};
    OneMachineBound bound = jacksonBound(jobs);
    double best = bestOrder(jobs), subset = 0;
    CHECK(bound.time <= best + 1e-9);
    for (unsigned set = 1; set < 1u << jobs.size(); ++set) { // it is the largest over all sets
      double head = 1e300, sum = 0, tail = 1e300;
      for (size_t i = 0; i < jobs.size(); ++i)
        if (set >> i & 1) {
          head = std::min(head, jobs[i].head);
          sum += jobs[i].duration;
          tail = std::min(tail, jobs[i].tail);
        }
      subset = std::max(subset, head + sum + tail);
    }
    CHECK(bound.time == Approx(subset));
    closest = std::min(closest, best / bound.time);
  }
  CHECK(closest == Approx(1));
}

/// The best messages in any composition: every assignment of arrivals to messages in order.
static double bestMessages(const std::vector<Arrival> &arrivals, const std::function<double(double)> &price) {
  size_t count = arrivals.size();
  std::vector<size_t> message(count);
  double best = 1e300;
  for (size_t code = 0, all = size_t(std::pow(count, count)); code < all; ++code) {
    size_t rest = code;
    for (size_t i = 0; i < count; ++i, rest /= count)
      message[i] = rest % count;
    double now = 0;
    for (size_t m = 0; m < count; ++m) {
      double bytes = 0, ready = 0;
      for (size_t i = 0; i < count; ++i)
        if (message[i] == m) {
          bytes += arrivals[i].bytes;
          ready = std::max(ready, arrivals[i].head);
        }
      if (bytes > 0)
        now = std::max(now, ready) + price(bytes);
    }
    best = std::min(best, now);
  }
  return best;
}

TEST_CASE("batches: no messages of few tensors end earlier, whatever the price") {
  std::mt19937 random(7);
  std::vector<std::function<double(double)>> prices = {
      [](double bytes) { return 3 + 0.1 * bytes; },
      [](double bytes) { return std::sqrt(bytes); },
      [](double bytes) { return std::min(1 + 0.5 * bytes, 9 + 0.1 * bytes); },
  };
  double closest = 1e9;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<Arrival> arrivals(1 + random() % 5);
    for (Arrival &arrival : arrivals)
      arrival = {double(1 + random() % 40), double(random() % 20), 0, 0};
    const auto &price = prices[trial % prices.size()];
    double bound = earliestEndOfBatches(arrivals, price, 500), best = bestMessages(arrivals, price);
    CHECK(bound <= best * (1 + 1e-9));
    closest = std::min(closest, best / bound);
  }
  CHECK(closest < 1.02);
  // One stream makes both: 5 s shared, 2 s each. The first message waits for 7 s, the second for 9 s.
  std::vector<Arrival> two = {{10, 7, 2, 5}, {10, 7, 2, 5}};
  CHECK(earliestEndOfBatches(two, [](double bytes) { return bytes; }, 1000) == Approx(27).epsilon(0.01));
  CHECK(earliestEndOfBatches(two, [](double bytes) { return 100 + bytes; }, 1000) == Approx(129).epsilon(0.01));
}
