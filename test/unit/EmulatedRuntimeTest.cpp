//===- EmulatedRuntimeTest.cpp - the runtime itself, with its data, on the emulated fabric's virtual clock ------===//
#include "PricedClusters.h"
#include "braid/cost_models/EmitProfile.h"
#include "test/conformance/Ranks.h"
#include "transports/Clock.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <future>

using namespace braid;
using namespace braid::cost;
using namespace braid::test;

namespace {

/// The environment is the user's way to choose the clock.
struct VirtualClock {
  VirtualClock() { setenv("BRAID_EMULATED_CLOCK", "virtual", 1); }
  ~VirtualClock() { unsetenv("BRAID_EMULATED_CLOCK"); }
};

/// Seconds of an all_reduce of `count` floats, the slowest rank; -1 where the sums are wrong.
std::vector<double> emulated(const Cluster &cluster, const char *transport, const char *algorithm, int segments,
                             size_t count, int times, uint64_t number = 0) {
  int ranks = cluster.ranks();
  runtime::CommunicatorOptions options;
  options.transport = transport;
  options.profile = *emitProfile(cluster, packed(cluster));
  options.deadline = 20;
  options.job = number;
  Ranks job(ranks, options);
  REQUIRE(job.failed() == "");
  std::vector<std::vector<double>> took(ranks, std::vector<double>(times, 0.0));
  REQUIRE(job.run([&](int rank, braid_comm *comm) -> std::string {
    runtime::Clock &clock = *comm->comm->transport().clock();
    float *in = static_cast<float *>(braid_alloc(comm, count * sizeof(float)));
    float *out = static_cast<float *>(braid_alloc(comm, count * sizeof(float)));
    std::fill(in, in + count, float(rank + 1));
    braid_buffer buffer = {in, out, count, count};
    braid_op_options asked = {};
    asked.size = sizeof asked;
    asked.collective = BRAID_ALL_REDUCE;
    asked.type = BRAID_F32;
    asked.tensors = 1;
    asked.buffers = &buffer;
    asked.algorithm = algorithm;
    asked.chunks = segments;
    braid_op *op = nullptr;
    if (braid_op_plan(comm, &asked, &op))
      return braid_last_error();
    for (int i = -1; i < times; ++i) { // the first execution compares the ranks' operations too
      clock.align();
      double begin = clock.now();
      if (braid_op_start(op) || braid_op_wait(op))
        return braid_last_error();
      if (i >= 0)
        took[size_t(rank)][size_t(i)] = clock.now() - begin;
    }
    for (size_t i = 0; i < count; ++i)
      if (out[i] != float(ranks * (ranks + 1) / 2))
        return "wrong sum";
    if (braid_op_destroy(op))
      return braid_last_error();
    braid_free(comm, in);
    braid_free(comm, out);
    clock.align();
    return "";
  }) == "");
  std::vector<double> slowest = took[0];
  for (const std::vector<double> &mine : took)
    for (size_t i = 0; i < slowest.size(); ++i)
      slowest[i] = std::max(slowest[i], mine[i]);
  return slowest;
}

} // namespace

TEST_CASE("the runtime's collectives take what the player says, and a launch", "[emulated][runtime]") {
  VirtualClock virtualClock;
  for (int ranks : {2, 3, 8})
    for (auto [algorithm, segments] : {std::pair<const char *, int>{"ring", 1},
                                       {"double_binary_tree", 1},
                                       {"double_binary_tree", 8},
                                       {"naive_exchange", 1},
                                       {"two_shot", 1}}) {
      Cluster cluster = quietCluster(ranks, 1);
      size_t count = 2520 * 16;
      algorithms::StepOptions settings;
      settings.segments = segments;
      auto played = playStepPrograms(*algorithms::find(algorithm),
                                     specOf(CollectiveKind::AllReduce, int64_t(count * sizeof(float)), groupsOf(ranks)),
                                     settings, cluster, packed(cluster));
      REQUIRE(played);
      CAPTURE(ranks, algorithm, segments);
      for (double time : emulated(cluster, "emulated+shm", algorithm, segments, count, 3))
        // A pipelined tree's chunks wait until they were read, and its lanes' messages meet in another order.
        CHECK(time ==
              Approx(cluster.device.launch.value + played->value).epsilon(segments > 1 ? 2e-3 : 1e-9).margin(0));
    }
}

