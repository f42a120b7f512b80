//===- RandomSchedules.cpp - no schedule lies below the bound ------------------------------------------------------===//
//
//   random_schedules COUNT [--planted separate|permille|escape|drawn-percent|undrawn]
//
// Random programs (loops in them, barriers, synchronous and ordered collectives, two fabrics), priced as each engine and form of
// bucket prices, on clusters where collectives in flight slow kernels and where not; for each, random schedules made here, without Braid's scheduler: random buckets, algorithms, orders and places of
// waits, one to three collectives in flight; then every policy and the plan. Each must pass the verifier and be no faster than the
// bound. Some of them are sampled too, on clusters whose noise lasts for jobs, is drawn by each launch, or by each flow, or whose ranks
// compute differently beside what slows them: none of their
// quantiles, nor their objective, may lie below the bound of these samples. Prints one line; exits 1 if one is.
//
// Planted bounds, to see that they are caught: `separate` believes that no two collectives may share a bucket, `permille` is
// a thousandth too high, `escape` adds to the bound without slowdown what one collective takes from kernels, as if it could not be
// in flight beside none; of the quantiles, `drawn-percent` is a hundredth too high where draws count, and `undrawn` is the bound
// without noise.
//===------------------------------------------------------------------------------------------------------------===//
#include "unit/RandomProgram.h"
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <tuple>

using namespace braid::cost;

namespace {

class RandomSchedule {
public:
  RandomSchedule(const Program &program, const Pricer &pricer, uint64_t seed)
      : program(program), pricer(pricer), random(seed) {
    options.inFlight = 1 + below(3);
  }

  Schedule make() {
    Schedule schedule;
    for (const Block &each : program.blocks) {
      block = &each;
      bucketing();
      schedule.blocks.push_back(ordering());
    }
    return schedule;
  }
  ListOptions options;

private:
  int below(int n) { return int(random() % uint64_t(n)); }
  const Task &task(int i) const { return block->tasks[size_t(i)]; }

  /// Tasks that must have begun, and ended, before others begin: as the verifier's rules say, written down once more.
  void rules() {
    size_t count = block->tasks.size();
    ended.assign(count, {});
    begun.assign(count, {});
    int chained = -1, barrier = -1;
    for (int i = 0; i < int(count); ++i) {
      ended[size_t(i)] = task(i).operands;
      if (barrier >= 0)
        ended[size_t(i)].push_back(barrier);
      if (task(i).kind == Task::Barrier) {
        for (int j = 0; j < i; ++j)
          ended[size_t(i)].push_back(j);
        barrier = i;
      }
      if (task(i).kind == Task::Nested || (task(i).kind == Task::Collective && task(i).ordered)) {
        if (chained >= 0)
          begun[size_t(i)].push_back(chained);
        chained = i;
      }
    }
  }

  /// Joins random pairs of buckets as long as some order is left.
  void bucketing() {
    rules();
    buckets.clear();
    holder.assign(block->tasks.size(), -1);
    std::map<std::tuple<int, int, const RankGroups *>, std::vector<int>> alike;
    for (int i = 0; i < int(block->tasks.size()); ++i)
      if (task(i).kind == Task::Collective) {
        holder[size_t(i)] = int(buckets.size());
        buckets.push_back({{i}, 0});
        if (task(i).key >= 0 && task(i).asynchronous)
          alike[{task(i).key, int(task(i).spec.kind), task(i).spec.groups.get()}].push_back(i);
      }
    int joins = below(3) ? below(1 + int(buckets.size())) : 0;
    for (auto &[key, members] : alike)
      for (int j = 0; j < joins; ++j) {
        int a = holder[size_t(members[size_t(below(int(members.size())))])],
            b = holder[size_t(members[size_t(below(int(members.size())))])];
        if (a == b)
          continue;
        auto oldBuckets = buckets;
        auto oldHolder = holder;
        for (int member : buckets[size_t(b)].tasks)
          holder[size_t(member)] = a;
        std::vector<int> &all = buckets[size_t(a)].tasks;
        all.insert(all.end(), buckets[size_t(b)].tasks.begin(), buckets[size_t(b)].tasks.end());
        std::sort(all.begin(), all.end());
        buckets[size_t(b)].tasks.clear();
        if (order(false).empty()) {
          buckets = std::move(oldBuckets);
          holder = std::move(oldHolder);
        }
      }
    std::vector<Bucket> used;
    for (Bucket &bucket : buckets)
      if (!bucket.tasks.empty()) {
        for (int member : bucket.tasks)
          holder[size_t(member)] = int(used.size());
        used.push_back(std::move(bucket));
      }
    buckets = std::move(used);
    for (Bucket &bucket : buckets)
      if (below(2))
        bucket.candidate = below(int(pricer.candidates(mergedSpec(*block, bucket)).size()));
  }

