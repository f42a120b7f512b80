//===- Noise.cpp - how the noise of messages adds up over a collective -----------------------------------------------===//
#include "pricing/Noise.h"
#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <map>

namespace braid::cost {

double normalCdf(double z) { return 0.5 * std::erfc(-z / M_SQRT2); }
double normalQuantile(double p) { return -M_SQRT2 * boost::math::erfc_inv(2 * p); }

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

ShiftedLognormal::ShiftedLognormal(double mean, double deviation, double skew) : mean(mean) {
  // (w + 2) sqrt(w - 1) = skew, w = exp(s^2)
  skew = std::max(skew, 1e-3); // below it a normal number would do
  double u = std::cbrt(1 + skew * skew / 2 + std::sqrt(skew * skew + std::pow(skew, 4) / 4));
  double w = u + 1 / u - 1;
  s = std::sqrt(std::log(w));
  root = std::sqrt(w);
  scale = deviation / std::sqrt(w * (w - 1));
}

double ShiftedLognormal::at(double z) const { return mean + scale * (std::exp(s * z) - root); }

double ShiftedLognormal::cdf(double x) const {
  double exponential = (x - mean) / scale + root;
  return exponential <= 0 ? 0 : normalCdf(std::log(exponential) / s);
}

double slowestChain(const MessageNoise &noise, double chains, double messages, double q) {
  // q = P(one chain)^chains; the tail is kept as such, since it is small.
  double tail = -std::expm1(std::log(q) / chains);
  double z = -normalQuantile(tail), deviation = std::sqrt(messages * noise.variance());
  if (deviation == 0)
    return messages;
  return ShiftedLognormal(messages, deviation, messages * noise.thirdMoment() / std::pow(deviation, 3)).at(z);
}

//===- delays ---------------------------------------------------------------------------------------------------===//

static constexpr int points = 384; // setting: of a table

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
  return slowestChain(noise, chains, messages, 0.9999); // setting: beyond it nobody asks
}

int floorLog(int n) {
  int log = 0;
  while (n >>= 1)
    ++log;
  return log;
}

/// A binomial tree from its leaves to its root, or from the root to all leaves. Child k of a rank, the root of 2^k ranks or of what
/// is left of them, is taken in this order on the way up and served the other way around on the way down; who is done before the
/// last one has time to spare.
class Binomial {
public:
  Binomial(bool up, const MessageNoise &noise, double latency, double transfer, double reach)
      : up(up), noise(noise), latency(latency), transfer(transfer), reach(reach) {}

  struct Tree {
    Delays late;      ///< at the root, or at the last leaf
    Delays message;   ///< and with the message to or from the tree's parent
    double quiet = 0; ///< time without noise
  };
  const Tree &over(int ranks) {
    auto found = trees.find(ranks);
    if (found != trees.end())
      return found->second;
    std::vector<std::pair<const Tree *, double>> children; // and when they are done
    int largest = 1;
    while (2 * largest < ranks)
      largest *= 2;
    double turns = 0, last = 0;
    for (int first = ranks > 1 ? largest : 0; first >= 1; first /= 2) {
      const Tree &child = over(std::min(first, ranks - first));
      children.push_back({&child, (up ? 0 : turns) + latency + transfer + child.quiet});
      turns += transfer;
      last = std::max(last, children.back().second);
    }
    Tree tree{Delays(reach), Delays(reach), last};
    for (auto [child, done] : children)
      tree.late.waitFor(child->message, last - done);
    tree.message = tree.late.later(noise);
    return trees.emplace(ranks, std::move(tree)).first->second;
  }

private:
  bool up;
  const MessageNoise &noise;
  double latency, transfer, reach;
  std::map<int, Tree> trees; ///< by number of ranks
};

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

namespace {
enum class Form { None, Chains, Doubling, OneChain, AtOnce, Twice, Binomial, InOrder };

bool rooted(CollectiveKind kind) {
  return kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce || kind == CollectiveKind::Gather ||
         kind == CollectiveKind::Scatter;
}

Form formOf(const std::string &name, CollectiveKind kind, int n) {
  bool whole = (n & (n - 1)) == 0; // else some ranks sit out
  if (name == "ring" && kind != CollectiveKind::Broadcast)
    return Form::Chains;
  if (name == "bruck" || name == "dissemination")
    return Form::Doubling;
  if (name == "recursive_doubling" || name == "halving_doubling" || name == "binary_blocks" || name == "pat")
    return whole ? Form::Doubling : Form::None;
  if (name == "pipelined_chain")
    return Form::OneChain;
  if (name == "naive_exchange")
    return Form::AtOnce;
  if (name == "two_shot" || (name == "parameter_server" && n <= 64))
    return Form::Twice;
  if (name == "master_worker") // of other kinds, what it hands on is of another size
    return kind == CollectiveKind::AllReduce || kind == CollectiveKind::Barrier ? Form::Twice : Form::None;
  if (name == "binomial_tree") // gather and scatter: messages of many sizes
    return kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter ? Form::None : Form::Binomial;
  return name == "double_binary_tree" ? Form::InOrder : Form::None;
}
} // namespace

