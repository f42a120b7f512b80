//===- Quantiles.cpp - the distribution of a schedule's step time, by sampling ----------------------------------===//
//
// Draws are functions of (seed, job, step, operation): two policies sampled with one seed meet the same jobs and steps
// (common random numbers), so that their difference has less noise than either.
//===------------------------------------------------------------------------------------------------------------===//
#include "simulate/Flatten.h"
#include "simulate/OrderStatistics.h"
#include "simulate/RankClocks.h"
#include <optional>

using namespace braid::cost;

namespace {

class Sampler {
public:
  /// `ownClocks`: each rank has one, where that makes a difference. A search samples a schedule thousands of times, with one.
  Sampler(const Program &program, const Schedule &schedule, const Pricer &pricer, uint64_t seed, bool skewed = true,
          bool ownClocks = false)
      : flat(flatten(program, schedule, pricer, /*merge=*/true)), draw{&pricer, seed, this},
        skewed(skewed && pricer.cluster().compute.skewed()), engine(flat, draw, nobody) {
    if (ownClocks && RankClocks::differ(program))
      byRank.emplace(flat, program, schedule, pricer);
  }
  Sampler(const Sampler &) = delete;

  double step(uint64_t ofJob, uint64_t number) {
    if (byRank)
      return byRank->step(draw.seed, ofJob, number);
    job = ofJob;
    stepNumber = number;
    return engine.step(skewed ? draw.pricer->slowestCompute(draw.seed, job, number) : 1).total;
  }

private:
  struct Draw {
    const Pricer *pricer;
    uint64_t seed;
    const Sampler *sampler;
    double operator()(int, const FlatEvent &event, const Candidate &candidate, uint64_t operation, double) const {
      return pricer->draw(candidate, Fabric(event.fabric), seed, sampler->job, sampler->stepNumber, operation).value;
    }
  };
  FlatProgram flat;
  NoWatcher nobody;
  Draw draw;
  bool skewed;
  uint64_t job = 0, stepNumber = 0;
  StepPlayer<Draw, NoWatcher> engine;
  std::optional<RankClocks> byRank;
};

/// Half the distance of the order statistics one binomial standard deviation around the quantile.
double standardErrorOf(const std::vector<double> &sorted, double q) {
  double spread = std::sqrt(q * (1 - q) / double(sorted.size()));
  return (quantileOf(sorted, std::min(1.0, q + spread)) - quantileOf(sorted, std::max(0.0, q - spread))) / 2;
}

std::vector<double> freshSteps(const Program &program, const Schedule &schedule, const Pricer &pricer,
                               const SampleOptions &options) {
  Sampler sampler(program, schedule, pricer, options.seed, options.skewed);
  std::vector<double> times(size_t(std::max(1, options.samples)));
  for (size_t i = 0; i < times.size(); ++i)
    times[i] = sampler.step(i, 0);
  std::sort(times.begin(), times.end());
  return times;
}

} // namespace

double braid::cost::drawnLaunches(const Program &program) {
  std::vector<double> drawn(program.blocks.size());
  for (size_t b = 0; b < program.blocks.size(); ++b) // callees first
    for (const Task &task : program.blocks[b].tasks)
      if (task.kind == Task::Collective)
        drawn[b] += 1;
      else if (task.kind == Task::Nested)
        drawn[b] += std::min(std::ceil(task.trips), double(drawnTrips)) * drawn[task.block];
  return drawn.empty() ? 0 : drawn.back();
}

SampleOptions braid::cost::affordable(const Program &program, SampleOptions asked) {
  constexpr double launches = 512; // setting: of a step that is sampled in full
  double drawn = drawnLaunches(program);
  if (drawn <= launches)
    return asked;
  auto fewer = [&](int count, int least) { return std::max(std::min(count, least), int(count * launches / drawn)); };
  asked.samples = fewer(asked.samples, 200);
  asked.steps = fewer(asked.steps, 4);
  return asked;
}

SampleOptions braid::cost::unseen(SampleOptions searched) {
  searched.seed = ~searched.seed;
  return searched;
}

Quantiles braid::cost::quantiles(const Program &program, const Schedule &schedule, const Pricer &pricer,
                                 const SampleOptions &options) {
  if (isDeterministic(pricer, options)) {
    Seconds total = playWithoutNoise(program, schedule, pricer).total;
    return {total, total, total, {}, {}};
  }
  std::vector<double> times = freshSteps(program, schedule, pricer, options);
  return {{quantileOf(times, 0.5)},
          {quantileOf(times, 0.95)},
          {quantileOf(times, 0.99)},
          {standardErrorOf(times, 0.5)},
          {standardErrorOf(times, 0.99)}};
}

std::vector<Seconds> braid::cost::stepTimes(const Program &program, const Schedule &schedule, const Pricer &pricer,
                                            uint64_t seed, uint64_t firstJob, int jobs, int steps) {
  Sampler sampler(program, schedule, pricer, seed, /*skewed=*/true, /*ownClocks=*/true);
  std::vector<Seconds> times;
  for (int job = 0; job < jobs; ++job)
    for (int step = 0; step < steps; ++step)
      times.push_back({sampler.step(firstJob + uint64_t(job), uint64_t(step))});
  return times;
}

Seconds braid::cost::objective(const Program &program, const Schedule &schedule, const Pricer &pricer,
                               const Objective &objective, const SampleOptions &options) {
  if (isDeterministic(pricer, options))
    return playWithoutNoise(program, schedule, pricer).total;
  if (objective.kind == ObjectiveKind::Serving)
    return {quantileOf(freshSteps(program, schedule, pricer, options), objective.quantile)};
  Sampler sampler(program, schedule, pricer, options.seed, options.skewed);
  std::vector<double> means(size_t(std::max(1, options.jobs)));
  for (size_t job = 0; job < means.size(); ++job) {
    double sum = 0;
    for (int step = 0; step < std::max(1, options.steps); ++step)
      sum += sampler.step(job, uint64_t(step));
    means[job] = sum / std::max(1, options.steps);
  }
  std::sort(means.begin(), means.end());
  return {quantileOf(means, objective.quantile)};
}