  BlockSchedule ordering() { return {buckets, order(true)}; }

  /// A random order of events; empty if there is none. Half of them start collectives as soon as they can and await them late.
  std::vector<Event> order(bool caps) {
    size_t count = block->tasks.size();
    bool eager = below(2), late = below(4) > 0;
    std::vector<int> state(count, 0); // 1: begun, 2: ended
    std::vector<Event> events;
    std::vector<int> flying[2];
    size_t done = 0;
    auto fabric = [&](int bucket) {
      return caps ? int(pricer.fabric(mergedSpec(*block, buckets[size_t(bucket)]))) : 0;
    };
    auto may = [&](int i) {
      for (int other : ended[size_t(i)])
        if (state[size_t(other)] < 2)
          return false;
      for (int other : begun[size_t(i)]) // members of one bucket begin together
        if (state[size_t(other)] < 1 && (holder[size_t(i)] < 0 || holder[size_t(other)] != holder[size_t(i)]))
          return false;
      return true;
    };
    auto await = [&](int bucket) {
      events.push_back({Event::Wait, bucket});
      std::vector<int> &list = flying[fabric(bucket)];
      list.erase(std::find(list.begin(), list.end(), bucket));
      for (int member : buckets[size_t(bucket)].tasks)
        state[size_t(member)] = 2;
      done += buckets[size_t(bucket)].tasks.size();
    };
    while (done < count) {
      std::vector<int> runs, starts;
      bool empty = flying[0].empty() && flying[1].empty();
      for (int i = 0; i < int(count); ++i)
        if (holder[size_t(i)] < 0 && state[size_t(i)] == 0 && may(i) && (task(i).kind == Task::Compute || empty))
          runs.push_back(i);
      for (int b = 0; b < int(buckets.size()); ++b) {
        bool can = !buckets[size_t(b)].tasks.empty() && state[size_t(buckets[size_t(b)].tasks.front())] == 0 &&
                   (!caps || int(flying[fabric(b)].size()) < options.inFlight);
        for (int member : buckets[size_t(b)].tasks)
          can = can && may(member);
        if (can)
          starts.push_back(b);
      }
      std::vector<int> waits = flying[0];
      waits.insert(waits.end(), flying[1].begin(), flying[1].end());
      if (runs.empty() && starts.empty() && waits.empty())
        return {};
      bool wait = !waits.empty() && ((runs.empty() && starts.empty()) || (!late && below(3) == 0));
      if (wait) {
        await(late ? waits.front() : waits[size_t(below(int(waits.size())))]);
      } else if (!starts.empty() && (eager || runs.empty() || below(2))) {
        int b = starts[size_t(below(int(starts.size())))];
        events.push_back({Event::Start, b});
        flying[fabric(b)].push_back(b);
        for (int member : buckets[size_t(b)].tasks)
          state[size_t(member)] = 1;
        if (!task(buckets[size_t(b)].tasks.front()).asynchronous)
          await(b);
      } else {
        int i = runs[size_t(below(int(runs.size())))];
        events.push_back({Event::Run, i});
        state[size_t(i)] = 2;
        ++done;
      }
    }
    return events;
  }

