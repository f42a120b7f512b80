//===- Search.cpp - bucket rules, scheduled and priced ----------------------------------------------------------===//
//   1. Bucket caps of 1 to 256 MiB, walking in the order of the text or of readiness, closing at or scanning past
//      dependents: scheduled, played without noise. Rules that give equal buckets are tried once.
//   2. The best of each cap with a small first bucket, keeping the program's order of compute, waiting for lanes.
//   3. The best of each cap by the objective with few samples: noise moves the best size of buckets (start-up tails
//      favour few, bandwidth tails many), so every size stays in until here.
//   4. The best three of those, with the engine's algorithms and with those best by the objective: by the objective in
//      full, against the baselines.
// Draws are common to all candidates, so that differences are less noisy than values.
//===------------------------------------------------------------------------------------------------------------===//
#include "schedule/Search.h"
#include <algorithm>
#include <map>
#include <set>

using namespace braid::cost;

namespace {

constexpr int64_t mebibyte = int64_t(1) << 20;

/// One way to make a schedule.
struct Variant {
  BucketRule rule;
  bool fillWaits = true;
  double patience = 0;
  bool objectiveAlgorithms = false;

  std::string text() const {
    std::string text = std::to_string(rule.cap.value / mebibyte) + " MiB";
    if (rule.firstCap.value)
      text += ", the first " + std::to_string(rule.firstCap.value / mebibyte) + " MiB";
    text += rule.byReadiness || rule.firstCap.value ? ", in order of readiness" : ", in order of the text";
    text += rule.scanPastDependents ? ", scanning past dependents" : ", closing at dependents";
    if (!fillWaits)
      text += ", compute in program order";
    if (patience > 0)
      text += ", waiting for lanes";
    text += objectiveAlgorithms ? ", algorithms by the objective" : ", the engine's algorithms";
    return text;
  }
};

struct Trial {
  Variant variant;
  Schedule schedule;
  Seconds score;
};

class Search {
public:
  Search(const Program &program, const Pricer &pricer, const PlanOptions &options)
      : program(program), pricer(pricer), options(options) {}

  PolicyResult run(const std::vector<PolicyResult> &baselines) {
    std::vector<Trial> finalists = byCap();
    SampleOptions few = options.sampling;
    few.samples = std::min(few.samples, 200);
    few.jobs = std::min(few.jobs, 24);
    few.steps = std::min(few.steps, 4);
    for (Trial &trial : finalists)
      trial.score = objective(program, trial.schedule, pricer, options.objective, few);
    sortByScore(finalists);
    if (finalists.size() > 3)
      finalists.resize(3);
    for (size_t i = 0, count = finalists.size(); i < count; ++i) {
      Variant variant = finalists[i].variant;
      variant.objectiveAlgorithms = true;
      tryOne(variant, finalists);
    }

    PolicyResult best;
    bool found = false;
    auto launches = [](const Schedule &schedule) {
      size_t count = 0;
      for (const BlockSchedule &block : schedule.blocks)
        count += block.buckets.size();
      return count;
    };
    auto offer = [&](const Schedule &schedule, Seconds value, const std::string &rule) {
      if (found &&
          (value > best.objective || (value == best.objective && launches(schedule) >= launches(best.schedule))))
        return;
      best.schedule = schedule;
      best.objective = value;
      best.rule = rule;
      found = true;
    };
    for (Trial &trial : finalists)
      offer(trial.schedule, objective(program, trial.schedule, pricer, options.objective, options.sampling),
            trial.variant.text());
    for (const PolicyResult &baseline : baselines)
      if (fits(baseline.schedule))
        offer(baseline.schedule, baseline.objective, std::string("as ") + name(baseline.policy));
    best.policy = Policy::Braid;
    if (found)
      measure(best, program, pricer, options);
    return best;
  }

private:
  static void sortByScore(std::vector<Trial> &trials) {
    std::sort(trials.begin(), trials.end(), [](const Trial &a, const Trial &b) {
      return a.score == b.score ? a.variant.rule.cap < b.variant.rule.cap : a.score < b.score; // one trial per cap
    });
  }

  bool fits(const Schedule &schedule) const {
    return options.memoryLimit.value <= 0 || peakMemory(program, schedule).bytes <= options.memoryLimit;
  }

