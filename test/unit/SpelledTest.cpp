//===- SpelledTest.cpp - algorithms with orders and links: what the pricer offers, the runtime takes ------------===//
#include "PlannedOps.h"
#include "PricedClusters.h"
#include "braid/cost_models/EmitProfile.h"
#include "braid/runtime/algorithms/PackedTrees.h"
#include "cost_models/pricing/Packings.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

using namespace braid;
using namespace braid::test;
using cost::CollectiveKind;

namespace {

/// One host whose devices are a ring with chords, PCIe between the others.
cost::Cluster meshed(int devices) {
  cost::Cluster c = cost::quietCluster(1, devices);
  for (int device = 0; device < devices; ++device)
    if (devices > 2 || device == 0)
      c.mesh.push_back({device, (device + 1) % devices, 1 + device % 2});
  for (int device = 0; device + 3 < devices - 1; device += 2)
    c.mesh.push_back({device, device + 3, 2});
  return c;
}

std::vector<std::string> offered(const cost::Cluster &cluster, const cost::Placement &placement, CollectiveKind kind,
                                 int64_t bytes, const std::string &part) {
  cost::Pricer pricer(cluster, placement, cost::Engine::Braid, cost::BucketForm::OneLaunch);
  std::vector<std::string> names;
  for (const cost::Candidate &c :
       pricer.candidates(cost::specOf(kind, bytes, cost::groupsOf(int(placement.deviceOf.size())))))
    if (contains(c.algorithm, part))
      names.push_back(c.algorithm);
  std::sort(names.begin(), names.end());
  return names;
}

double priceOf(const cost::Cluster &cluster, const cost::Placement &placement, const std::string &algorithm) {
  cost::Pricer pricer(cluster, placement, cost::Engine::Braid, cost::BucketForm::OneLaunch);
  auto groups = cost::groupsOf(int(placement.deviceOf.size()));
  return cost::candidateOf(pricer, cost::specOf(CollectiveKind::AllReduce, 64 << 20, groups), algorithm).time.value;
}

/// Seconds of an all_reduce of `count` floats on the virtual clock, the slowest rank.
double emulated(const cost::Cluster &cluster, const cost::Placement &placement, const std::string &algorithm,
                size_t count) {
  int n = int(placement.deviceOf.size());
  runtime::CommunicatorOptions settings;
  settings.transport = "emulated+shm";
  settings.clock = "virtual";
  settings.profile = *cost::emitProfile(cluster, placement);
  settings.deadline = 20;
  Ranks job(n, settings);
  REQUIRE(job.failed() == "");
  std::vector<double> took(static_cast<size_t>(n));
  REQUIRE(job.run([&](int rank, braid_comm *comm) -> std::string {
    auto *in = static_cast<float *>(braid_alloc(comm, count * sizeof(float)));
    auto *out = static_cast<float *>(braid_alloc(comm, count * sizeof(float)));
    std::fill(in, in + count, float(rank + 1));
    braid_buffer buffer = {in, out, count, count};
    braid_op_options asked = optionsOf(BRAID_ALL_REDUCE, &buffer, 1, "timed");
    asked.type = BRAID_F32;
    asked.algorithm = algorithm.c_str();
    asked.chunks = 1;
    braid_op *op = nullptr;
    std::string problem = plan(comm, asked, op);
    for (int round = 0; round < 2 && problem.empty(); ++round) { // the first one compares the ranks' operations too
      double begin = 0, now = 0;
      if (braid_step(comm, 0, uint64_t(round), &begin))
        return braid_last_error();
      problem = startAndWait(op);
      braid_now(comm, &now);
      took[size_t(rank)] = now - begin;
    }
    for (size_t i = 0; i < count && problem.empty(); ++i)
      if (out[i] != float(n * (n + 1) / 2))
        problem = "wrong sum at " + std::to_string(i);
    if (op && braid_op_destroy(op))
      problem += braid_last_error();
    double begin = 0;
    braid_step(comm, 0, 9, &begin); // others may still read what this rank sent
    braid_free(comm, in);
    braid_free(comm, out);
    return problem;
  }) == "");
  return *std::max_element(took.begin(), took.end());
}

double played(const cost::Cluster &cluster, const cost::Placement &placement, const std::string &algorithm,
              size_t count) {
  algorithms::StepOptions options;
  std::string problem;
  const algorithms::Algorithm *found = algorithms::parse(algorithm, options, problem);
  REQUIRE(problem == "");
  auto time = cost::playStepPrograms(*found,
                                     cost::specOf(CollectiveKind::AllReduce, int64_t(count * sizeof(float)),
                                                  cost::groupsOf(int(placement.deviceOf.size()))),
                                     options, cluster, placement);
  REQUIRE(time);
  return time->value + cluster.device.launch.value;
}

} // namespace

