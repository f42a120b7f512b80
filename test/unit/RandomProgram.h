//===- RandomProgram.h - programs and pricers for the tests of schedules ----------------------------------------===//
#ifndef BRAID_TEST_UNIT_RANDOMPROGRAM_H
#define BRAID_TEST_UNIT_RANDOMPROGRAM_H

#include "braid/cost_models/Schedule.h"
#include <algorithm>
#include <memory>
#include <random>

namespace braid::cost::testing {

/// Four hosts of two devices, without noise unless asked for.
inline Cluster smallCluster(bool noise = false) {
  Cluster cluster;
  cluster.name = "small";
  cluster.hash = "small";
  cluster.hosts = 4;
  cluster.devicesPerHost = 2;
  cluster.nicsPerHost = 2;
  cluster.device.name = "device";
  cluster.device.memoryBandwidth = {3e12};
  cluster.device.memory = {int64_t(80) << 30};
  cluster.device.launch = microseconds(5);
  cluster.device.reduction = {1e12};
  cluster.intra = {"nvlink", {450e9}, microseconds(1), {}};
  cluster.inter = {"nic", {50e9}, microseconds(2), {}};
  cluster.intra.profile.name = "nvlink";
  cluster.inter.profile.name = "fabric";
  if (noise) {
    FabricProfile &profile = cluster.inter.profile;
    profile.latencyRebaseSigma = 0.1;
    profile.collisionUplinks = 4;
    profile.collisionFlowsPerNic = 4;
    profile.spikeProbability = 1e-3;
    profile.spikeMinimum = microseconds(100);
    profile.bulkMean = 0.3;
    profile.bulkSigma = 0.8;
  }
  cluster.topology = "single_switch";
  cluster.nccl.busBandwidthIntra = {360e9};
  cluster.nccl.busBandwidthInter = {45e9};
  cluster.nccl.architecture = "hopper";
  cluster.nccl.cpu = "intel";
  return cluster;
}

inline Pricer smallPricer(bool noise = false, BucketForm form = BucketForm::OneLaunch) {
  Placement placement;
  for (int rank = 0; rank < 8; ++rank)
    placement.deviceOf.push_back(rank);
  return Pricer(smallCluster(noise), placement, Engine::Nccl, form);
}

/// All eight ranks: over the network. Pairs in a host: inside hosts.
inline std::shared_ptr<const RankGroups> everyone() {
  static auto groups = std::make_shared<RankGroups>(RankGroups{{{0, 1, 2, 3, 4, 5, 6, 7}}, {}});
  return groups;
}
inline std::shared_ptr<const RankGroups> pairsInHosts() {
  static auto groups = std::make_shared<RankGroups>(RankGroups{{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, {}});
  return groups;
}

inline Task compute(const std::string &name, double us, std::vector<int> operands = {}, int64_t result = 0) {
  Task task;
  task.name = name;
  task.duration = microseconds(us);
  task.operands = std::move(operands);
  task.result = {result};
  return task;
}
inline Task collective(const std::string &name, int64_t bytes, std::vector<int> operands, int key = 0,
                       CollectiveKind kind = CollectiveKind::AllReduce,
                       std::shared_ptr<const RankGroups> groups = everyone()) {
  Task task;
  task.kind = Task::Collective;
  task.name = name;
  task.operands = std::move(operands);
  task.key = key;
  task.spec.kind = kind;
  task.spec.bytes = {bytes};
  task.spec.groups = std::move(groups);
  task.result = {bytes};
  return task;
}
inline Program programOf(std::vector<Task> tasks) {
  Program program;
  program.ranks = 8;
  program.blocks.push_back({"main", std::move(tasks), {}});
  return program;
}

/// A random block: about a third collectives, of four keys on two fabrics.
inline Block randomBlock(std::mt19937_64 &random, int tasks, int callee) {
  auto below = [&](int n) { return int(random() % uint64_t(n)); };
  Block block;
  block.name = "block";
  block.live = {1000};
  for (int i = 0; i < tasks; ++i) {
    std::vector<int> operands;
    for (int k = below(4); k > 0 && i > 0; --k)
      operands.push_back(below(2) ? below(i) : std::max(0, i - 1 - below(8)));
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    int what = below(100);
    Task task;
    if (what < 35) {
      int key = below(4);
      static const CollectiveKind kinds[] = {CollectiveKind::AllReduce, CollectiveKind::AllReduce,
                                             CollectiveKind::AllGather, CollectiveKind::ReduceScatter};
      task = collective("collective " + std::to_string(i), int64_t(8) << below(22), operands, key, kinds[key],
                        key == 1 ? pairsInHosts() : everyone());
      task.asynchronous = below(12) != 0;
      task.ordered = below(10) == 0;
      if (below(10) == 0)
        task.key = -1;
      if (kinds[key] == CollectiveKind::AllGather)
        task.result = {task.spec.bytes.value * 8};
    } else {
      task = compute("compute " + std::to_string(i), below(200), operands, int64_t(1) << below(20));
      if (what < 37)
        task.kind = Task::Barrier;
      if (what >= 37 && what < 40 && callee >= 0) {
        task.kind = Task::Nested;
        task.block = callee;
        task.trips = 1 + below(20);
        task.duration = {};
      }
    }
    task.escapes = below(15) == 0;
    block.tasks.push_back(std::move(task));
  }
  return block;
}

/// One block, or one that runs another.
inline Program randomProgram(uint64_t seed, int tasks = 60) {
  std::mt19937_64 random(seed);
  Program program;
  program.ranks = 8;
  if (seed % 3 == 0)
    program.blocks.push_back(randomBlock(random, tasks / 4, -1));
  program.blocks.push_back(randomBlock(random, tasks, int(program.blocks.size()) - 1));
  return program;
}

/// A random bucket rule and list options.
inline BucketRule randomRule(std::mt19937_64 &random) {
  BucketRule rule;
  rule.cap = {random() % 5 == 0 ? int64_t(1) << 60 : int64_t(1) << (random() % 26)};
  rule.scanPastDependents = random() % 2;
  rule.byReadiness = random() % 2;
  if (random() % 3 == 0)
    rule.firstCap = {int64_t(1) << (random() % 20)};
  if (random() % 5 == 0)
    rule.countCap = 1 + int(random() % 5);
  return rule;
}
inline ListOptions randomOptions(std::mt19937_64 &random) {
  ListOptions options;
  options.overlap = random() % 6 != 0;
  options.inFlight = 1 + int(random() % 3);
  options.fillWaits = random() % 2;
  options.patience = double(random() % 3) / 2;
  return options;
}

} // namespace braid::cost::testing

#endif
