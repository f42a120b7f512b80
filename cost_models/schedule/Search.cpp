//===- Search.cpp - bucket rules, scheduled and priced ----------------------------------------------------------===//
//
//   1. No buckets, the best contiguous buckets (ExactBuckets.h), and caps of 1/16 to 256 MiB, walking in the order of the text or of readiness, closing at or
//      scanning past dependents: scheduled, played without noise. Rules that give equal buckets are tried once.
//   2. The best of each cap with a small first bucket, keeping the program's order of compute, waiting for lanes,
//      computing what has the longest tail; and, where what is in flight slows computation, without any overlap.
//      Of all these, each block's own best (a loop body may want other buckets than what is around it).
//   3. The best of each cap by the objective with few samples: noise moves the best size of buckets (start-up tails
//      favour few, bandwidth tails many), so every size stays in until here.
//   4. The best three of those, with the algorithms that are cheapest without noise and with those best by the objective.
//   5. Where the best of them without noise is not near the bound: a local search from it (Anneal.h).
//      All of 4 and 5 by the objective in full, against the baselines.
// Programs of more than `largeProgram` tasks try every other cap, scanning past dependents only, and 2. with
// the best cap alone; the plan's rule says so.
// Draws are common to all candidates, so that differences are less noisy than values.
//===------------------------------------------------------------------------------------------------------------===//
#include "schedule/Search.h"
#include "schedule/Anneal.h"
#include "schedule/Budget.h"
#include "schedule/ExactBuckets.h"
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

using namespace braid::cost;

namespace {

/// setting: a unit; and effort of the search
constexpr int64_t mebibyte = int64_t(1) << 20;
constexpr size_t largeProgram = 20000;
/// setting: the local search, events looked at (half a second, and less above so many tasks, which the list scheduler has nearly solved),
/// tasks above which that many would change nothing, and the distance from the bound at which it is not worth its while.
constexpr int64_t annealedEvents = 20'000'000;
constexpr size_t fewTasks = 300;
constexpr size_t annealedTasks = 5000;
constexpr double nearBound = 1.0005;
/// setting: times a plan's objective, by draws of its own, that a baseline takes by others to be no match for it
constexpr double clearlyLonger = 1.1;

/// One way to make a schedule.
struct Variant {
  BucketRule rule;
  bool overlap = true; ///< false: every collective blocks where it stands
  bool exact = false;  ///< instead of the rule: the best contiguous buckets for the order of computation
  bool fillWaits = true;
  bool longestTail = false;
  bool feedChannel = false;
  double overrun = 1e300;
  double patience = 0;
  bool objectiveAlgorithms = false;

  std::string text() const {
    auto size = [](Bytes bytes) {
      return bytes.value < mebibyte ? std::to_string(bytes.value / 1024) + " KiB"
                                    : std::to_string(bytes.value / mebibyte) + " MiB";
    };
    std::string text = exact ? "exact contiguous buckets" : rule.cap.value ? size(rule.cap) : "per tensor";
    if (rule.firstCap.value)
      text += ", the first " + size(rule.firstCap);
    if (rule.cap.value) {
      text += rule.byReadiness || rule.firstCap.value ? ", in order of readiness" : ", in order of the text";
      text += rule.scanPastDependents ? ", scanning past dependents" : ", closing at dependents";
    }
    if (!overlap)
      text += ", nothing overlapped";
    if (!fillWaits)
      text += ", compute in program order";
    if (longestTail)
      text += ", compute by longest tail";
    if (feedChannel)
      text += ", what feeds the channel first";
    if (overrun == 0)
      text += ", delaying none that is longer";
    else if (overrun < 1e300)
      text += ", hardly delaying one that is longer";
    if (patience > 0)
      text += ", waiting for lanes";
    text += objectiveAlgorithms ? ", algorithms by the objective" : ", the cheapest algorithms";
    return text;
  }
};

struct Trial {
  std::vector<Variant> variants; // of each block
  Schedule schedule;
  Seconds score;
  bool annealed = false;
  std::string origin = ""; // a baseline's schedule, not made by variants