TEST_CASE("orders: ranks that are dealt to hosts in turn are priced host by host too", "[price][order]") {
  cost::Cluster cluster = cost::quietCluster(4, 4);
  cluster.nicsPerHost = 1; // which all that leaves a host shares
  cost::Placement local = cost::packed(cluster), dealt;
  for (int device = 0; device < 4; ++device)
    for (int host = 0; host < 4; ++host)
      dealt.deviceOf.push_back(4 * host + device);
  CHECK(offered(cluster, local, CollectiveKind::AllReduce, 1 << 20, "order=").empty());
  CHECK(offered(cluster, dealt, CollectiveKind::AllReduce, 1 << 20, "order=") ==
        std::vector<std::string>{"binomial_tree(order=hosts)", "double_binary_tree(order=hosts)",
                                 "pipelined_chain(order=hosts)", "ring(order=hosts)"});
  CHECK(priceOf(cluster, dealt, "ring(order=hosts)") < 0.5 * priceOf(cluster, dealt, "ring"));
  CHECK(priceOf(cluster, dealt, "ring(order=hosts)") == Approx(priceOf(cluster, local, "ring")).epsilon(0.01));
}

TEST_CASE("orders: where hosts of a leaf do not follow each other, the order is that of the devices",
          "[price][order]") {
  cost::Cluster cluster = cost::quietCluster(4, 1);
  cluster.topology = "fat_tree";
  cluster.hostsPerLeaf = 2;
  cluster.spineLatency = cost::microseconds(0.5);
  cost::Placement crossing;
  crossing.deviceOf = {0, 2, 1, 3};
  CHECK(offered(cluster, crossing, CollectiveKind::AllGather, 1 << 20, "order=") ==
        std::vector<std::string>{"ring(order=0.2.1.3)"});
  CHECK(priceOf(cluster, crossing, "ring(order=0.2.1.3)") < priceOf(cluster, crossing, "ring"));
}

TEST_CASE("packings are read back from their words, and say what is wrong with them", "[algorithms]") {
  cost::Cluster cluster = meshed(6);
  auto topology = cost::Topology::build(cluster);
  algorithms::Packing packing(cost::graphOf(*topology, {0, 1, 2, 3, 4, 5}), 65536);
  algorithms::StepOptions options;
  std::string problem, words = packing.spelling();
  REQUIRE(algorithms::parse(words, options, problem) == algorithms::find("packed_trees"));
  CHECK(options.packing->spelling() == words);
  CHECK(options.packing->graph.links.size() == packing.graph.links.size());
  CHECK(options.packing->plan(algorithms::Collective::AllGather, 6, 0, problem) ==
        options.packing->plan(algorithms::Collective::AllGather, 6, 3, problem)); // made once
  CHECK(options.packing->plan(algorithms::Collective::AllGather, 5, 0, problem) == nullptr);
  CHECK(contains(problem, "expected a graph of 5 ranks, got one of 6"));
  for (const char *wrong :
       {"packed_trees()", "packed_trees(ranks=2 nodes=2 links=1/0:0-1)", "packed_trees(ranks=2 nodes=1 block=1 links=)",
        "packed_trees(ranks=2 nodes=2 block=1 links=1/0:0-2)", "packed_trees(ranks=2 nodes=2 block=1 links=1/0:0+1)",
        "packed_trees(ranks=2 nodes=2 block=1 links=0/0:0-1)", "packed_trees(ranks=2 nodes=2 block=x links=)"}) {
    INFO(wrong);
    CHECK(algorithms::parse(wrong, options, problem) == nullptr);
    CHECK(contains(problem, "got"));
  }
  REQUIRE(algorithms::parse("packed_trees(ranks=3 nodes=3 block=1 links=1/0:0-1)", options, problem));
  CHECK(options.packing->plan(algorithms::Collective::AllGather, 3, 0, problem) == nullptr);
  CHECK(contains(problem, "a way from every rank to every other"));
}

