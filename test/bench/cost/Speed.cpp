//===- Speed.cpp - how long prices take -----------------------------------------------------------------------------===//
//
// Google Benchmark; test/bars/cost/cost_speed reads its JSON.
//===------------------------------------------------------------------------------------------------------------===//
#include "../../unit/PricedClusters.h"
#include "braid/cost_models/Topology.h"
#include "cost_models/pricing/ClosedForms.h"
#include "cost_models/pricing/Kinds.h"
#include "cost_models/pricing/Noise.h"
#include <algorithm>
#include <benchmark/benchmark.h>
#include <cmath>
#include <fstream>
#include <random>
#include <unistd.h>

using namespace braid::cost;
namespace alg = braid::algorithms;

static Cluster oneSwitch(int hosts, int perHost) {
  Cluster cluster = quietCluster(hosts, perHost);
  cluster.topology = "single_switch";
  return cluster;
}

/// What `ranks` ranks of a collective are on.
struct Machine {
  const char *name;
  int perHost, hostsPerLeaf; ///< 0: one switch
};
static const Machine machines[] = {{"one_switch", 1, 0}, {"two_levels", 1, 4}, {"two_levels_8_a_host", 8, 4}};

static Cluster clusterOf(const Machine &machine, int ranks) {
  int hosts = (ranks + machine.perHost - 1) / machine.perHost;
  if (machine.hostsPerLeaf == 0)
    return oneSwitch(hosts, machine.perHost);
  Cluster cluster = quietCluster(hosts, machine.perHost);
  cluster.topology = "fat_tree";
  cluster.hostsPerLeaf = machine.hostsPerLeaf;
  cluster.spineLatency = microseconds(0.5);
  return cluster;
}

/// Every candidate of one collective: at a first size, when the programs are made, and at further ones.
static void allAlgorithms(benchmark::State &state, CollectiveKind kind, const Machine &machine, int ranks, bool first) {
  Cluster cluster = clusterOf(machine, ranks);
  std::shared_ptr<RankGroups> pairs;
  if (kind == CollectiveKind::Permute) {
    pairs = std::make_shared<RankGroups>();
    for (int rank = 0; rank < ranks; ++rank)
      pairs->pairs.push_back({rank, (rank + 9) % ranks});
  }
  std::unique_ptr<Pricer> pricer;
  int64_t bytes = 1 << 24;
  double candidates = 0;
  for (auto _ : state) {
    if (first || !pricer) {
      state.PauseTiming();
      pricer = std::make_unique<Pricer>(cluster, packed(cluster, ranks), Engine::Braid, BucketForm::OneLaunch);
      if (!first)
        pricer->candidates(specOf(kind, 1 << 20, pairs));
      state.ResumeTiming();
    }
    candidates = double(pricer->candidates(specOf(kind, bytes += 1024, pairs)).size());
  }
  state.counters["candidates"] = candidates;
}

static void registerAll() {
  using K = CollectiveKind;
  for (K kind : {K::AllReduce, K::AllGather, K::ReduceScatter, K::AllToAll, K::Broadcast, K::Reduce, K::Scatter,
                 K::Gather, K::Permute})
    for (const Machine &machine : machines)
      for (int ranks : {1024, 1000, 1023})
        for (bool first : {true, false})
          benchmark::RegisterBenchmark(
              (std::string(first ? "first/" : "all/") + alg::name(kind) + "/" + machine.name + "/" +
               std::to_string(ranks))
                  .c_str(),
              [=, &machine](benchmark::State &state) { allAlgorithms(state, kind, machine, ranks, first); })
              ->Unit(benchmark::kMillisecond)
              ->Iterations(first ? 3 : 10);
}

/// The p99 of an all_reduce of 256 ranks with noise.
static void closedQuantile(benchmark::State &state, const char *algorithm) {
  MessageNoise noise{MessageNoise::Lognormal, 0.5};
  for (auto _ : state)
    benchmark::DoNotOptimize((*delayQuantile(algorithm, CollectiveKind::AllReduce, 256, noise, 1 / 0.3, 0.3))(0.99));
}
BENCHMARK_CAPTURE(closedQuantile, ring, "ring")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(closedQuantile, binomial_tree, "binomial_tree")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(closedQuantile, double_binary_tree, "double_binary_tree")->Unit(benchmark::kMillisecond);

/// The same from samples, of the price: each a draw of the noise of its messages together. Where operations differ in bandwidth, too,
/// there is no closed form.
static void sampledQuantile(benchmark::State &state, const std::string &algorithm) {
  Cluster cluster = oneSwitch(256, 1);
  cluster.inter.profile.bulkMean = 0.3;
  cluster.inter.profile.latencyRebaseSigma = 0.1;
  cluster.inter.profile.bandwidthSigma = 0.05;
  Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, 1 << 20, nullptr);
  const std::vector<Candidate> &all = pricer.candidates(spec);
  size_t index = 0;
  while (index < all.size() && all[index].algorithm != algorithm)
    ++index;
  for (auto _ : state) {
    auto [value, error] = pricer.quantile(spec, index, 0.99);
    state.counters["standard_error"] = error.value / value.value;
    if (error.value == 0)
      state.SkipWithError("expected samples, got a closed form");
  }
}