  const Program &program;
  const Pricer &pricer;
  std::mt19937_64 random;
  const Block *block = nullptr;
  std::vector<std::vector<int>> ended, begun;
  std::vector<Bucket> buckets;
  std::vector<int> holder;
};

/// What the longest collective of the step's own block takes from kernels that it is beside.
double lossOfOne(const Program &program, const Pricer &pricer) {
  double loss = 0;
  for (const Task &task : program.blocks.back().tasks)
    if (task.kind == Task::Collective)
      loss = std::max(loss, pricer.cheapestTime(task.spec).value *
                                (1 - 1 / pricer.cluster().compute.slowdown[int(pricer.fabric(task.spec))]));
  return loss;
}

/// `alone`: prices the same, and kernels are not slowed.
double plantedBound(const std::string &planted, Program program, const Pricer &pricer, const Pricer &alone) {
  if (planted == "escape")
    return lowerBound(program, alone).time.value + lossOfOne(program, pricer);
  if (planted == "separate")
    for (Block &block : program.blocks)
      for (Task &task : block.tasks)
        task.key = -1;
  return lowerBound(program, pricer).time.value * (planted == "permille" ? 1.001 : 1);
}

/// Draws for jobs, and rare long ones; draws for launches on two tiers, shared by neighbours; draws for flows.
Cluster noisyCluster(int kind) {
  Cluster cluster = testing::smallCluster(kind == 0);
  FabricProfile &inter = cluster.inter.profile, &intra = cluster.intra.profile;
  inter.latencyRebaseSigma = 0.3;
  if (kind != 0) {
    cluster.topology = "fat_tree";
    cluster.hostsPerLeaf = 2;
    cluster.spineLatency = microseconds(1);
    inter.collisionUplinks = 4;
    inter.bulkMean = 0.1;
  }
  if (kind == 1) {
    inter.latencySigma = 0.4;
    inter.bandwidthSigma = 0.3;
    inter.correlation = 0.5;
    intra.latencySigma = 0.2;
  }
  if (kind == 3)
    cluster.compute = {0.05, 0.03, {1.2, 1.4}};
  if (kind == 2) {
    inter.flowSigma = 0.5;
    inter.slowFlows = 0.1;
    inter.collisionFlowsPerNic = 2;
  }
  return cluster;
}

bool drawsCount(const QuantileBound &bound) { return bound.p95 > 1.03 * bound.p50; }

QuantileBound plantedBoundOfDraws(const std::string &planted, const Program &program, const Pricer &pricer,
                                  const PlanOptions &options) {
  Bound plain = lowerBound(program, pricer);
  QuantileBound bound = quantileBound(program, pricer, plain, options.objective, options.sampling);
  if (planted == "undrawn")
    bound = {plain.time, plain.time, plain.time, plain.time};
  double factor = planted == "drawn-percent" && drawsCount(bound) ? 1.01 : 1;
  return {bound.p50 * factor, bound.p95 * factor, bound.p99 * factor, bound.objective * factor};
}

/// Random schedules and policies of a program under noise.
class Sampled {
public:
  explicit Sampled(const Placement &placement) {
    for (auto [engine, form, kind] :
         {std::tuple(Engine::Nccl, BucketForm::OneLaunch, 0), std::tuple(Engine::Nccl, BucketForm::Copies, 1),
          std::tuple(Engine::Nccl, BucketForm::GroupCall, 2), std::tuple(Engine::Braid, BucketForm::OneLaunch, 1),
          std::tuple(Engine::Nccl, BucketForm::OneLaunch, 3)})
      pricers.push_back(std::make_unique<Pricer>(noisyCluster(kind), placement, engine, form));
  }

  void check(const Program &program, uint64_t seed, const std::string &planted) {
    const Pricer &pricer = *pricers[seed / 4 % pricers.size()];
    PlanOptions options;
    options.objective = {seed % 2 ? ObjectiveKind::Training : ObjectiveKind::Serving, seed % 3 ? 0.5 : 0.9};
    options.sampling = {seed, 50, 8, 4};
    QuantileBound bound = plantedBoundOfDraws(planted, program, pricer, options);
    auto judge = [&](const Schedule &schedule, const std::string &what) {
      Quantiles q = quantiles(program, schedule, pricer, options.sampling);
      Seconds reached = objective(program, schedule, pricer, options.objective, options.sampling);
      for (auto [got, least, of] :
           {std::tuple(q.p50, bound.p50, "p50"), std::tuple(q.p95, bound.p95, "p95"),
            std::tuple(q.p99, bound.p99, "p99"), std::tuple(reached, bound.objective, "objective")}) {
        if (got.value < least.value * (1 - 1e-9)) {
          std::printf("program %d, %s under noise: expected a %s of at least the bound of %.9g s, got %.9g s\n",
                      int(seed), what.c_str(), of, least.value, got.value);
          std::exit(1);
        }
        if (drawsCount(bound))
          closest = std::min(closest, got / least);
      }
      ++count;
    };
    for (int i = 0; i < 5; ++i)
      judge(RandomSchedule(program, pricer, seed * 1000 + uint64_t(i)).make(), "random schedule " + std::to_string(i));
    for (Policy policy : {Policy::PerTensor, Policy::Xla30MiB, Policy::OneBucket})
      judge(runPolicy(program, pricer, policy, options).schedule, name(policy));
  }

