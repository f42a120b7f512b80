//===- Quantile.cpp - quantiles of a price without sampling ----------------------------------------------------------===//
#include "pricing/Quantile.h"
#include <algorithm>
#include <cmath>
#include <set>

namespace braid::cost {

//===- delays ---------------------------------------------------------------------------------------------------===//

/// Ranks of the one group on one switch, where no two of them share a NIC; 0: it is something else.
static int ranksOnOneSwitch(const CollectiveSpec &spec, const Cluster &cluster, const Placement &placement) {
  if (spec.kind == CollectiveKind::Permute || spec.groups->groups.size() > 1 || spec.counts)
    return 0;
  std::vector<int> group;
  if (spec.groups->groups.empty())
    for (int rank = 0; rank < int(placement.deviceOf.size()); ++rank)
      group.push_back(rank);
  else
    for (int rank : spec.groups->groups[0])
      if (rank >= 0 && rank < int(placement.deviceOf.size()))
        group.push_back(rank);
  std::set<int> hosts;
  for (int rank : group)
    hosts.insert(placement.hostOf(rank, cluster));
  bool oneEach = hosts.size() == group.size() && cluster.topology == "single_switch" && cluster.planes == 1;
  return hosts.size() == 1 || oneEach ? int(group.size()) : 0;
}

std::shared_ptr<const DelayForm> DelayForm::of(const Candidate &c, const CollectiveSpec &spec, const Cluster &cluster,
                                               const Placement &placement) {
  const LinkClass &links = c.nodes > 1 ? cluster.inter : cluster.intra;
  double mean = links.profile.bulkMean, sigma = links.profile.bulkSigma;
  int n = ranksOnOneSwitch(spec, cluster, placement);
  const algorithms::Algorithm *algorithm = algorithms::find(c.algorithm);
  // setting: where the forms were compared with samples
  bool compared = mean > 0 && mean <= 0.3 && sigma <= 1 && c.chunks == 1 && n > 1 && algorithm;
  if (!compared || c.latency.value <= 0)
    return nullptr;
  auto form = std::make_shared<DelayForm>();
  form->algorithm = c.algorithm;
  form->kind = spec.kind;
  form->ranks = n;
  form->noise = {MessageNoise::Lognormal, sigma};
  form->unit = c.latency * (mean / double(algorithm->steps(spec.kind, n, {})));
  form->latency = 1 / mean;
  form->transfer =
      messagePart(c.algorithm, spec.kind, n) * double(spec.bytes.value) / links.bandwidth.value / form->unit.value;
  return hasDelayForm(c.algorithm, spec.kind, n, form->noise, form->latency, form->transfer) ? form : nullptr;
}

Seconds DelayForm::quantile(double q) const {
  std::call_once(once, [this] { form = *delayQuantile(algorithm, kind, ranks, noise, latency, transfer); });
  return unit * form(q);
}

static constexpr double reach = 4, step = 0.125; ///< setting: of the table, in standard normal numbers

Seconds Delay::at(double z) const {
  std::call_once(once, [this] {
    for (double point = -reach; point <= reach + step / 2; point += step)
      table.push_back(quantile(normalCdf(point)));
  });
  double place = std::clamp((z + reach) / step, 0.0, double(table.size() - 1));
  size_t below = std::min(size_t(place), table.size() - 2);
  return table[below] + (table[below + 1] - table[below]) * (place - double(below));
}

Seconds Delay::mean() const {
  constexpr int points = 256; // setting: of equal weight
  Seconds sum;
  for (int i = 0; i < points; ++i)
    sum += quantile((i + 0.5) / points);
  return sum / points;
}

Seconds meanDelay(const Candidate &c, const FabricProfile &p) {
  return c.delay ? c.delay->mean() : c.latency * (p.bulkMean * c.noisePerMessage);
}

//===- the whole time -------------------------------------------------------------------------------------------===//

static bool varies(const Candidate &c, const FabricProfile &p) { return p.bulkMean != 0 && c.latency.value > 0; }

bool hasClosedQuantiles(const Candidate &c, const FabricProfile &p) {
  bool collides = c.flows > 1 && p.collisionUplinks > 0;
  return !collides && !p.transfersVary() && ((c.delay && c.delay->closed()) || !varies(c, p));
}

namespace {
struct Point {
  double weight, value;
};
} // namespace

/// A standard normal number as points with weights.
static std::vector<Point> normalPoints(int count) {
  std::vector<Point> points;
  double width = 8.0 / count; // setting: four deviations each way
  for (int i = 0; i < count; ++i) {
    double z = -4 + (i + 0.5) * width;
    double low = i ? normalCdf(z - width / 2) : 0, high = i + 1 < count ? normalCdf(z + width / 2) : 1;
    points.push_back({high - low, z});
  }
  return points;
}

/// Neighbours as one, as long as it is a small part of what is beyond them on either side.
static void merge(std::vector<Point> &points) {
  std::sort(points.begin(), points.end(), [](const Point &a, const Point &b) { return a.value < b.value; });
  size_t kept = 0;
  double below = 0;
  for (const Point &point : points) {
    Point &last = points[kept];
    // setting: a tenth is a small part
    if (&point != &points[0] && last.weight + point.weight <= 0.1 * std::min(below, 1 - below)) {
      last.value = (last.value * last.weight + point.value * point.weight) / (last.weight + point.weight);
      last.weight += point.weight;
    } else if (&point != &points[0]) {
      below += last.weight;
      points[++kept] = point;
    }
  }
  points.resize(kept + 1);
}

Seconds closedQuantile(const Candidate &c, const FabricProfile &p, double q) {
  q = std::clamp(q, 1e-6, 1 - 1e-6);
  double quiet = c.fixed.value + c.wire.value, latency = c.latency.value;
  double sigma = std::hypot(p.latencyRebaseSigma, p.latencySigma);
  bool delayed = varies(c, p), factored = sigma > 0 && latency > 0;
  bool spiked = p.spikeProbability > 0 || p.pauseProbability > 0;
  auto factor = [&](double z) { return std::exp(sigma * z - sigma * sigma / 2); };
  if (!spiked && !factored)
    return {quiet + latency + (delayed ? c.delay->quantile(q).value : 0)};
  if (!spiked && !delayed)
    return {quiet + latency * factor(normalQuantile(q))};
  // Times without spikes, as points: fewer of each where both vary.
  std::vector<Point> once = {{1, 0}}, times;
  int fine = delayed && factored ? 96 : 512; // setting: points
  std::vector<Point> delays = delayed ? normalPoints(fine) : once;
  std::vector<Point> factors = factored ? normalPoints(delayed ? 32 : fine) : once; // setting: points
  for (const Point &d : delays)
    for (const Point &f : factors) {
      double late = delayed ? c.delay->at(d.value).value : 0;
      times.push_back({d.weight * f.weight, quiet + (factored ? factor(f.value) : 1) * (latency + late)});
    }
  merge(times);
  int nodes = std::max(c.nodes, c.exposedNodes);
  auto cdf = [&](double time) {
    double sum = 0;
    for (const Point &point : times)
      if (point.value <= time)
        sum += point.weight * (spiked ? operationSpikeCdf(p, nodes, Seconds{time - point.value}) : 1);
    return sum;
  };
  double low = quiet, high = 2 * c.time.value + 1e-9;
  while (cdf(high) < q && high < 1e6)
    high *= 2;
  while (high - low > 1e-4 * high) { // setting: tolerance
    double middle = (low + high) / 2;
    (cdf(middle) < q ? low : high) = middle;
  }
  return {high};
}

} // namespace braid::cost
