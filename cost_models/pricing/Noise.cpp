//===- Noise.cpp - how the noise of messages adds up over a collective -----------------------------------------------===//
#include "pricing/Noise.h"
#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>

namespace braid::cost {

static double normalCdf(double z) { return 0.5 * std::erfc(-z / M_SQRT2); }
static double normalQuantile(double p) { return -M_SQRT2 * boost::math::erfc_inv(2 * p); }

double MessageNoise::cdf(double x) const {
  if (x <= 0)
    return 0;
  if (shape == Exponential)
    return -std::expm1(-x);
  return sigma == 0 ? x >= 1 : normalCdf((std::log(x) + sigma * sigma / 2) / sigma);
}
double MessageNoise::variance() const { return shape == Exponential ? 1 : std::expm1(sigma * sigma); }
double MessageNoise::thirdMoment() const {
  double w = std::exp(sigma * sigma);
  return shape == Exponential ? 2 : (w + 2) * (w - 1) * (w - 1);
}

double slowestChain(const MessageNoise &noise, double chains, double messages, double q) {
  // q = P(one chain)^chains; the tail is kept as such, since it is small.
  double tail = -std::expm1(std::log(q) / chains);
  double z = -normalQuantile(tail), mean = messages, deviation = std::sqrt(messages * noise.variance());
  if (deviation == 0)
    return mean;
  double skew = messages * noise.thirdMoment() / std::pow(deviation, 3);
  // Shifted lognormal with this skewness: (w + 2) sqrt(w - 1) = skew, w = exp(s^2).
  double u = std::cbrt(1 + skew * skew / 2 + std::sqrt(skew * skew + std::pow(skew, 4) / 4));
  double w = u + 1 / u - 1, s = std::sqrt(std::log(w)), scale = deviation / std::sqrt(w * (w - 1));
  return mean + scale * (std::exp(s * z) - std::sqrt(w));
}

//===- delays ---------------------------------------------------------------------------------------------------===//

static constexpr int points = 384;

Delays::Delays(double reach) : step(reach / points), below(points + 1, 1) {}

/// The distribution of a sum; mass between two points is put half on each.
static std::vector<double> convolve(const std::vector<double> &a, const std::vector<double> &b) {
  std::vector<double> sum(a.size(), 0);
  for (size_t j = 0; j < b.size(); ++j) {
    double mass = b[j] - (j ? b[j - 1] : 0);
    if (mass < 1e-12)
      continue;
    if (j == 0) {
      for (size_t i = 0; i < a.size(); ++i)
        sum[i] += mass * a[i];
      continue;
    }
    sum[j - 1] += mass * a[0] / 2;
    for (size_t i = j; i < a.size(); ++i)
      sum[i] += mass * (a[i - j] + a[i - j + 1]) / 2;
  }
  return sum;
}

Delays Delays::later(const MessageNoise &noise) const {
  Delays message(*this);
  for (size_t i = 0; i < below.size(); ++i)
    message.below[i] = noise.cdf(double(i) * step);
  return then(message);
}

Delays Delays::then(const Delays &other) const {
  if (below[0] == 1) // never late
    return other;
  Delays result(*this);
  result.below = convolve(below, other.below);
  return result;
}

Delays &Delays::waitFor(const Delays &other, double early) {
  for (size_t i = 0; i < below.size(); ++i) {
    double place = double(i) + early / step;
    size_t at = size_t(place);
    double value =
        at + 1 >= below.size() ? 1 : other.below[at] + (place - double(at)) * (other.below[at + 1] - other.below[at]);
    below[i] *= value;
  }
  return *this;
}

Delays &Delays::largestOf(double count) {
  for (double &value : below)
    value = std::pow(value, count);
  return *this;
}

double Delays::quantile(double q) const {
  size_t i = 0;
  while (i + 1 < below.size() && below[i] < q)
    ++i;
  if (i == 0)
    return 0;
  double rise = below[i] - below[i - 1];
  return step * (double(i) - (rise > 0 ? (below[i] - q) / rise : 0));
}

//===- algorithms -----------------------------------------------------------------------------------------------===//

namespace {
/// Beyond any delay of a chain of `messages` in `chains` that matters.
double reachOf(const MessageNoise &noise, double chains, double messages) {
  return slowestChain(noise, chains, messages, 0.9999);
}

int floorLog(int n) {
  int log = 0;
  while (n >>= 1)
    ++log;
  return log;
}

/// A binomial tree from its leaves to its root, or from the root to all leaves. Child k of a rank has k children; on the way up a
/// rank takes them in this order, on the way down it serves them the other way around. A child of fewer children has as many
/// messages fewer ahead of it.
Delays binomial(int height, bool up, const MessageNoise &noise, double latency, double transfer, double reach) {
  std::vector<Delays> childOf; // a rank with that many children, and the message to or from its parent
  Delays rank(reach);
  for (int h = 0; h < height; ++h) {
    childOf.push_back(rank.later(noise));
    rank = Delays(reach);
    for (int k = 0; k <= h; ++k)
      rank.waitFor(childOf[k], (h - k) * (up ? latency + transfer : latency));
  }
  return rank;
}

/// The tree over positions 1 .. m (DoubleBinaryTree.cpp), both ways alike; a smaller subtree has time to spare.
struct InOrderTree {
  const MessageNoise &noise;
  double level; ///< time of one
  double reach;
  std::vector<Delays> full; ///< subtrees of 2^h - 1, with the message to their parent

