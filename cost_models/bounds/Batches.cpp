//===- Batches.cpp - a bound where things that are served together share a start-up -----------------------------===//
#include "bounds/Batches.h"
#include <algorithm>
#include <cmath>

using namespace braid::cost;

/// For each number of bytes in steps of `cell`, the least own work of any of `chosen` that together have as many.
static void leastWork(std::vector<const Arrival *> chosen, double shared, double cell, std::vector<double> &least) {
  std::sort(chosen.begin(), chosen.end(),
            [](const Arrival *a, const Arrival *b) { return a->own * b->bytes < b->own * a->bytes; });
  double bytes = 0, work = shared;
  size_t at = 0;
  for (size_t c = 0; c < least.size(); ++c) {
    double wanted = double(c) * cell;
    while (at < chosen.size() && bytes + chosen[at]->bytes <= wanted) {
      bytes += chosen[at]->bytes;
      work += chosen[at++]->own;
    }
    if (at < chosen.size())
      least[c] = std::min(least[c], work + chosen[at]->own * std::max(0.0, wanted - bytes) / chosen[at]->bytes);
    else if (bytes >= wanted * (1 - 1e-9))
      least[c] = std::min(least[c], work);
  }
}

/// The earliest time at which `c` cells of bytes can have arrived.
static std::vector<double> arrivalTimes(std::vector<Arrival> arrivals, double cell, int cells) {
  std::vector<double> byWork(cells + 1, 1e300), times(cells + 1);
  auto order = [&](auto key) {
    std::sort(arrivals.begin(), arrivals.end(), [&](const Arrival &a, const Arrival &b) { return key(a) < key(b); });
  };
  order([](const Arrival &a) { return a.shared; });
  std::vector<const Arrival *> chosen;
  for (size_t i = 0; i < arrivals.size(); ++i) {
    chosen.push_back(&arrivals[i]);
    if (i + 1 == arrivals.size() || arrivals[i + 1].shared > arrivals[i].shared)
      leastWork(chosen, arrivals[i].shared, cell, byWork);
  }
  order([](const Arrival &a) { return a.head; });
  double bytes = 0;
  size_t next = 0;
  for (int c = 0; c <= cells; ++c) {
    while (next < arrivals.size() && bytes + arrivals[next].bytes <= c * cell * (1 - 1e-9))
      bytes += arrivals[next++].bytes;
    times[c] = c == 0 ? 0 : arrivals[std::min(next, arrivals.size() - 1)].head;
    if (byWork[c] < 1e300)
      times[c] = std::max(times[c], byWork[c]);
  }
  return times;
}

/// Of messages behind each of `count` ends, none begun before `begin`. Four minima at a time, which do not wait for each other.
static double leastEnd(const double *ends, const double *prices, int count, double begin) {
  double least[4] = {1e300, 1e300, 1e300, 1e300};
  int a = 0;
  for (; a + 4 <= count; a += 4)
    for (int lane = 0; lane < 4; ++lane)
      least[lane] = std::min(least[lane], std::max(ends[a + lane], begin) + prices[a + lane]);
  for (; a < count; ++a)
    least[0] = std::min(least[0], std::max(ends[a], begin) + prices[a]);
  return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
}

double braid::cost::earliestEndOfBatches(std::vector<Arrival> arrivals, const std::function<double(double)> &price,
                                         int cells) {
  double all = 0, smallest = 1e300;
  for (const Arrival &arrival : arrivals) {
    all += arrival.bytes;
    smallest = std::min(smallest, arrival.bytes);
  }
  if (arrivals.empty() || all <= 0)
    return 0;
  // A message that ends in cell b has more than b - 1 cells behind it, and one from cell a to b more than b - a - 1 itself.
  double cell = all / cells;
  std::vector<double> arrived = arrivalTimes(std::move(arrivals), cell, cells), prices(cells + 1),
                      end(cells + 1, 1e300);
  for (int d = 0; d <= cells; ++d)
    prices[d] = price(std::max(smallest, (d - 1) * cell));
  std::vector<double> longer = prices; // the least price of a message of so many cells or more
  for (int d = cells; d-- > 0;)
    longer[d] = std::min(longer[d], longer[d + 1]);
  std::reverse(prices.begin(), prices.end());
  std::vector<double> latest(cells + 1); // of the ends up to here
  latest[0] = end[0] = 0;
  for (int b = 1; b <= cells; ++b) {
    double begin = arrived[b < cells ? b - 1 : b];
    const double *price = prices.data() + (cells - b); // from cell a on: price[a]
    // Of messages that wait for their bytes alone, the last one is all that counts, unless a longer one is cheaper.
    int first = int(std::upper_bound(latest.begin(), latest.begin() + b, begin) - latest.begin()) - 1;
    if (first < 0 || price[first] > longer[b - first])
      first = 0;
    end[b] = leastEnd(end.data() + first, price + first, b - first, begin);
    latest[b] = std::max(latest[b - 1], end[b]);
  }
  return end[cells];
}