  std::string text(const Program &program) const { return rules(program) + (annealed ? "; then annealed" : ""); }
  std::string rules(const Program &program) const {
    if (!origin.empty())
      return origin + ", algorithms by the objective";
    std::string text;
    bool uniform = true;
    for (const Variant &variant : variants)
      uniform &= variant.text() == variants.front().text();
    int said = 0, most = 4;
    for (size_t b = 0; b < variants.size() && !uniform; ++b)
      if (!schedule.blocks[b].buckets.empty() && ++said <= most)
        text += (text.empty() ? "by block: " : "; ") + program.blocks[b].name + ": " + variants[b].text();
    if (said > most)
      text += "; and " + std::to_string(said - most) + " more";
    return uniform ? variants.front().text() : text;
  }
};

class Search {
public:
  Search(const Program &program, const Pricer &pricer, const PlanOptions &options)
      : program(program), pricer(pricer), options(options), budget(options.budget) {
    for (const Block &block : program.blocks)
      tasks += block.tasks.size();
    large = tasks > largeProgram;
    longestTrial = work::scheduledTask * double(tasks);
  }

  PolicyResult run(const std::vector<PolicyResult> &baselines, std::vector<Alternative> *alternatives) {
    if (options.budget.value <= 0)
      return greedyPlan(baselines);
    std::vector<Trial> finalists = candidates();
    SampleOptions few = options.sampling;
    few.samples = std::min(few.samples, 200);
    few.jobs = std::min(few.jobs, 24);
    few.steps = std::min(few.steps, 4);
    double judging = 0; // all of them, and then the best three in full
    for (const Trial &trial : finalists)
      judging += objectiveWork(program, trial.schedule, options.objective, few);
    if (!finalists.empty() && budget.take(judging, 3 * fullWork(finalists.front().schedule)))
      for (Trial &trial : finalists)
        trial.score = objective(program, trial.schedule, pricer, options.objective, few);
    sortByScore(finalists);
    if (finalists.size() > 3)
      finalists.resize(3);
    for (size_t i = 0, count = finalists.size(); i < count; ++i) {
      std::vector<Variant> variants = finalists[i].variants;
      for (Variant &variant : variants)
        variant.objectiveAlgorithms = true;
      tryOne(variants, finalists);
    }
    for (const PolicyResult &baseline :
         baselines) // where memory allows no variant: the first that fits has algorithms at least
      if (finalists.empty() && fits(baseline.schedule)) {
        finalists.push_back({std::vector<Variant>(program.blocks.size()), baseline.schedule, {}});
        finalists.back().origin = std::string("as ") + name(baseline.policy);
        chooseByObjective(finalists.back());
      }
    annealBest(finalists);

    struct Offer {
      Alternative summary;
      const Schedule *schedule;
      const PolicyResult *measured; ///< a baseline, which has been
    };
    std::vector<Offer> offers;
    auto offer = [&](const Schedule &schedule, Seconds value, const std::string &rule,
                     const PolicyResult *measured = nullptr) {
      int64_t launches = 0;
      for (const BlockSchedule &block : schedule.blocks)
        launches += int64_t(block.buckets.size());
      offers.push_back({{rule, value, launches}, &schedule, measured});
    };
    if (budget.endedSearch()) { // its own work is no part of the budget
      finalists.insert(finalists.begin(), greedy());
      budget.spend(-fullWork(finalists.front().schedule));
      if (!fits(finalists.front().schedule))
        finalists.erase(finalists.begin());
    }
    for (const Trial &trial : finalists)
      if (budget.take(fullWork(trial.schedule)))
        offer(trial.schedule, score(trial.schedule), trial.text(program));
    auto better = [](const Offer &a, const Offer &b) {
      return a.summary.objective == b.summary.objective ? a.summary.collectives < b.summary.collectives
                                                        : a.summary.objective < b.summary.objective;
    };
    for (const PolicyResult &baseline : baselines) {
      if (!fits(baseline.schedule))
        continue;
      auto reached = std::min_element(offers.begin(), offers.end(), better);
      bool beaten = reached != offers.end() && baseline.objective > clearlyLonger * reached->summary.objective;
      offer(baseline.schedule, beaten ? baseline.objective : score(baseline.schedule),
            std::string("as ") + name(baseline.policy), &baseline);
    }
    PolicyResult best;
    best.policy = Policy::Braid;
    auto winner = std::min_element(offers.begin(), offers.end(), better); // the first of equals
    if (winner == offers.end())
      return best;
    best.schedule = *winner->schedule;
    best.rule = winner->summary.rule + (large ? "; of few caps, as the program is large" : "");
    if (budget.endedSearch())
      best.rule += "; the search ended with its budget of " + toString(options.budget);
    best.searched = options.budget - Seconds{budget.left() * 1e-9};
    measure(best, program, pricer, options);
    if (alternatives) {
      offers.erase(winner);
      for (Offer &other : offers) {
        other.summary.objective =
            other.measured ? other.measured->objective
                           : objective(program, *other.schedule, pricer, options.objective, unseen(options.sampling));
        other.summary.sameLaunches = sameLaunches(*other.schedule, best.schedule);
        alternatives->push_back(other.summary);
      }
      std::sort(alternatives->begin(), alternatives->end(), [](const Alternative &a, const Alternative &b) {
        return a.objective == b.objective ? a.rule < b.rule : a.objective < b.objective;
      });
    }
    return best;
  }