  std::pair<Delays, int> over(int m) {
    int h = floorLog(m), levels = h;
    Delays root(reach);
    if (h == 0)
      return {root, 0};
    while (int(full.size()) < h) // of height 0, 1, ...
      full.push_back(full.empty() ? root.later(noise)
                                  : Delays(reach).waitFor(full.back()).waitFor(full.back()).later(noise));
    root.waitFor(full[h - 1]);
    if (int right = m - (1 << h)) {
      auto [subtree, height] = over(right);
      root.waitFor(subtree.later(noise), (h - 1 - height) * level);
    }
    return {root, levels};
  }
};
} // namespace

std::optional<std::function<double(double q)>> delayQuantile(const std::string &algorithm, CollectiveKind kind, int n,
                                                             const MessageNoise &noise, double latency,
                                                             double transfer) {
  using Quantile = std::function<double(double q)>;
  auto of = [](Delays delays) { return Quantile([delays](double q) { return delays.quantile(q); }); };
  bool ring = algorithm == "ring" && kind != CollectiveKind::Broadcast;
  double steps = algorithms::find(algorithm)->steps(kind, n, {});
  if (ring)
    return Quantile([=](double q) { return slowestChain(noise, n, steps, q); });
  if (algorithm == "naive_exchange") {
    bool rooted = kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce ||
                  kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter;
    double reach = reachOf(noise, double(n) * n, 1);
    Delays largest(reach), one = Delays(reach).later(noise);
    for (int k = 0; k < n - 1; ++k)
      largest.waitFor(one, k * transfer);
    return of(rooted ? largest : largest.largestOf(n));
  }
  if (algorithm == "binomial_tree") {
    int height = floorLog(n);
    double reach = reachOf(noise, n, 2 * height);
    bool up = kind != CollectiveKind::Broadcast && kind != CollectiveKind::Scatter;
    bool down = kind != CollectiveKind::Reduce && kind != CollectiveKind::Gather;
    Delays sum(reach);
    if (up)
      sum = binomial(height, true, noise, latency, transfer, reach);
    if (down)
      sum = sum.then(binomial(height, false, noise, latency, transfer, reach));
    return of(sum);
  }
  if (algorithm == "double_binary_tree") {
    int height = floorLog(kind == CollectiveKind::Broadcast ? n - 1 : n);
    double reach = reachOf(noise, n, 2 * height + 1);
    Delays way =
        InOrderTree{noise, latency + transfer, reach, {}}.over(kind == CollectiveKind::Broadcast ? n - 1 : n).first;
    Delays sum = kind == CollectiveKind::Broadcast ? way.later(noise) : way.then(way);
    return of(sum.largestOf(2));
  }
  return std::nullopt;
}

} // namespace braid::cost
