//===- DiffPlans.cpp - where two plans of one program differ ----------------------------------------------------===//
//
//   1. Launches that share a tensor are connected; each connected set is one difference, or none. Example: A has {1 2} {3},
//      B has {1} {2 3}: one difference, of two launches on each side.
//   2. A set of one launch on each side with the same tensors differs by algorithm, by its place among the launches that both
//      plans have, or by the computation behind which it starts.
//   3. Each side is priced on both clusters, by the algorithms that it has (the cheapest where one is not offered).
//===------------------------------------------------------------------------------------------------------------===//
#include "DiffPlans.h"
#include "Against.h"
#include <algorithm>
#include <array>
#include <map>
#include <numeric>

using namespace mlir::braid;
using namespace mlir::braid::sim;
namespace cost = ::braid::cost;

namespace {

struct Launch {
  int block, bucket, number; // number: of all, in issue order
  int behind = -1;           // the last computation before its start
};

std::vector<Launch> launchesOf(const cost::Schedule &schedule) {
  std::vector<Launch> launches;
  for (size_t b = 0; b < schedule.blocks.size(); ++b) {
    int behind = -1;
    for (const cost::Event &event : schedule.blocks[b].order) {
      if (event.kind == cost::Event::Run)
        behind = event.index;
      if (event.kind == cost::Event::Start)
        launches.push_back({int(b), event.index, int(launches.size()), behind});
    }
  }
  return launches;
}

std::string algorithmOf(const cost::Candidate &candidate) {
  return candidate.algorithm + (candidate.protocol.empty() ? "" : "/") + candidate.protocol;
}

class Differ {
public:
  Differ(const ModulePlan &a, const ModulePlan &b)
      : plans{&a, &b}, schedules{a.result.braid().schedule, b.result.braid().schedule},
        launches{launchesOf(schedules[0]), launchesOf(schedules[1])} {
    for (int side : {0, 1})
      other[side] = translated(*plans[side], *plans[1 - side], plans[1 - side]->program);
  }

  PlanDifference run() {
    PlanDifference difference;
    for (auto &set : connected()) {
      LaunchDifference d = compare(set[0], set[1]);
      if (d.buckets || d.algorithm || d.order || d.start)
        difference.launches.push_back(std::move(d));
      else
        difference.same += int(set[0].size());
    }
    for (int side : {0, 1}) { // whose plan
      difference.onA[side] = objective(0, side);
      difference.onB[side] = objective(1, side);
    }
    return difference;
  }

private:
  /// Of the plan of `side` on cluster `on`.
  const cost::Schedule &scheduleOn(int on, int side) const { return on == side ? schedules[side] : other[side]; }
  cost::Seconds objective(int on, int side) const {
    const ModulePlan &cluster = *plans[on];
    return cost::objective(cluster.program, scheduleOn(on, side), *cluster.pricer, cluster.options.objective,
                           cost::unseen(cluster.options.sampling));
  }

  const cost::Bucket &bucketOf(int side, const Launch &launch) const {
    return schedules[side].blocks[launch.block].buckets[launch.bucket];
  }

  /// Sets of launches (indices on each side) that share tensors, in A's issue order.
  std::vector<std::array<std::vector<int>, 2>> connected() const {
    std::map<std::pair<int, int>, std::array<int, 2>> holders; // block, task
    for (int side : {0, 1})
      for (size_t l = 0; l < launches[side].size(); ++l)
        for (int task : bucketOf(side, launches[side][l]).tasks)
          holders.try_emplace({launches[side][l].block, task}, std::array<int, 2>{-1, -1}).first->second[side] = int(l);
    size_t first = launches[0].size();
    std::vector<int> root(first + launches[1].size());
    std::iota(root.begin(), root.end(), 0);
    auto find = [&](int node) {
      while (root[node] != node)
        node = root[node] = root[root[node]];
      return node;
    };
    for (auto &[task, both] : holders)
      if (both[0] >= 0 && both[1] >= 0) {
        int x = find(both[0]), y = find(int(first) + both[1]);
        root[std::max(x, y)] = std::min(x, y);
      }
    std::map<int, std::array<std::vector<int>, 2>> sets;
    for (size_t node = 0; node < root.size(); ++node)
      sets[find(int(node))][node >= first].push_back(int(node < first ? node : node - first));
    std::vector<std::array<std::vector<int>, 2>> list;
    for (auto &[node, set] : sets)
      list.push_back(std::move(set));
    return list;
  }

  LaunchSide describe(int side, const Launch &launch) const {
    const ModulePlan &plan = *plans[side];
    const cost::Block &block = plan.program.blocks[launch.block];
    const cost::Bucket &bucket = bucketOf(side, launch);
    cost::CollectiveSpec spec = cost::mergedSpec(block, bucket);
    LaunchSide text;
    text.number = launch.number;
    text.algorithm = algorithmOf(plan.pricer->candidates(spec)[bucket.candidate]);
    text.what = std::string(::braid::algorithms::name(spec.kind)) + " of " + cost::toString(spec.bytes) + " in " +
                std::to_string(spec.tensors) + (spec.tensors == 1 ? " tensor" : " tensors") + " by " + text.algorithm;
    text.start =
        launch.behind < 0 ? "at the beginning of " + block.name : "behind '" + block.tasks[launch.behind].name + "'";
    return text;
  }

  cost::Seconds price(int on, int side, const std::vector<int> &set) const {
    cost::Seconds total;
    for (int l : set) {
      const Launch &launch = launches[side][l];
      const cost::Bucket &bucket = scheduleOn(on, side).blocks[launch.block].buckets[launch.bucket];
      total +=
          plans[on]->pricer->mean(cost::mergedSpec(plans[on]->program.blocks[launch.block], bucket), bucket.candidate);
    }
    return total;
  }

  LaunchDifference compare(const std::vector<int> &a, const std::vector<int> &b) const {
    LaunchDifference d;
    for (int l : a)
      d.a.push_back(describe(0, launches[0][l]));
    for (int l : b)
      d.b.push_back(describe(1, launches[1][l]));
    for (int side : {0, 1}) {
      d.onA[side] = price(0, side, side ? b : a);
      d.onB[side] = price(1, side, side ? b : a);
    }
    d.buckets = a.size() != 1 || b.size() != 1;
    if (d.buckets)
      return d;
    const Launch &x = launches[0][a[0]], &y = launches[1][b[0]];
    d.algorithm = d.a[0].algorithm != d.b[0].algorithm;
    d.start = x.behind != y.behind;
    d.order = placeAmongCommon(0, x) != placeAmongCommon(1, y);
    return d;
  }

  /// How many launches that the other plan has just so come before it.
  int placeAmongCommon(int side, const Launch &launch) const {
    int place = 0;
    for (const Launch &before : launches[side]) {
      if (before.number >= launch.number)
        break;
      const std::vector<int> &tasks = bucketOf(side, before).tasks;
      for (const Launch &there : launches[1 - side])
        place += there.block == before.block && bucketOf(1 - side, there).tasks == tasks;
    }
    return place;
  }

  const ModulePlan *plans[2];
  cost::Schedule schedules[2], other[2]; // of each side; on the other's cluster
  std::vector<Launch> launches[2];
};

} // namespace

PlanDifference mlir::braid::sim::planDifference(const ModulePlan &a, const ModulePlan &b) { return Differ(a, b).run(); }
