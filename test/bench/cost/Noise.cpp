//===- Noise.cpp - closed-form noise beside sampled plays -----------------------------------------------------------===//
//
//   cost_noise [--full] [--ranks=N] [--only=ALGORITHM] [--control] [--all]
//
// Quantiles of the whole time, on one switch; --all prints each that is over 5 % off. Sampling plays the step programs, message by
// message, with the noise of each message drawn; the closed form adds a quantile of the delays to the quiet time. With --control the
// closed form pays the largest of all messages in each step, as if ranks met at a barrier.
//
// How many plays: until the standard error of each quantile is at most 1 %, and on until it is known (at two standard errors)
// whether the form is within 5 %, or a budget of messages is spent. To need few, a batch of plays is stratified by the largest noise
// of all messages, which decides tails: its distribution function's values are spread evenly over the batch, the others are drawn
// below it. Batches are independent, so that the standard error is seen from how they differ. All sizes and means of a case use
// the same draws.
//===------------------------------------------------------------------------------------------------------------===//
#include "cost_models/pricing/Noise.h"
#include "../../unit/PricedClusters.h"
#include "braid/cost_models/Topology.h"
#include "cost_models/pricing/Kinds.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace braid::cost;
namespace alg = braid::algorithms;

namespace {

struct Case {
  const char *algorithm;
  CollectiveKind kind;
  bool onlyFull = false; ///< another one sends the same messages
};
const Case cases[] = {{"ring", CollectiveKind::AllReduce},
                      {"ring", CollectiveKind::AllGather},
                      {"naive_exchange", CollectiveKind::AllToAll},
                      {"naive_exchange", CollectiveKind::AllGather},
                      {"naive_exchange", CollectiveKind::Gather},
                      {"naive_exchange", CollectiveKind::Broadcast, true},
                      {"binomial_tree", CollectiveKind::AllReduce},
                      {"binomial_tree", CollectiveKind::Broadcast},
                      {"binomial_tree", CollectiveKind::Reduce},
                      {"recursive_doubling", CollectiveKind::AllReduce},
                      {"halving_doubling", CollectiveKind::AllReduce},
                      {"halving_doubling", CollectiveKind::ReduceScatter, true},
                      {"binary_blocks", CollectiveKind::AllReduce, true},
                      {"bruck", CollectiveKind::AllGather},
                      {"bruck", CollectiveKind::AllToAll, true},
                      {"pat", CollectiveKind::AllGather},
                      {"dissemination", CollectiveKind::Barrier},
                      {"pipelined_chain", CollectiveKind::Broadcast},
                      {"pipelined_chain", CollectiveKind::AllReduce},
                      {"two_shot", CollectiveKind::AllReduce},
                      {"parameter_server", CollectiveKind::AllReduce, true},
                      {"master_worker", CollectiveKind::AllReduce},
                      {"double_binary_tree", CollectiveKind::AllReduce},
                      {"double_binary_tree", CollectiveKind::Broadcast}};
const struct {
  const char *name;
  MessageNoise noise;
} shapes[] = {{"exponential", {MessageNoise::Exponential, 0}},
              {"lognormal 0.5", {MessageNoise::Lognormal, 0.5}},
              {"lognormal 1.0", {MessageNoise::Lognormal, 1.0}}};
const double quantiles[] = {0.5, 0.9, 0.95, 0.99};

constexpr int batch = 125; ///< plays
constexpr size_t fewest = 1000;
constexpr double limit = 0.05, sure = 0.01; ///< of the error, and of the standard error

/// Noise of each message of a play, mean 1.
class Draws {
public:
  Draws(const MessageNoise &noise, int64_t messages) : noise(noise), late(size_t(messages)) {}

  /// `place` of `batch`: which part of the distribution the largest is drawn from.
  const std::vector<double> &next(int place) {
    double logarithm = std::log((place + uniform(random)) / batch) / double(late.size());
    double largest = withTail(-std::expm1(logarithm)); // P(largest < x) = F(x)^messages
    size_t where = std::uniform_int_distribution<size_t>(0, late.size() - 1)(random);
    for (size_t message = 0; message < late.size(); ++message)
      do
        late[message] = message == where ? largest : one();
      while (message != where && late[message] >= largest);
    return late;
  }

private:
  double one() {
    return noise.shape == MessageNoise::Exponential
               ? exponential(random)
               : std::exp(noise.sigma * normal(random) - noise.sigma * noise.sigma / 2);
  }
  /// What is exceeded so often.
  double withTail(double tail) const {
    return noise.shape == MessageNoise::Exponential
               ? -std::log(tail)
               : std::exp(-noise.sigma * normalQuantile(tail) - noise.sigma * noise.sigma / 2);
  }