TEST_CASE("the emulated fabric deals messages over flows and adds at each device's rate as prices do",
          "[emulated][runtime]") {
  VirtualClock virtualClock;
  Cluster hashed = quietCluster(8, 1);
  hashed.topology = "fat_tree";
  hashed.hostsPerLeaf = 4;
  hashed.routing = Routing::Hash;
  hashed.inter.profile.collisionFlowsPerNic = 4;
  Cluster adaptive = hashed;
  adaptive.inter.profile.adaptiveRouting = true;
  Cluster mixed = quietCluster(4, 1);
  for (double rate : {1e12, 1e11}) {
    HostGroup group;
    group.hosts = 2;
    group.devicesPerHost = group.nicsPerHost = 1;
    group.device = mixed.device;
    group.device.reduction = {rate};
    mixed.groups.push_back(group);
  }
  mixed.device.reduction = {1e11};
  Cluster tiers = quietCluster(8, 1);
  tiers.topology = "three_tier";
  tiers.hostsPerLeaf = 2;
  tiers.leavesPerPod = 2;
  for (const Cluster &cluster : {hashed, adaptive, mixed, tiers}) {
    int ranks = cluster.ranks();
    size_t count = 2520 * 16;
    auto played = playStepPrograms(*algorithms::find("ring"),
                                   specOf(CollectiveKind::AllReduce, int64_t(count * sizeof(float)), groupsOf(ranks)),
                                   {}, cluster, packed(cluster));
    REQUIRE(played);
    for (double time : emulated(cluster, "emulated+shm", "ring", 1, count, 2))
      CHECK(time == Approx(cluster.device.launch.value + played->value).epsilon(1e-9).margin(0));
  }
}

TEST_CASE("the runtime over an inner transport of sockets takes the same virtual time", "[emulated][runtime]") {
  VirtualClock virtualClock;
  Cluster cluster = quietCluster(4, 1);
  cluster.inter.profile = roceLike();
  cluster.inter.profile.collisionUplinks = cluster.hosts; // rails: a link up for each host
  std::vector<double> memory = emulated(cluster, "emulated+shm", "ring", 1, 2520, 20);
  CHECK(memory == emulated(cluster, "emulated+tcp", "ring", 1, 2520, 20));
  CHECK(memory == emulated(cluster, "emulated+shm", "ring", 1, 2520, 20));
  CHECK(*std::max_element(memory.begin(), memory.end()) > *std::min_element(memory.begin(), memory.end()));
}

TEST_CASE("a job's draws are those of its number, which is an option", "[emulated][runtime]") {
  VirtualClock virtualClock;
  Cluster cluster = quietCluster(4, 1);
  cluster.inter.profile = roceLike();
  cluster.inter.profile.collisionUplinks = cluster.hosts; // rails: a link up for each host
  std::vector<double> first = emulated(cluster, "emulated+shm", "ring", 1, 2520, 3, 7);
  CHECK(first == emulated(cluster, "emulated+shm", "ring", 1, 2520, 3, 7));
  CHECK(first != emulated(cluster, "emulated+shm", "ring", 1, 2520, 3, 8));
  setenv("BRAID_EMULATED_JOB", "8", 1); // what the program says counts
  CHECK(first == emulated(cluster, "emulated+shm", "ring", 1, 2520, 3, 7));
  unsetenv("BRAID_EMULATED_JOB");
}

/// Times of two sums planned after another operation was destroyed: before all plans on the ranks of `early`, after the first of
/// them on the others.
static std::vector<double> afterDestroying(const Cluster &cluster, const std::vector<int> &early, bool withSubset) {
  runtime::CommunicatorOptions options;
  options.transport = "emulated+shm";
  options.profile = *emitProfile(cluster, packed(cluster));
  options.deadline = 20;
  Ranks job(cluster.ranks(), options);
  REQUIRE(job.failed() == "");
  std::vector<double> times;
  REQUIRE(job.run([&](int rank, braid_comm *world) -> std::string {
    runtime::Clock &clock = *world->comm->transport().clock();
    std::vector<int32_t> everybody(static_cast<size_t>(job.size()));
    for (size_t i = 0; i < everybody.size(); ++i)
      everybody[i] = int32_t(i);
    braid_comm *comm = world;
    if (withSubset && braid_comm_subset(world, everybody.data(), everybody.size(), &comm))
      return braid_last_error();
    std::vector<int32_t> data(64);
    braid_buffer buffer = {data.data(), data.data() + 32, 32, 32};
    braid_op_options asked = {};
    asked.size = sizeof asked;
    asked.collective = BRAID_ALL_REDUCE;
    asked.type = BRAID_I32;
    asked.tensors = 1;
    asked.buffers = &buffer;
    asked.algorithm = "ring";
    braid_op *first = nullptr, *ops[2] = {};
    auto done = [](braid_op *op) { return !braid_op_start(op) && !braid_op_wait(op); };
    bool now = std::find(early.begin(), early.end(), rank) != early.end();
    bool fine = !braid_op_plan(comm, &asked, &first) && done(first);
    fine = fine && (!now || !braid_op_destroy(first)) && !braid_op_plan(comm, &asked, &ops[0]);
    fine = fine && (now || !braid_op_destroy(first)) && !braid_op_plan(comm, &asked, &ops[1]);
    for (int i = 0; fine && i < 8; ++i) {
      clock.align();
      double begin = clock.now();
      fine = done(ops[i % 2]);
      clock.align();
      if (rank == 0)
        times.push_back(std::round((clock.now() - begin) * 1e12)); // clocks began at different times: ps are exact
    }
    std::string problem = fine ? "" : braid_last_error();
    for (braid_op *op : ops)
      braid_op_destroy(op);
    if (comm != world)
      braid_comm_destroy(comm);
    return problem;
  }) == "");
  return times;
}

