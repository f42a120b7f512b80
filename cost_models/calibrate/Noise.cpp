//===- Noise.cpp - a fabric's noise from percentiles per iteration --------------------------------------------------===//
//
// Spikes: of N hosts each has one with probability p per operation, its size Pareto from x on with index a, so
//
//   P(excess > e) = N p (x / e)^a      for e >= x, while N p is small
//
// A row's p99 and p99.9 are two points of it, with 1 - q = 0.01 and 0.001. Two rows' worth of points give a line in
// logarithms: ln((1 - q) / N) = ln p - a ln(e / x), fitted by Theil's median of slopes (a few rows hold a disturbance that
// the others do not). x is the profile's. Excess below x is bulk.
//
// Bulk: what p90 exceeds the median by, 1.28 deviations, over what one message's mean excess adds to the deviation of a
// whole operation (Pricer.cpp, serialNoise): median over rows of at most 64 KiB, where latency is all there is.
//===------------------------------------------------------------------------------------------------------------===//
#include "calibrate/Noise.h"
#include "pricing/Terms.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

std::optional<FittedNoise> fitNoise(const std::vector<MeasuredRow> &rows, const FabricProfile &profile) {
  struct Point {
    double size, share; ///< ln(e / x), ln((1 - q) / N)
  };
  std::vector<Point> points;
  std::vector<double> bulk;
  // source: HLC-Lab/pico, as the default profiles
  double least = profile.spikeMinimum.value > 0 ? profile.spikeMinimum.value : 30e-6;
  for (const MeasuredRow &row : rows) {
    if (row.hosts < 2)
      continue;
    // setting: what is beyond a quantile
    for (auto [quantile, beyond] : {std::make_pair(row.p99, 0.01), std::make_pair(row.p999, 0.001)})
      if ((quantile - row.time).value >= least)
        points.push_back({std::log((quantile - row.time).value / least), std::log(beyond / row.hosts)});
    if (row.p90 > row.time && row.bytes.value <= 65536) { // assumption: latency is all there is
      // As many messages one after another as the algorithm has levels or steps between hosts.
      double messages = row.algorithm.rfind("ring", 0) == 0 ? 2 * (row.hosts - 1) : 2 * std::log2(row.hosts);
      // source: simulated rings and trees (Pricer.cpp, serialNoise)
      double deviation =
          std::sqrt(std::expm1(profile.bulkSigma * profile.bulkSigma) * (messages > 1 ? 0.49 / messages : 1));
      // source: 1.2816 is the normal quantile 0.9
      bulk.push_back((row.p90 / row.time - 1) / 1.2816 / (neighbourNoise(profile.bulkSigma) * deviation));
    }
  }
  if (points.size() < 4)
    return std::nullopt;
  std::vector<double> slopes, levels;
  for (const Point &a : points)
    for (const Point &b : points)
      if (b.size > a.size + 0.1) // setting: too near for a slope
        slopes.push_back((a.share - b.share) / (b.size - a.size));
  FittedNoise noise;
  noise.points = int(points.size());
  // setting: tails that have a mean
  noise.spikeIndex = std::clamp(slopes.empty() ? profile.spikeIndex : median(slopes), 1.05, 10.0);
  for (const Point &point : points)
    levels.push_back(std::exp(point.share + noise.spikeIndex * point.size));
  noise.spikeProbability = std::min(0.1, median(levels)); // setting: the model's limit of rare
  noise.spikeMinimum = {least};
  if (bulk.size() >= 4)
    noise.bulkMean = std::min(1.0, median(bulk));
  return noise;
}

} // namespace braid::cost
