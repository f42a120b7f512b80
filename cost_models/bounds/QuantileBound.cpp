//===- QuantileBound.cpp - quantiles of a step that no schedule's fall below ---------------------------------------===//
//
// For each (job, step) that schedules are sampled under, a bound on the step of any schedule under its draws: the plain bound's formulas
// (LowerBound.cpp) at the least prices of the draw (DrawnPrices.h). No schedule is faster in any sample, so no quantile of any
// schedule over these samples is smaller than the same quantile of the bounds, and no objective than the bounds' own.
//
// Many draws give nearly the same prices. Factors are rounded down to whole steps of their logarithm, half a per cent or, where the
// program is large and that would be many bounds, as much as is needed: the bound of the rounded draw lies below that of the draw.
// Kernels take as long as on the slowest rank of the draw.
// A draw that makes no part of a price smaller than `s` times itself has a step of at least s times the plain bound.
//===------------------------------------------------------------------------------------------------------------===//
#include "bounds/DrawnPrices.h"
#include "simulate/Flatten.h"
#include "simulate/OrderStatistics.h"
#include <set>

using namespace braid::cost;

namespace {

/// Of latency and transfer of each kind, and then of computation, if that is drawn: whole steps of the logarithm.
using Levels = std::vector<int>;

/// Bounds that a program of this size may ask for: about a quarter of a second of them.
size_t affordableBounds(const Program &program, bool slowed) {
  double each = coarseBatches * coarseBatches;
  for (const Block &block : program.blocks) {
    double tasks = double(block.tasks.size()), collectives = 0;
    for (const Task &task : block.tasks)
      collectives += task.kind == Task::Collective;
    double asked = tasks < 2000 ? tasks : collectives; // whose heads are looked at more closely (Heads.cpp)
    each += tasks * (100 + tasks / 32 + asked);
  }
  if (slowed) // asked by two clocks
    each *= 2;
  return size_t(std::clamp(2e7 / each, 1.0, 200.0)); // setting: of the time for bounds
}

class Bounds {
public:
  Bounds(const Program &program, const Pricer &pricer, const Bound &plain, const SampleOptions &options)
      : program(program), pricer(pricer), plain(plain), seed(options.seed), launches(uint64_t(drawnLaunches(program))),
        prices(pricer), skewed(options.skewed && pricer.cluster().compute.skewed()),
        ofJobs(lastsForJobs(pricer.cluster().intra) && lastsForJobs(pricer.cluster().inter) &&
               !(skewed && pricer.cluster().compute.skewPerStep > 0)) {
    boundAt(program, pricer, prices, coarseBatches); // asks for what there is to price
  }

  /// Of each of these (job, step).
  std::vector<double> of(const std::vector<std::pair<uint64_t, uint64_t>> &places) {
    std::vector<std::vector<double>> logarithms;
    for (auto [job, step] : places)
      logarithms.push_back(drawn(job, step));
    double width = 0.005; // setting: of the levels, in logarithms
    std::vector<Levels> levels = rounded(logarithms, width);
    for (size_t most = affordableBounds(program, pricer.cluster().compute.slowed());
         width < 8 && std::set<Levels>(levels.begin(), levels.end()).size() > most;)
      levels = rounded(logarithms, width *= 2);
    std::vector<double> times;
    for (const Levels &level : levels)
      times.push_back(at(level, width));
    return times;
  }

private:
  static bool lastsForJobs(const LinkClass &links) {
    return links.profile.latencySigma == 0 && !links.profile.transfersVary();
  }

  const std::vector<double> &drawn(uint64_t job, uint64_t step) {
    auto [known, isNew] = logarithmsOf.try_emplace({job, ofJobs ? 0 : step});
    std::vector<double> &logarithms = known->second;
    if (!isNew)
      return logarithms;
    for (const DrawnPrices::Kind &kind : prices.kinds()) {
      LeastFactors f = pricer.leastFactors(kind.example, kind.fabric, seed, job, step, launches);
      logarithms.push_back(std::log(f.latency));
      logarithms.push_back(std::log(f.wire));
    }
    if (skewed)
      logarithms.push_back(std::log(pricer.slowestCompute(seed, job, step)));
    return logarithms;
  }

  static std::vector<Levels> rounded(const std::vector<std::vector<double>> &logarithms, double width) {
    std::vector<Levels> all;
    for (const std::vector<double> &one : logarithms) {
      all.emplace_back();
      for (double value : one)
        all.back().push_back(int(std::floor(std::max(value, -1e3) / width + 1e-9)));
    }
    return all;
  }

  double at(const Levels &levels, double width) {
    auto [known, isNew] = bounds.try_emplace({width, levels}, 0);
    if (!isNew)
      return known->second;
    std::vector<LeastFactors> factors;
    double smallest = 1;
    for (size_t i = 0; i + 1 < levels.size(); i += 2) {
      factors.push_back({std::exp(levels[i] * width), std::exp(levels[i + 1] * width)});
      smallest = std::min({smallest, factors.back().latency, factors.back().wire});
    }
    double computeFactor = skewed ? std::exp(levels.back() * width) : 1;
    smallest = std::min(smallest, computeFactor);
    prices.draw(factors);
    double bound = boundAt(program, pricer, prices, coarseBatches, computeFactor).time.value;
    return known->second = std::max(bound, smallest * plain.time.value);
  }

  const Program &program;
  const Pricer &pricer;
  const Bound &plain;
  uint64_t seed, launches;
  DrawnPrices prices;
  const bool skewed; ///< ranks' computation is drawn
  const bool ofJobs; ///< what is drawn lasts for jobs
  std::map<std::pair<uint64_t, uint64_t>, std::vector<double>> logarithmsOf;
  std::map<std::pair<double, Levels>, double> bounds;
};

} // namespace

QuantileBound braid::cost::quantileBound(const Program &program, const Pricer &pricer, const Bound &plain,
                                         const Objective &objective, const SampleOptions &options) {
  if (program.blocks.empty() || isDeterministic(pricer, options))
    return {plain.time, plain.time, plain.time, plain.time};
  Bounds bounds(program, pricer, plain, options);
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (int job = 0; job < std::max(1, options.samples); ++job)
    places.push_back({uint64_t(job), 0});
  std::vector<double> times = bounds.of(places);
  std::sort(times.begin(), times.end());
  QuantileBound bound{{quantileOf(times, 0.5)}, {quantileOf(times, 0.95)}, {quantileOf(times, 0.99)}, {}};
  if (objective.kind == ObjectiveKind::Serving) {
    bound.objective = {quantileOf(times, objective.quantile)};
    return bound;
  }
  int jobs = std::max(1, options.jobs), steps = std::max(1, options.steps);
  places.clear();
  for (int job = 0; job < jobs; ++job)
    for (int step = 0; step < steps; ++step)
      places.push_back({uint64_t(job), uint64_t(step)});
  times = bounds.of(places);
  std::vector<double> means;
  for (int job = 0; job < jobs; ++job) {
    double sum = 0;
    for (int step = 0; step < steps; ++step)
      sum += times[size_t(job * steps + step)];
    means.push_back(sum / steps);
  }
  std::sort(means.begin(), means.end());
  bound.objective = {quantileOf(means, objective.quantile)};
  return bound;
}