  std::optional<Bound> bound; ///< if the search has asked for it

private:
  /// The objective in full.
  Seconds score(const Schedule &schedule) const {
    return objective(program, schedule, pricer, options.objective, options.sampling);
  }

  double fullWork(const Schedule &schedule) const {
    return objectiveWork(program, schedule, options.objective, options.sampling);
  }

  /// What is there without a search: buckets of 32 MiB in the order of readiness.
  Trial greedy() {
    Variant variant;
    variant.rule.cap = {32 * mebibyte};
    variant.rule.byReadiness = variant.rule.scanPastDependents = true;
    std::vector<std::vector<Bucket>> buckets;
    for (const Block &block : program.blocks)
      chooseAlgorithms(block, buckets.emplace_back(bucketize(block, variant.rule)), false);
    std::vector<Seconds> times;
    Trial trial{std::vector<Variant>(program.blocks.size(), variant), {}, {}};
    trial.schedule = make(buckets, trial.variants, {}, times);
    if (!fits(trial.schedule))
      trial.schedule = make(buckets, trial.variants, options.memoryLimit, times);
    return trial;
  }

  /// The greedy plan; where it needs too much memory, the first baseline that does not (the program as written comes first).
  PolicyResult greedyPlan(const std::vector<PolicyResult> &baselines) {
    PolicyResult plan;
    plan.policy = Policy::Braid;
    Trial trial = greedy();
    plan.schedule = trial.schedule;
    plan.rule = "greedy, for a budget of 0: " + trial.text(program);
    for (const PolicyResult &baseline : baselines) {
      if (fits(plan.schedule))
        break;
      plan.schedule = baseline.schedule;
      plan.rule = std::string("for a budget of 0, as greedy buckets need too much memory: as ") + name(baseline.policy);
    }
    measure(plan, program, pricer, options);
    return plan;
  }

  static bool sameLaunches(const Schedule &a, const Schedule &b) {
    auto sorted = [](const BlockSchedule &block) {
      std::vector<std::pair<std::vector<int>, int>> launches;
      for (const Bucket &bucket : block.buckets)
        launches.push_back({bucket.tasks, bucket.candidate});
      std::sort(launches.begin(), launches.end());
      return launches;
    };
    for (size_t i = 0; i < a.blocks.size(); ++i)
      if (sorted(a.blocks[i]) != sorted(b.blocks[i]))
        return false;
    return true;
  }

  static void sortByScore(std::vector<Trial> &trials) { // the order of caps decides between equals
    std::vector<size_t> order(trials.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return trials[a].score == trials[b].score ? a < b : trials[a].score < trials[b].score;
    });
    std::vector<Trial> sorted;
    for (size_t i : order)
      sorted.push_back(std::move(trials[i]));
    trials = std::move(sorted);
  }

