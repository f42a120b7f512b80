//===- InNetwork.cpp - switches that reduce, executed by aggregators on the emulated fabric ----------------------===//
//
// One rank to a host. The job runs an all_reduce over a ring and over its switches, with data, on the emulated fabric's virtual
// clock; the transport counts what each rank sends. A ring sends 2 (n-1)/n of the operand, a switch gets it once.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Aggregators.h"
#include "braid/cost_models/EmitProfile.h"
#include "braid/cost_models/Price.h"
#include "test/algorithms/Checks.h"
#include "test/conformance/Ranks.h"
#include "test/unit/PricedClusters.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace braid::test {

using namespace cost;

namespace {

struct Run {
  std::string problem;
  double sent = 0; ///< bytes of the rank that sends most, switches apart
  double time = 0; ///< seconds, of the slowest rank
};

Run allReduce(const Cluster &cluster, const std::string &algorithm, size_t count) {
  int n = cluster.ranks();
  bool switches = algorithm == "in_network";
  Run run;
  auto topology = Topology::build(cluster);
  std::vector<int32_t> switchOf;
  int helpers = 0;
  if (switches) {
    auto made = aggregatorsOf(*topology, packed(cluster).deviceOf);
    if (!made)
      return {made.error().message, 0, 0};
    switchOf.assign(made->switchOf.begin(), made->switchOf.end());
    helpers = int(made->vertices.size());
  }
  runtime::CommunicatorOptions options;
  options.transport = "emulated+shm";
  options.profile = *emitProfile(cluster, packed(cluster), switches);
  options.deadline = 20;
  Ranks job(n + helpers, options);
  if (!job.failed().empty())
    return {job.failed(), 0, 0};
  std::vector<double> sent(size_t(n + helpers)), took(sent.size());
  run.problem = job.run([&](int rank, braid_comm *comm) -> std::string {
    bool member = rank < n;
    runtime::Transport &transport = comm->comm->transport();
    auto *in = static_cast<float *>(braid_alloc(comm, count * sizeof(float)));
    auto *out = static_cast<float *>(braid_alloc(comm, count * sizeof(float)));
    std::fill(in, in + count, float(rank + 1));
    braid_buffer buffer = {member ? in : nullptr, member ? out : nullptr, count, count};
    braid_op_options asked = {};
    asked.size = sizeof asked;
    asked.collective = BRAID_ALL_REDUCE;
    asked.type = BRAID_F32;
    asked.tensors = 1;
    asked.buffers = &buffer;
    asked.algorithm = algorithm.c_str();
    asked.chunks = switches ? 8 : 1;
    asked.helpers = helpers;
    asked.switches = switches ? switchOf.data() : nullptr;
    braid_op *op = nullptr;
    if (braid_op_plan(comm, &asked, &op))
      return braid_last_error();
    for (int round = 0; round < 2; ++round) { // the first one compares the ranks' operations too
      transport.clock()->align();
      double begin = transport.clock()->now();
      uint64_t before = transport.counters().bytes;
      if (braid_op_start(op) || braid_op_wait(op))
        return braid_last_error();
      took[size_t(rank)] = transport.clock()->now() - begin;
      sent[size_t(rank)] = double(transport.counters().bytes - before);
    }
    for (size_t i = 0; member && i < count; ++i)
      if (out[i] != float(n * (n + 1) / 2))
        return "wrong sum at " + std::to_string(i);
    if (braid_op_destroy(op))
      return braid_last_error();
    braid_free(comm, in);
    braid_free(comm, out);
    transport.clock()->align();
    return "";
  });
  run.sent = *std::max_element(sent.begin(), sent.begin() + n);
  run.time = *std::max_element(took.begin(), took.begin() + n);
  return run;
}

Cluster hosts(int ranks, int perLeaf) {
  Cluster c = quietCluster(ranks, 1);
  c.topology = perLeaf ? "fat_tree" : "single_switch";
  c.hostsPerLeaf = perLeaf ? perLeaf : ranks;
  c.spineLatency = microseconds(0.5);
  return c;
}

/// Whether the engine offers in_network, and what it says if not.
bool offered(const Cluster &cluster, const std::string &type, int64_t bytes, std::string &reason) {
  Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, bytes, groupsOf(cluster.ranks()));
  spec.elementType = type;
  bool found = false;
  for (const Candidate &candidate : pricer.candidates(spec))
    found |= candidate.algorithm == "in_network";
  reason.clear();
  for (const std::string &sentence : pricer.notModelled())
    if (sentence.compare(0, 10, "in_network") == 0)
      reason = sentence;
  return found;
}

} // namespace

int inNetwork(bool control) {
  setenv("BRAID_EMULATED_CLOCK", "virtual", 1);
  constexpr size_t count = 64 * 2520;
  double bytes = count * sizeof(float);
  std::string said;
  for (auto [ranks, perLeaf] : {std::pair<int, int>{4, 0}, {8, 0}, {8, 4}, {9, 3}}) {
    Cluster cluster = hosts(ranks, perLeaf);
    std::string reason;
    if (offered(cluster, "f32", int64_t(bytes), reason) || reason.empty()) {
      std::printf("FAILS: expected in_network not to be offered where it is not granted, and the reason, got '%s'\n",
                  reason.c_str());
      return 1;
    }
    said = reason;
    cluster.inNetwork = {"fabric", {"f32"}, {0}, {1 << 28}, 1};
    bool tooLarge = offered(cluster, "f32", int64_t(1) << 29, reason), otherType = offered(cluster, "i8", 1024, reason);
    if (tooLarge || otherType || !offered(cluster, "f32", int64_t(bytes), reason)) {
      std::printf("FAILS: expected in_network to be offered for what is granted, and for nothing else\n");
      return 1;
    }
    Run ring = allReduce(cluster, "ring", count),
        inside = allReduce(cluster, control ? "two_shot" : "in_network", count);
    if (!ring.problem.empty() || !inside.problem.empty()) {
      std::printf("FAILS: %s%s\n", ring.problem.c_str(), inside.problem.c_str());
      return 1;
    }
    double expected = 2.0 * (ranks - 1) / ranks, ringRatio = ring.sent / bytes, ratio = inside.sent / bytes;
    if (std::abs(ringRatio - expected) > 1e-3 || std::abs(ratio - 1) > 1e-3) {
      std::printf(
          "%s: %d ranks: expected %.3f of the message from each rank by ring and 1 in network, got %.3f and %.3f\n",
          control ? "rejected" : "FAILS", ranks, expected, ringRatio, ratio);
      return !control;
    }
    std::printf("%d ranks, %s: ring sends %.3f of the message in %.1f us, in network %.3f in %.1f us (emulated)\n",
                ranks, perLeaf ? "two levels of switches" : "one switch", ringRatio, ring.time * 1e6, ratio,
                inside.time * 1e6);
  }
  std::printf("bytes that leave a host, by counter: 2 (n-1)/n of the message by ring, 1 in network; where not granted: "
              "\"%s\"\n",
              said.c_str());
  return control;
}

} // namespace braid::test