  /// The best trial of each cap, without noise.
  std::vector<Trial> byCap() {
    std::map<int64_t, Trial> best;
    auto keep = [&](std::vector<Trial> &trials) {
      for (Trial &trial : trials) {
        auto [place, first] = best.try_emplace(trial.variant.rule.cap.value, trial);
        if (!first && trial.score < place->second.score)
          place->second = std::move(trial);
      }
      trials.clear();
    };
    std::vector<Trial> trials;
    for (int64_t cap = 1; cap <= 256; cap *= 2)
      for (bool byReadiness : {true, false})
        for (bool scan : {true, false}) {
          Variant variant;
          variant.rule.cap = {cap * mebibyte};
          variant.rule.byReadiness = byReadiness;
          variant.rule.scanPastDependents = scan;
          tryOne(variant, trials);
        }
    keep(trials);
    std::vector<Variant> bases;
    for (auto &[cap, trial] : best)
      bases.push_back(trial.variant);
    for (const Variant &base : bases) {
      for (int64_t first : {1, 8})
        if (first * mebibyte < base.rule.cap.value) {
          Variant variant = base;
          variant.rule.firstCap = {first * mebibyte};
          tryOne(variant, trials);
        }
      Variant variant = base;
      variant.patience = 1;
      tryOne(variant, trials);
      variant.patience = 0;
      variant.fillWaits = false;
      tryOne(variant, trials);
    }
    keep(trials);
    std::vector<Trial> result;
    for (auto &[cap, trial] : best)
      result.push_back(std::move(trial));
    return result;
  }

  /// Adds the variant's schedule, scored without noise, unless it was tried before or does not fit.
  void tryOne(const Variant &variant, std::vector<Trial> &trials) {
    std::vector<std::vector<Bucket>> buckets;
    std::vector<int> signature{variant.fillWaits, int(variant.patience * 16), variant.objectiveAlgorithms};
    for (const Block &block : program.blocks) {
      buckets.push_back(bucketize(block, variant.rule));
      if (variant.objectiveAlgorithms)
        for (Bucket &bucket : buckets.back())
          bucket.candidate = bestByObjective(mergedSpec(block, bucket));
      for (const Bucket &bucket : buckets.back()) {
        signature.insert(signature.end(), bucket.tasks.begin(), bucket.tasks.end());
        signature.push_back(-1 - bucket.candidate);
      }
      signature.push_back(-1000);
    }
    if (!tried.insert(std::move(signature)).second)
      return;

    ListOptions list;
    list.inFlight = options.inFlight;
    list.fillWaits = variant.fillWaits;
    list.patience = variant.patience;
    Trial trial{variant, make(buckets, list), {}};
    if (!fits(trial.schedule)) {
      list.memoryLimit = options.memoryLimit;
      trial.schedule = make(buckets, list);
      if (!fits(trial.schedule))
        return;
    }
    trial.score = playWithoutNoise(program, trial.schedule, pricer).total;
    trials.push_back(std::move(trial));
  }

  Schedule make(const std::vector<std::vector<Bucket>> &buckets, ListOptions list) const {
    Schedule schedule;
    std::vector<Seconds> times;
    list.times = &times;
    for (size_t b = 0; b < buckets.size(); ++b)
      schedule.blocks.push_back(listSchedule(program, int(b), buckets[b], pricer, list));
    return schedule;
  }

  /// The candidate with the best mean (training at the median) or the best quantile of one execution.
  int bestByObjective(const CollectiveSpec &spec) {
    const std::vector<Candidate> &candidates = pricer.candidates(spec);
    auto [place, first] = algorithms.try_emplace(&candidates, 0);
    if (!first)
      return place->second;
    bool mean = options.objective.kind == ObjectiveKind::Training && options.objective.quantile == 0.5;
    Seconds best;
    for (size_t c = 0; c < candidates.size(); ++c) {
      if (candidates[c].time > 4 * candidates.front().time)
        break; // sorted by price: noise does not make up for that
      Seconds value = mean ? pricer.mean(spec, c) : pricer.quantile(spec, c, options.objective.quantile).first;
      if (c == 0 || value < best) {
        best = value;
        place->second = int(c);
      }
    }
    return place->second;
  }

  const Program &program;
  const Pricer &pricer;
  const PlanOptions &options;
  std::set<std::vector<int>> tried;
  std::map<const std::vector<Candidate> *, int> algorithms; // the pricer's answers live as long as it does
};

} // namespace

PolicyResult braid::cost::searchPlan(const Program &program, const Pricer &pricer, const PlanOptions &options,
                                     const std::vector<PolicyResult> &baselines) {
  return Search(program, pricer, options).run(baselines);
}