  bool fits(const Schedule &schedule) const {
    return options.memoryLimit.value <= 0 || peakMemory(program, schedule).bytes <= options.memoryLimit;
  }

  /// The best trial of each cap without noise, and, where several blocks communicate, the best of each block together.
  std::vector<Trial> candidates() {
    std::map<int64_t, Trial> best;
    auto keep = [&](std::vector<Trial> &trials) {
      for (Trial &trial : trials) {
        auto [place, first] =
            best.try_emplace(trial.variants.front().exact ? -1 : trial.variants.front().rule.cap.value, trial);
        if (!first && trial.score < place->second.score)
          place->second = std::move(trial);
      }
      trials.clear();
    };
    std::vector<Trial> trials;
    tryEverywhere({}, trials); // per tensor
    for (int64_t cap = mebibyte / 16; cap <= 256 * mebibyte; cap *= large || cap < mebibyte ? 4 : 2)
      for (bool byReadiness : {true, false})
        for (bool scan : {true, false}) {
          if (large && !scan)
            continue;
          Variant variant;
          variant.rule.cap = {cap};
          variant.rule.byReadiness = byReadiness;
          variant.rule.scanPastDependents = scan;
          tryEverywhere(variant, trials);
        }
    keep(trials);
    Variant exact;
    exact.exact = true;
    tryEverywhere(exact, trials);
    keep(trials);
    std::vector<Variant> bases;
    for (auto &[cap, trial] : best)
      bases.push_back(trial.variants.front());
    if (large && !best.empty()) { // empty: nothing fits the memory limit
      auto first =
          std::min_element(best.begin(), best.end(), [](auto &a, auto &b) { return a.second.score < b.second.score; });
      bases = {first->second.variants.front()};
    }
    for (const Variant &base : bases) {
      for (int64_t first : {1, 8})
        if (first * mebibyte < base.rule.cap.value) {
          Variant variant = base;
          variant.rule.firstCap = {first * mebibyte};
          tryEverywhere(variant, trials);
        }
      Variant variant = base;
      variant.patience = 1;
      tryEverywhere(variant, trials);
      variant.longestTail = true;
      for (double patience : {1, 0})
        for (double overrun : {1e300, 1.0, 0.0}) {
          variant.patience = patience;
          variant.overrun = overrun;
          tryEverywhere(variant, trials);
        }
      variant.overrun = 1e300;
      for (bool longestTail : {false, true}) {
        variant.feedChannel = true;
        variant.longestTail = longestTail;
        for (double patience : {1, 0}) {
          variant.patience = patience;
          tryEverywhere(variant, trials);
        }
      }
      variant.feedChannel = variant.longestTail = false;
      variant.fillWaits = false;
      tryEverywhere(variant, trials);
      if (pricer.cluster()
              .compute.slowed()) { // hiding a collective costs computation, and more messages are more to hide
        variant = base;
        variant.overlap = false;
        tryEverywhere(variant, trials);
      }
    }
    keep(trials);
    std::vector<Trial> result;
    for (auto &[cap, trial] : best)
      result.push_back(std::move(trial));
    std::vector<Variant> byBlock;
    for (const BestOfBlock &block : bestOfBlock)
      byBlock.push_back(block.variant);
    if (!byBlock.empty())
      tryOne(byBlock, result);
    return result;
  }

  void tryEverywhere(const Variant &variant, std::vector<Trial> &trials) {
    tryOne(std::vector<Variant>(program.blocks.size(), variant), trials);
  }

  /// Adds the schedule, scored without noise, unless it was tried before or does not fit.
  void tryOne(const std::vector<Variant> &variants, std::vector<Trial> &trials) {
    if (budget.left() < longestTrial + 4 * reserve) {
      budget.take(longestTrial, 4 * reserve); // says that the search has ended
      return;
    }
    double before = budget.left();
    size_t priced = pricer.priced();
    tryNow(variants, trials);
    budget.spend(priceWork(program, pricer) * double(pricer.priced() - priced));
    longestTrial = std::max(longestTrial, before - budget.left());
    if (!trials.empty())
      reserve = std::max(reserve, fullWork(trials.back().schedule));
  }