TEST_CASE("draws do not depend on the order in which ranks destroy operations", "[emulated][runtime]") {
  VirtualClock virtualClock;
  Cluster cluster = quietCluster(4, 1);
  cluster.inter.profile = roceLike();
  cluster.inter.profile.collisionUplinks = cluster.hosts; // rails: a link up for each host
  std::vector<double> alike = afterDestroying(cluster, {0, 1, 2, 3}, false);
  CHECK(alike == afterDestroying(cluster, {}, false));
  CHECK(alike == afterDestroying(cluster, {0}, false));
  CHECK(alike == afterDestroying(cluster, {1, 2}, false));
  // Every execution has a place of its own, also among communicators.
  std::vector<double> all = afterDestroying(cluster, {}, true);
  CHECK(all == afterDestroying(cluster, {3}, true));
  all.insert(all.end(), alike.begin(), alike.end());
  std::sort(all.begin(), all.end());
  CHECK(std::unique(all.begin(), all.end()) == all.end());
}

TEST_CASE("draws do not depend on which of two subsets is made first", "[emulated][runtime]") {
  VirtualClock virtualClock;
  Cluster cluster = quietCluster(4, 1);
  cluster.inter.profile = roceLike();
  cluster.inter.profile.collisionUplinks = cluster.hosts; // rails: a link up for each host
  auto timesOf = [&](int firstPair) {
    runtime::CommunicatorOptions options;
    options.transport = "emulated+shm";
    options.profile = *emitProfile(cluster, packed(cluster));
    options.deadline = 20;
    Ranks job(4, options);
    REQUIRE(job.failed() == "");
    std::vector<double> times(8);
    std::promise<void> made[2];
    std::shared_future<void> others = made[firstPair].get_future().share();
    REQUIRE(job.run([&](int rank, braid_comm *world) -> std::string {
      int32_t members[] = {rank / 2 * 2, rank / 2 * 2 + 1};
      if (rank / 2 != firstPair)
        others.wait();
      braid_comm *pair = nullptr;
      if (braid_comm_subset(world, members, 2, &pair))
        return braid_last_error();
      if (rank == 2 * firstPair)
        made[firstPair].set_value();
      runtime::Clock &clock = *world->comm->transport().clock();
      clock.align();
      for (int i = 0; i < 4; ++i) {
        double begin = clock.now();
        int32_t mine = 1, sum = 0;
        braid_buffer buffer = {&mine, &sum, 1, 1};
        braid_op_options asked = {};
        asked.size = sizeof asked;
        asked.collective = BRAID_ALL_REDUCE;
        asked.type = BRAID_I32;
        asked.tensors = 1;
        asked.buffers = &buffer;
        braid_op *op = nullptr;
        if (braid_op_plan(pair, &asked, &op) || braid_op_start(op) || braid_op_wait(op) || braid_op_destroy(op))
          return braid_last_error();
        if (rank % 2 == 0)
          times[size_t(rank / 2 * 4 + i)] = std::round((clock.now() - begin) * 1e12);
        clock.align();
      }
      return braid_comm_destroy(pair) ? braid_last_error() : "";
    }) == "");
    return times;
  };
  std::vector<double> times = timesOf(0);
  CHECK(times == timesOf(1));
  std::sort(times.begin(), times.end());
  CHECK(std::unique(times.begin(), times.end()) == times.end());
}