/// The same from plays of the step program of all ranks, the noise of each message drawn.
static void playedQuantile(benchmark::State &state, const std::string &algorithm) {
  Cluster cluster = oneSwitch(256, 1);
  Result<Topology> topology = Topology::build(cluster);
  auto program = KindProgram::everyone(*alg::find(algorithm), CollectiveKind::AllReduce, 256, {}, *topology, 0);
  double sigma = 0.5, mean = 0.3 * topology->latency(0, 1).value;
  std::vector<double> late(size_t(program->messages())), times;
  for (auto _ : state) {
    times.clear();
    std::mt19937_64 random(1);
    std::normal_distribution<float> normal;
    double error = 1, p99 = 0;
    while (times.size() < 100 || error > 0.02) {
      for (double &message : late)
        message = mean * std::exp(float(sigma) * normal(random) - float(sigma * sigma / 2));
      times.push_back(program->play({1 << 20}, topology->links(), cluster.device.reduction, &late)->value);
      std::sort(times.begin(), times.end());
      double last = double(times.size()) - 1, off = std::sqrt(double(times.size()) * 0.99 * 0.01);
      auto at = [&](double place) { return times[size_t(std::lround(std::clamp(place, 0.0, last)))]; };
      p99 = at(0.99 * last);
      error = (at(0.99 * last + off) - at(0.99 * last - off)) / 2 / p99;
    }
    state.counters["standard_error"] = error;
    state.counters["plays"] = double(times.size());
    benchmark::DoNotOptimize(p99);
  }
}
#define BRAID_SAMPLED(algorithm)                                                                                       \
  BENCHMARK_CAPTURE(sampledQuantile, algorithm, #algorithm)->Unit(benchmark::kMillisecond);                            \
  BENCHMARK_CAPTURE(playedQuantile, algorithm, #algorithm)->Unit(benchmark::kMillisecond)->Iterations(1);
BRAID_SAMPLED(ring)
BRAID_SAMPLED(binomial_tree)
BRAID_SAMPLED(double_binary_tree)

/// 2,048 hosts of 8.
static void hierarchical(benchmark::State &state) {
  Cluster cluster = oneSwitch(2048, 8);
  Result<Topology> topology = Topology::build(cluster);
  for (auto _ : state) {
    auto form = ClosedForm::make(*alg::find("hierarchical_ring"), CollectiveKind::AllReduce, 16384, {}, *topology, 0);
    if (!form || !form->time({1 << 30}, topology->links(), cluster.device.reduction))
      state.SkipWithError("hierarchical_ring of 16,384 ranks: expected a closed form, got none");
  }
}
BENCHMARK(hierarchical)->Unit(benchmark::kMillisecond);

/// Peak memory of this process so far.
static double peakBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      double kilobytes;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  return 0;
}

/// A cluster file of 12,500 hosts of 8 devices: read, built, an all_reduce over all of it priced.
static void large(benchmark::State &state) {
  std::string path = "/tmp/braid-large-" + std::to_string(getpid()) + ".yaml";
  std::ofstream(path)
      << "base: " BRAID_SOURCE_DIR "/cost_models/clusters/base/h100-ib-ndr.yaml\nname: large\nhosts: 12500\n"
         "devices_per_host: 8\nnics_per_host: 8\n"
         "topology: {builder: fat_tree, hosts_per_leaf: 4, oversubscription: 1, spine_latency: 0.5 us}\n";
  for (auto _ : state) {
    Result<Cluster> cluster = readCluster(path);
    if (!cluster) {
      state.SkipWithError(cluster.error().message.c_str());
      break;
    }
    Result<Topology> topology = Topology::build(*cluster);
    auto form = ClosedForm::make(*alg::find("binomial_tree"), CollectiveKind::AllReduce, 100000, {}, *topology, 0);
    Pricer nccl(*cluster, packed(*cluster), Engine::Nccl, BucketForm::OneLaunch);
    if (!form || !form->time({1 << 30}, topology->links(), cluster->device.reduction) ||
        nccl.candidates(specOf(CollectiveKind::AllReduce, 1 << 30, nullptr)).empty())
      state.SkipWithError("binomial_tree of 100,000 ranks: expected a price, got none");
  }
  state.counters["peak_bytes"] = peakBytes();
  unlink(path.c_str());
}
BENCHMARK(large)->Unit(benchmark::kMillisecond)->Iterations(1);

int main(int argc, char **argv) {
  registerAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