  void tryNow(const std::vector<Variant> &variants, std::vector<Trial> &trials) {
    std::vector<std::vector<Bucket>> buckets;
    int64_t looked = 0;
    size_t tasks = 0;
    std::vector<int> signature;
    for (size_t b = 0; b < program.blocks.size(); ++b) {
      const Block &block = program.blocks[b];
      const Variant &variant = variants[b];
      signature.insert(signature.end(),
                       {-1000, variant.overlap, variant.fillWaits, variant.longestTail,
                        int(std::min(variant.overrun, 100.0) * 16), // setting: told apart by sixteenths
                        int(variant.patience * 16)});
      buckets.push_back(variant.exact ? exactFor(int(b), variant) : bucketize(block, variant.rule, &looked));
      tasks += block.tasks.size();
      chooseAlgorithms(block, buckets.back(), variant.objectiveAlgorithms);
      for (const Bucket &bucket : buckets.back()) {
        signature.insert(signature.end(), bucket.tasks.begin(), bucket.tasks.end());
        signature.push_back(-1 - bucket.candidate);
      }
    }
    budget.spend(work::edge * double(looked));
    if (!tried.insert(std::move(signature)).second) {
      budget.spend(work::scheduledTask / 8 * double(tasks));
      return;
    }
    budget.spend(work::scheduledTask * double(tasks));

    std::vector<Seconds> times;
    Trial trial{variants, make(buckets, variants, {}, times), {}};
    if (!fits(trial.schedule)) {
      budget.spend(work::scheduledTask * double(tasks));
      trial.schedule = make(buckets, variants, options.memoryLimit, times);
      if (!fits(trial.schedule))
        return;
    }
    trial.score = playWithoutNoise(program, trial.schedule, pricer).total;
    bestOfBlock.resize(program.blocks.size());
    for (size_t b = 0; b < times.size(); ++b) { // a block's own time: nested blocks run alone and add up
      Seconds own = times[b];
      for (const Task &task : program.blocks[b].tasks)
        if (task.kind == Task::Nested)
          own = own - task.trips * times[task.block];
      if (!bestOfBlock[b].known || own < bestOfBlock[b].own)
        bestOfBlock[b] = {true, own, variants[b]};
    }
    trials.push_back(std::move(trial));
  }

  /// From the best without noise; with its algorithms, and with those best by the objective.
  void annealBest(std::vector<Trial> &finalists) {
    auto shorter = [](const Trial &a, const Trial &b) { return a.score < b.score; };
    if (tasks > annealedTasks)
      return;
    for (Trial &trial : finalists)
      trial.score = playWithoutNoise(program, trial.schedule, pricer).total;
    auto first = std::min_element(finalists.begin(), finalists.end(), shorter);
    AnnealOptions search;
    search.inFlight = options.inFlight;
    search.memoryLimit = options.memoryLimit;
    if (!budget.take(work::cutPair * double(tasks) * double(tasks), 8 * reserve)) // for the bound
      return;
    int64_t events = annealedEvents * int64_t(fewTasks) / int64_t(std::max(fewTasks, tasks));
    search.budget = std::min(events, int64_t((budget.left() - 8 * reserve) / work::movedEvent));
    bound = lowerBound(program, pricer);
    search.goal = nearBound * bound->time;
    if (first == finalists.end() || first->score <= search.goal)
      return;
    budget.spend(work::movedEvent * double(search.budget));
    Trial trial = *first;
    trial.annealed = true;
    trial.schedule = anneal(program, first->schedule, pricer, search);
    trial.score = playWithoutNoise(program, trial.schedule, pricer).total;
    if (trial.score * nearBound >= first->score || !fits(trial.schedule))
      return; // the same in a stranger order
    finalists.push_back(trial);
    if (chooseByObjective(trial))
      finalists.push_back(std::move(trial));
  }

