//===- EmulatedRuntimeTest.cpp - the runtime itself, with its data, on the emulated fabric's virtual clock ------===//
#include "PricedClusters.h"
#include "braid/cost_models/EmitProfile.h"
#include "test/conformance/Ranks.h"
#include "transports/Clock.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

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

TEST_CASE("the runtime over an inner transport of sockets takes the same virtual time", "[emulated][runtime]") {
  VirtualClock virtualClock;
  Cluster cluster = quietCluster(4, 1);
  cluster.inter.profile = roceLike();
  std::vector<double> memory = emulated(cluster, "emulated+shm", "ring", 1, 2520, 20);
  CHECK(memory == emulated(cluster, "emulated+tcp", "ring", 1, 2520, 20));
  CHECK(memory == emulated(cluster, "emulated+shm", "ring", 1, 2520, 20));
  CHECK(*std::max_element(memory.begin(), memory.end()) > *std::min_element(memory.begin(), memory.end()));
}

TEST_CASE("a job's draws are those of its number, which is an option", "[emulated][runtime]") {
  VirtualClock virtualClock;
  Cluster cluster = quietCluster(4, 1);
  cluster.inter.profile = roceLike();
  std::vector<double> first = emulated(cluster, "emulated+shm", "ring", 1, 2520, 3, 7);
  CHECK(first == emulated(cluster, "emulated+shm", "ring", 1, 2520, 3, 7));
  CHECK(first != emulated(cluster, "emulated+shm", "ring", 1, 2520, 3, 8));
  setenv("BRAID_EMULATED_JOB", "8", 1); // what the program says counts
  CHECK(first == emulated(cluster, "emulated+shm", "ring", 1, 2520, 3, 7));
  unsetenv("BRAID_EMULATED_JOB");
}

TEST_CASE("the runtime's operations go on while a rank computes, on either clock", "[emulated][runtime]") {
  Cluster cluster = quietCluster(4, 1);
  for (bool wall : {false, true}) {
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
    double longest = *std::max_element(alone.begin(), alone.end());
    CHECK(longest ==
          Approx(5e-6 + 6 * 1.3e-6).epsilon(wall ? 0.3 : 1e-3)); // a launch, and six messages of a byte or none
    double slowest = *std::max_element(step.begin(), step.end());
    CHECK(slowest == Approx(20e-6).epsilon(wall ? 0.3 : 1e-9)); // hidden; one after the other would be 32.8 us
  }
}