// setting: up to where the forms were found to hold (below)
static constexpr double longestHeavyChain = 48;
static constexpr double longestHeavyDoubling = 10;
static constexpr int mostHeavyChains = 24, mostHeavyDoubling = 64; ///< ranks

bool hasDelayForm(const std::string &algorithm, CollectiveKind kind, int ranks, const MessageNoise &noise,
                  double latency, double transfer) {
  Form form = formOf(algorithm, kind, ranks);
  bool whole = (ranks & (ranks - 1)) == 0;
  // Messages of two trees, of subtrees that are done at one time, or of one step and the next larger one meet on a link, where a late
  // one gives way or holds the other up: small ones only.
  bool meet = form == Form::InOrder || form == Form::Doubling ||
              (form == Form::Binomial && !whole && kind != CollectiveKind::Broadcast);
  // Long chains of heavy-tailed messages, and many of them, drift apart by more than a latency, so that ranks hold up each other:
  // lognormal 1.0 over 62 messages on 32 ranks is 5.9 % off the form, and 5.2 % over 31 of them.
  bool heavy = noise.shape == MessageNoise::Lognormal && noise.sigma > 0.5;
  // Halvings there and back on 64 ranks, 12 messages, are 6.4 % above it. On 128 ranks, 7 messages of each, one late message holds
  // up so many others, of which the slowest counts, that it is 7 % above.
  double steps = heavy && form != Form::None ? double(algorithms::find(algorithm)->steps(kind, ranks, {})) : 0;
  if ((form == Form::Chains && (steps > longestHeavyChain || (heavy && ranks > mostHeavyChains))) ||
      (form == Form::Doubling && (steps > longestHeavyDoubling || (heavy && ranks > mostHeavyDoubling))))
    return false;
  return form != Form::None && (!meet || transfer <= 0.1 * latency); // setting: small
}

double messagePart(const std::string &algorithm, CollectiveKind kind, int ranks) {
  bool blocks = kind == CollectiveKind::AllToAll || kind == CollectiveKind::ReduceScatter ||
                kind == CollectiveKind::Scatter || algorithm == "two_shot" || algorithm == "parameter_server";
  if (formOf(algorithm, kind, ranks) == Form::Doubling)
    return kind == CollectiveKind::AllGather ? 0.5 * ranks : algorithm == "recursive_doubling" ? 1 : 0.5;
  return blocks ? 1.0 / ranks : algorithm == "double_binary_tree" ? 0.5 : 1;
}

std::optional<std::function<double(double q)>> delayQuantile(const std::string &algorithm, CollectiveKind kind, int n,
                                                             const MessageNoise &noise, double latency,
                                                             double transfer) {
  using Quantile = std::function<double(double q)>;
  auto of = [](Delays delays) { return Quantile([delays](double q) { return delays.quantile(q); }); };
  const algorithms::Algorithm *found = algorithms::find(algorithm);
  double steps = found ? double(found->steps(kind, n, {})) : 0;
  /// Of the n - 1 messages to or from one rank, which take turns on its link.
  auto largestOfOne = [&](double reach) {
    Delays largest(reach), one = Delays(reach).later(noise);
    for (int k = 0; k < n - 1; ++k)
      largest.waitFor(one, k * transfer);
    return largest;
  };
  if (!hasDelayForm(algorithm, kind, n, noise, latency, transfer))
    return std::nullopt;
  switch (formOf(algorithm, kind, n)) {
  case Form::None:
    return std::nullopt;
  case Form::Chains:
  case Form::Doubling:
    return Quantile([=](double q) { return slowestChain(noise, n, steps, q); });
  case Form::OneChain:
    return Quantile([=](double q) { return slowestChain(noise, 1, steps, q); });
  case Form::AtOnce: {
    Delays largest = largestOfOne(reachOf(noise, double(n) * n, 1));
    return of(rooted(kind) ? largest : largest.largestOf(n));
  }
  case Form::Twice: {
    Delays largest = largestOfOne(reachOf(noise, double(n) * n, 2));
    Delays both = largest.then(largest);
    return of(algorithm == "master_worker" ? both : both.largestOf(n));
  }
  case Form::Binomial: {
    double reach = reachOf(noise, n, 2 * floorLog(n) + 2);
    bool up = kind != CollectiveKind::Broadcast, down = kind != CollectiveKind::Reduce;
    Delays sum(reach);
    if (up)
      sum = Binomial(true, noise, latency, transfer, reach).over(n).late;
    if (down)
      sum = sum.then(Binomial(false, noise, latency, transfer, reach).over(n).late);
    return of(sum);
  }
  case Form::InOrder: {
    int spanned = kind == CollectiveKind::Broadcast ? n - 1 : n;
    double reach = reachOf(noise, n, 2 * floorLog(spanned) + 1);
    Delays way = InOrderTree{noise, latency + transfer, reach, {}}.over(spanned).first;
    Delays sum = kind == CollectiveKind::Broadcast ? way.later(noise) : way.then(way);
    return of(sum.largestOf(2));
  }
  }
  return std::nullopt;
}

} // namespace braid::cost