  const MessageNoise noise;
  std::vector<double> late;
  std::mt19937_64 random{1};
  std::uniform_real_distribution<double> uniform;
  std::exponential_distribution<double> exponential;
  std::normal_distribution<double> normal;
};

/// Plays of one size with one mean noise, and the closed form for it.
class Sampled {
public:
  Sampled(const KindProgram &program, const Topology &topology, Bytes bytes, double each,
          std::function<double(double)> formed)
      : bytes(bytes), each(each), formed(std::move(formed)), program(program), topology(topology) {}

  void play(const std::vector<double> &noise) {
    late.resize(noise.size());
    std::transform(noise.begin(), noise.end(), late.begin(), [&](double mean1) { return each * mean1; });
    times.push_back(program.play(bytes, topology.links(), topology.cluster().device.reduction, &late)->value);
  }
  void batchIsOver() {
    std::sort(times.begin(), times.end());
    auto middle = std::ptrdiff_t(sorted.size());
    sorted.insert(sorted.end(), times.begin(), times.end());
    std::inplace_merge(sorted.begin(), sorted.begin() + middle, sorted.end());
    batches.push_back(std::move(times));
    times.clear();
  }
  /// The order statistic at q, and its standard error relative to it: that of how many are below it, seen from the batches.
  std::pair<double, double> at(double q) const {
    double last = double(sorted.size()) - 1;
    auto place = [&](double x) { return sorted[size_t(std::lround(std::clamp(x * last, 0.0, last)))]; };
    double value = place(q), mean = 0, squares = 0;
    for (const std::vector<double> &one : batches) {
      double below = double(std::upper_bound(one.begin(), one.end(), value) - one.begin()) / batch;
      mean += below / double(batches.size());
      squares += below * below;
    }
    double count = double(batches.size());
    double variance = std::max(0.0, squares / count - mean * mean) / std::max(1.0, count - 1);
    double off = std::max(std::sqrt(variance), 0.5 / double(sorted.size())); // no finer than the samples are
    return {value, (place(q + off) - place(q - off)) / 2 / value};
  }
  double error(double q) const { return std::abs(formed(q) / at(q).first - 1); }
  bool known(double q) const { return double(sorted.size()) * (1 - q) >= 9.999 && at(q).second <= sure; }
  /// Whether it is known, and on which side of the limit the form is.
  bool decided() const {
    return sorted.size() >= fewest && std::all_of(std::begin(quantiles), std::end(quantiles), [&](double q) {
             return known(q) && std::abs(error(q) - limit) > 2 * at(q).second;
           });
  }
  /// Whether to stop. Looked at as samples grow by a quarter.
  bool enough(int64_t budget) {
    if (batches.size() < look)
      return false;
    look = batches.size() * 5 / 4 + 1;
    return decided() || int64_t(sorted.size()) * (program.messages() + perPlay) >= budget;
  }

  const Bytes bytes;
  const double each; ///< mean noise of a message, seconds
  const std::function<double(double)> formed;

private:
  const KindProgram &program;
  const Topology &topology;
  std::vector<double> late, times; ///< times: of the batch that is being played
  std::vector<double> sorted;      ///< of all before
  std::vector<std::vector<double>> batches;
  size_t look = fewest / batch;
  static constexpr int64_t perPlay = 500; ///< messages that a play costs beside its own
};

/// What is known of the forms so far.
struct Verdict {
  int judged = 0, unsure = 0, over = 0;
  double worst = 0, theta = 0, q = 0;
  int ranks = 0;
  Bytes bytes;
};

} // namespace