TEST_CASE("a mesh inside hosts: direct links, and the host's way for others", "[topology]") {
  cost::Cluster cluster = meshed(4);
  cluster.hosts = 2;
  auto topology = cost::Topology::build(cluster);
  REQUIRE(topology);
  CHECK(topology->path(4, 5).count == 1);
  CHECK(topology->links()[size_t(topology->path(5, 6).links[0])].bandwidth.value == 2 * cluster.intra.bandwidth.value);
  CHECK(topology->path(4, 6).count == 2);
  CHECK(topology->latency(4, 5).value == Approx(cluster.intra.latency.value));
  CHECK(topology->latency(4, 6).value == Approx(cluster.intra.latency.value));
  CHECK(topology->links()[size_t(topology->path(4, 6).links[0])].bandwidth.value == cluster.hostLink.bandwidth.value);
  CHECK(topology->path(1, 5).crossesHosts);
  CHECK(topology->connected());
  cluster.mesh.push_back({1, 9, 1});
  CHECK(contains(cost::Topology::build(cluster).error().message, "got 1-9"));
}

TEST_CASE("packed trees are offered for the collectives of a mesh, and beat what knows no links", "[price]") {
  cost::Cluster cluster = meshed(8);
  for (CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter, CollectiveKind::AllReduce,
                              CollectiveKind::Broadcast, CollectiveKind::AllToAll}) {
    cost::Pricer pricer(cluster, cost::packed(cluster), cost::Engine::Braid, cost::BucketForm::OneLaunch);
    const cost::Candidate &best = pricer.candidates(cost::specOf(kind, 64 << 20, cost::groupsOf(8))).front();
    INFO(algorithms::name(kind) << ": " << best.algorithm);
    CHECK(contains(best.algorithm, "packed_trees("));
  }
  CHECK(offered(cost::quietCluster(1, 8), cost::packed(cluster), CollectiveKind::AllGather, 1 << 20, "packed").empty());
}

TEST_CASE("the runtime takes the time of what the pricer's words say", "[emulated][runtime]") {
  for (int n : {4, 8}) {
    cost::Cluster hosts = cost::quietCluster(n / 2, 2), mesh = meshed(n);
    cost::Placement dealt;
    for (int device = 0; device < 2; ++device)
      for (int host = 0; host < n / 2; ++host)
        dealt.deviceOf.push_back(2 * host + device);
    size_t count = size_t(n) * 32 * 64;
    for (const char *algorithm : {"ring(order=hosts)", "double_binary_tree(order=hosts)", "ring"}) {
      CAPTURE(n, algorithm);
      CHECK(emulated(hosts, dealt, algorithm, count) ==
            Approx(played(hosts, dealt, algorithm, count)).epsilon(1e-9).margin(0));
    }
    auto topology = cost::Topology::build(mesh);
    std::string words =
        algorithms::Packing(cost::graphOf(*topology, cost::packed(mesh).deviceOf), 32 * 64 * 4).spelling();
    // A chunk of a sum that comes back waits until it was read.
    CHECK(emulated(mesh, cost::packed(mesh), words, count) ==
          Approx(played(mesh, cost::packed(mesh), words, count)).epsilon(2e-3).margin(0));
  }
}