  /// The same schedule; whether an algorithm has changed.
  bool chooseByObjective(Trial &trial) {
    bool changed = false;
    for (size_t b = 0; b < trial.schedule.blocks.size(); ++b)
      for (Bucket &bucket : trial.schedule.blocks[b].buckets) {
        int chosen = bestByObjective(mergedSpec(program.blocks[b], bucket));
        changed |= chosen != bucket.candidate;
        bucket.candidate = chosen;
        trial.variants[b].objectiveAlgorithms = true;
      }
    return changed;
  }

  /// The exact buckets for the order in which single tensors would have the block computed.
  const std::vector<Bucket> &exactFor(int block, const Variant &variant) {
    auto [place, first] = exactBucketsOf.try_emplace(
        {block, variant.fillWaits, variant.longestTail, variant.feedChannel, variant.overrun});
    if (first) {
      if (!budget.take(exactWork(program.blocks[block]), 4 * reserve))
        return place->second; // single tensors
      ListOptions list;
      list.inFlight = options.inFlight;
      list.fillWaits = variant.fillWaits;
      list.longestTail = variant.longestTail;
      list.feedChannel = variant.feedChannel;
      list.overrun = variant.overrun;
      std::vector<int> runs;
      for (const Event &event : listSchedule(program, block, {}, pricer, list).order)
        if (event.kind == Event::Run)
          runs.push_back(event.index);
      place->second = exactBuckets(program.blocks[block], runs, pricer);
    }
    return place->second;
  }

  Schedule make(const std::vector<std::vector<Bucket>> &buckets, const std::vector<Variant> &variants,
                Bytes memoryLimit, std::vector<Seconds> &times) const {
    Schedule schedule;
    times.clear();
    for (size_t b = 0; b < buckets.size(); ++b) {
      ListOptions list;
      list.overlap = variants[b].overlap;
      list.inFlight = options.inFlight;
      list.fillWaits = variants[b].fillWaits;
      list.longestTail = variants[b].longestTail;
      list.feedChannel = variants[b].feedChannel;
      list.overrun = variants[b].overrun;
      list.patience = variants[b].patience;
      list.memoryLimit = memoryLimit;
      list.times = &times;
      schedule.blocks.push_back(listSchedule(program, int(b), buckets[b], pricer, list));
    }
    return schedule;
  }

  /// Of every collective, also those that are in no bucket yet: the candidate that is best by the objective, or cheapest. (A rule's
  /// buckets have the engine's own choice, which may be neither.)
  void chooseAlgorithms(const Block &block, std::vector<Bucket> &buckets, bool byObjective) {
    std::vector<char> bucketed(block.tasks.size());
    for (const Bucket &bucket : buckets)
      for (int task : bucket.tasks)
        bucketed[task] = true;
    for (size_t i = 0; i < block.tasks.size(); ++i)
      if (block.tasks[i].kind == Task::Collective && !bucketed[i])
        buckets.push_back({{int(i)}, 0});
    for (Bucket &bucket : buckets) {
      CollectiveSpec spec = mergedSpec(block, bucket);
      bucket.candidate = byObjective ? bestByObjective(spec) : pricer.cheapest(spec);
    }
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
        continue; // noise does not make up for that
      if (!budget.take(work::draw * 4096))
        break;
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
  size_t tasks = 0;
  Budget budget;
  double longestTrial = 0; ///< work of one schedule that is tried
  double reserve = 0;      ///< for judging one schedule in full
  bool large = false;
  std::set<std::vector<int>> tried;
  std::map<std::tuple<int, bool, bool, bool, double>, std::vector<Bucket>> exactBucketsOf;
  struct BestOfBlock {
    bool known = false;
    Seconds own;
    Variant variant;
  };
  std::vector<BestOfBlock> bestOfBlock;
  std::map<const std::vector<Candidate> *, int> algorithms; // the pricer's answers live as long as it does
};

} // namespace

PolicyResult braid::cost::searchPlan(const Program &program, const Pricer &pricer, const PlanOptions &options,
                                     const std::vector<PolicyResult> &baselines, std::vector<Alternative> *alternatives,
                                     std::optional<Bound> *bound) {
  Search search(program, pricer, options);
  PolicyResult plan = search.run(baselines, alternatives);
  if (bound)
    *bound = search.bound;
  return plan;
}