int main(int argc, char **argv) {
  bool full = false, control = false, all = false;
  int only = 0; // ranks
  const char *algorithm = nullptr;
  for (int i = 1; i < argc; ++i) {
    full |= !std::strcmp(argv[i], "--full");
    control |= !std::strcmp(argv[i], "--control");
    all |= !std::strcmp(argv[i], "--all");
    if (!std::strncmp(argv[i], "--ranks=", 8))
      only = std::atoi(argv[i] + 8);
    if (!std::strncmp(argv[i], "--only=", 7))
      algorithm = argv[i] + 7;
  }
  std::vector<int> ranks = full ? std::vector<int>{2, 3, 4, 8, 12, 16, 32, 48, 64, 128} : std::vector<int>{2, 12, 16};
  if (only > 0)
    ranks = {only};
  std::vector<int64_t> sizes = full ? std::vector<int64_t>{8, 1 << 13, 1 << 17} : std::vector<int64_t>{8, 1 << 17};
  int64_t budget = full ? 200000000 : 8000000; // messages played for one size with one mean noise
  Verdict everything;
  for (const Case &c : cases)
    for (const auto &shape : shapes) {
      if ((c.onlyFull && !full) || (algorithm && algorithm != std::string(c.algorithm)))
        continue;
      Verdict verdict;
      for (int n : ranks) {
        if (!alg::find(c.algorithm)->serves(c.kind, n))
          continue;
        Cluster cluster = quietCluster(n, 1);
        cluster.topology = "single_switch";
        Result<Topology> topology = Topology::build(cluster);
        auto program = KindProgram::everyone(*alg::find(c.algorithm), c.kind, n, {}, *topology, 0);
        double steps = double(alg::find(c.algorithm)->steps(c.kind, n, {}));
        std::vector<Sampled> sampled;
        for (int64_t bytes : sizes)
          for (double theta : {0.05, 0.3}) {
            double each = theta * topology->latency(0, 1).value;
            double part = messagePart(c.algorithm, c.kind, n) * double(bytes);
            double transfer = part / cluster.inter.bandwidth.value / each;
            auto delay = delayQuantile(c.algorithm, c.kind, n, shape.noise, 1 / theta, transfer);
            if (!delay)
              continue;
            double quiet = program->play({bytes}, topology->links(), cluster.device.reduction)->value;
            sampled.emplace_back(*program, *topology, Bytes{bytes}, each, [=, noise = shape.noise](double q) {
              return quiet + each * (control ? steps * slowestChain(noise, n, 1, q) : (*delay)(q));
            });
          }
        Draws draws(shape.noise, program->messages());
        std::vector<Sampled *> open;
        for (Sampled &one : sampled)
          open.push_back(&one);
        while (!open.empty()) {
          for (int play = 0; play < batch; ++play) {
            const std::vector<double> &noise = draws.next(play);
            for (Sampled *one : open)
              one->play(noise);
          }
          for (Sampled *one : open)
            one->batchIsOver();
          open.erase(std::remove_if(open.begin(), open.end(), [&](Sampled *one) { return one->enough(budget); }),
                     open.end());
        }
        for (const Sampled &one : sampled)
          for (double q : quantiles) {
            if (!one.known(q)) { // nothing to compare with
              ++verdict.unsure;
              continue;
            }
            ++verdict.judged;
            double error = one.error(q), theta = one.each / topology->latency(0, 1).value;
            verdict.over += error > limit;
            if (all && error > limit)
              std::printf("    n %d bytes %lld theta %g q %g: formed %.3f sampled %.3f +- %.3f (us)\n", n,
                          (long long)one.bytes.value, theta, q, one.formed(q) * 1e6, one.at(q).first * 1e6,
                          one.at(q).first * one.at(q).second * 1e6);
            if (error > verdict.worst) {
              verdict.worst = error, verdict.theta = theta, verdict.q = q;
              verdict.ranks = n, verdict.bytes = one.bytes;
            }
          }
      }
      std::printf("%-18s  %-10s  %-13s  worst %5.2f %% (%d ranks, %s, noise %g of the latency, p%g)\n", c.algorithm,
                  alg::name(c.kind), shape.name, verdict.worst * 100, verdict.ranks, toString(verdict.bytes).c_str(),
                  verdict.theta, verdict.q * 100);
      std::fflush(stdout);
      everything.judged += verdict.judged;
      everything.unsure += verdict.unsure;
      everything.over += verdict.over;
      everything.worst = std::max(everything.worst, verdict.worst);
    }
  std::printf(
      "%d quantiles compared, %d of them over the limit; %d not, where the sampling's standard error is over 1 %%\n",
      everything.judged, everything.over, everything.unsure);
  std::printf("worst error of closed-form quantiles: %.2f %%\n", everything.worst * 100);
  return 0;
}