TEST_CASE("a rank that is gone does not hold up virtual time, nor the start of a step", "[emulated][runtime]") {
  VirtualClock virtualClock;
  Cluster cluster = quietCluster(3, 1);
  runtime::CommunicatorOptions options;
  options.transport = "emulated+shm";
  options.profile = *emitProfile(cluster, packed(cluster));
  options.deadline = 20;
  Ranks job(3, options);
  REQUIRE(job.failed() == "");
  CHECK(job.run([&](int rank, braid_comm *world) -> std::string {
    int32_t members[] = {0, 1};
    braid_comm *pair = nullptr;
    if (rank == 2) { // as at the end of its process
      world->comm->relatives()->farewell(/*good=*/true);
      return "";
    }
    if (braid_comm_subset(world, members, 2, &pair))
      return braid_last_error();
    for (uint64_t step = 0; step < 3; ++step) {
      int32_t mine = 1, sum = 0;
      braid_buffer buffer = {&mine, &sum, 1, 1};
      braid_op_options asked = {};
      asked.size = sizeof asked;
      asked.collective = BRAID_ALL_REDUCE;
      asked.type = BRAID_I32;
      asked.tensors = 1;
      asked.buffers = &buffer;
      braid_op *op = nullptr;
      if (braid_step(pair, 0, step, nullptr) || braid_op_plan(pair, &asked, &op) || braid_op_start(op) ||
          braid_op_wait(op) || braid_op_destroy(op))
        return braid_last_error();
      if (sum != 2)
        return "wrong sum";
    }
    return braid_comm_destroy(pair) ? braid_last_error() : "";
  }) == "");
}

TEST_CASE("the runtime's operations go on while a rank computes, on either clock", "[emulated][runtime]") {
  Cluster cluster = quietCluster(4, 1);
  double longest = 0, slowest = 0; // of the operation alone, and of the step
  auto measure = [&](bool wall) {
    VirtualClock virtualClock;
    runtime::CommunicatorOptions options;
    options.clock = wall ? "wall" : "";
    options.transport = "emulated+shm";
    options.profile = *emitProfile(cluster, packed(cluster));
    Ranks job(4, options);
    REQUIRE(job.failed() == "");
    std::vector<double> alone(4), step(4);
    REQUIRE(job.run([&](int rank, braid_comm *comm) -> std::string {
      int32_t mine = rank, sum = 0;
      braid_buffer buffer = {&mine, &sum, 1, 1};
      braid_op_options asked = {};
      asked.size = sizeof asked;
      asked.collective = BRAID_ALL_REDUCE;
      asked.type = BRAID_I32;
      asked.tensors = 1;
      asked.buffers = &buffer;
      asked.algorithm = "ring";
      braid_op *op = nullptr;
      if (braid_op_plan(comm, &asked, &op) || braid_op_start(op) || braid_op_wait(op))
        return braid_last_error();
      runtime::Clock &clock = *comm->comm->transport().clock();
      double begin = 0, middle = 0, end = 0;
      clock.align();
      bool failed = braid_now(comm, &begin) || braid_op_start(op) || braid_op_wait(op) || braid_now(comm, &middle);
      alone[size_t(rank)] = middle - begin;
      clock.align();
      failed = failed || braid_now(comm, &begin) || braid_op_start(op) || braid_sleep(comm, 20e-6) ||
               braid_op_wait(op) || braid_now(comm, &end);
      step[size_t(rank)] = end - begin;
      clock.align();
      return failed || braid_op_destroy(op) ? braid_last_error() : sum == 6 ? "" : "wrong sum";
    }) == "");
    longest = *std::max_element(alone.begin(), alone.end());
    slowest = *std::max_element(step.begin(), step.end());
  };
  Approx launchAndSixMessages = Approx(5e-6 + 6 * 1.3e-6), hidden = Approx(20e-6); // one after the other: 32.8 us
  measure(false);
  CHECK(longest == launchAndSixMessages.epsilon(1e-3));
  CHECK(slowest == hidden.epsilon(1e-9));
  for (int attempt = 0; attempt < 20; ++attempt) { // a busy machine is late on the wall clock, but not every time
    measure(true);
    if (longest == launchAndSixMessages.epsilon(0.3) && slowest == hidden.epsilon(0.3))
      break;
  }
  CHECK(longest == launchAndSixMessages.epsilon(0.3));
  CHECK(slowest == hidden.epsilon(0.3));
}