  int count = 0;
  double closest = 1e300;

private:
  std::vector<std::unique_ptr<Pricer>> pricers;
};

} // namespace

int main(int argc, char **argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 0;
  std::string planted = argc > 3 && !std::strcmp(argv[2], "--planted") ? argv[3] : "";
  bool known = planted == "separate" || planted == "permille" || planted == "escape" || planted == "drawn-percent" ||
               planted == "undrawn";
  if (count < 1 || (argc != 2 && !known)) {
    std::fprintf(stderr, "usage: random_schedules COUNT [--planted separate|permille|escape|drawn-percent|undrawn]\n");
    return 2;
  }
  constexpr int eachProgram = 20, plannedPrograms = 20;
  Placement placement;
  for (int rank = 0; rank < 8; ++rank)
    placement.deviceOf.push_back(rank);
  std::vector<std::unique_ptr<Pricer>> pricers;
  for (BucketForm form : {BucketForm::OneLaunch, BucketForm::Copies, BucketForm::GroupCall})
    pricers.push_back(std::make_unique<Pricer>(testing::smallCluster(), placement, Engine::Nccl, form));
  pricers.push_back(std::make_unique<Pricer>(testing::smallCluster(), placement, Engine::Braid, BucketForm::OneLaunch));
  const size_t unslowed = pricers.size(); // of these, again
  Cluster slowed = testing::smallCluster();
  slowed.compute.slowdown[int(Fabric::Intra)] = 1.2;
  slowed.compute.slowdown[int(Fabric::Inter)] = 1.4;
  for (BucketForm form : {BucketForm::OneLaunch, BucketForm::Copies})
    pricers.push_back(std::make_unique<Pricer>(slowed, placement, Engine::Nccl, form));

  Sampled sampled(placement);
  int made = 0, near = 0, policies = 0;
  double closest = 1e300;
  for (uint64_t seed = 1; made < count; ++seed) {
    const Pricer &pricer = *pricers[seed % pricers.size()];
    Program program = testing::randomProgram(seed, 5 + int(seed % 40));
    double bound = plantedBound(planted, program, pricer, *pricers[seed % pricers.size() % unslowed]);
    auto check = [&](const Schedule &schedule, const ListOptions &options, const std::string &what) {
      std::string wrong = verifySchedule(program, schedule, options, &pricer);
      double time = playWithoutNoise(program, schedule, pricer).total.value;
      if (!wrong.empty()) {
        std::printf("program %d, %s: expected a valid schedule, got %s\n", int(seed), what.c_str(), wrong.c_str());
        std::exit(1);
      }
      if (time < bound * (1 - 1e-9)) {
        std::printf("program %d, %s: expected at least the bound of %.9g s, got %.9g s\n", int(seed), what.c_str(),
                    bound, time);
        std::exit(1);
      }
      closest = std::min(closest, time / bound);
      near += time < 1.01 * bound;
    };
    for (int i = 0; i < eachProgram && made < count; ++i, ++made) {
      RandomSchedule random(program, pricer, seed * 1000 + uint64_t(i));
      check(random.make(), random.options, "random schedule " + std::to_string(i));
    }
    PlanOptions options;
    options.sampling.samples = options.sampling.jobs = options.sampling.steps = 1;
    auto checkPolicy = [&](const PolicyResult &result) {
      ListOptions rules;
      rules.overlap = result.policy != Policy::NoOverlap;
      check(result.schedule, rules, name(result.policy));
      ++policies;
    };
    for (Policy policy : {Policy::NoOverlap, Policy::PerTensor, Policy::Ddp25MiB, Policy::Xla30MiB, Policy::OneBucket})
      checkPolicy(runPolicy(program, pricer, policy, options));
    if (seed % plannedPrograms == 0) // takes longer than all others together
      checkPolicy(runPolicy(program, pricer, Policy::Braid, options));
    sampled.check(program, seed, planted);
  }
  std::printf("{\"random\": %d, \"policies\": %d, \"closest\": %.9f, \"within_percent\": %d, \"sampled\": %d, "
              "\"closest_sampled\": %.9f}\n",
              made, policies, closest, near, sampled.count, sampled.closest);
  return 0;
}
