//===- OneSwitch.cpp - laws of the simplest algorithms on one switch --------------------------------------------===//
//
// N ranks, one to a host, all under one switch, link bandwidth B, operand S, reductions free. What is left of a price when
// messages are empty is taken off, which leaves the bandwidth term:
//
//   naive exchange all_reduce       (N-1) S/B          each rank's link carries its operand N-1 times
//   master-worker all_reduce        2 (N-1) S/B        the master's link carries all operands in, then all sums out
//   parameter server, N servers     the direct reduce_scatter and the direct all_gather, one after the other
//   ring reduce_scatter, all_gather (N-1)/N V/B each, which tends to V/B whatever N; (p-1) V on the wire, all_reduce 2 (p-1) V
//   8 bytes                         the naive exchange beats the ring
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Price.h"
#include "test/algorithms/Checks.h"
#include "test/unit/PricedClusters.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace braid::test {

using namespace cost;

namespace {

constexpr double bandwidth = 50e9;

Cluster oneSwitch(int ranks) {
  Cluster c = quietCluster(ranks, 1);
  c.topology = "single_switch";
  c.hostLink.bandwidth = {1e18};
  c.device.reduction = {0};
  return c;
}

double played(const char *algorithm, CollectiveKind kind, int64_t bytes, const Cluster &cluster,
              algorithms::StepOptions options = {}) {
  Result<Seconds> time = playStepPrograms(*algorithms::find(algorithm), specOf(kind, bytes, groupsOf(cluster.ranks())),
                                          options, cluster, packed(cluster));
  return time ? time->value : -1;
}

double bandwidthTerm(const char *algorithm, CollectiveKind kind, int64_t bytes, const Cluster &cluster,
                     algorithms::StepOptions options = {}) {
  return played(algorithm, kind, bytes, cluster, options) - played(algorithm, kind, 0, cluster, options);
}

/// Bytes on the wire of a program, all ranks.
double wire(const char *algorithm, CollectiveKind kind, int ranks, double buffer) {
  const algorithms::Algorithm &a = *algorithms::find(algorithm);
  return double(a.wireChunks(kind, ranks, {})) * buffer / a.program(kind, ranks, 0, {}).chunks;
}

struct Law {
  const char *name;
  double expected, got, tolerance;
};

} // namespace

int oneSwitch(bool control) {
  double worst = 0;
  int laws = 0;
  const char *naive = control ? "double_binary_tree" : "naive_exchange"; // which has another price
  for (int n = 2; n <= 64; ++n) {
    Cluster cluster = oneSwitch(n);
    int64_t V = int64_t(n) << 20; // divisible
    double time = double(V) / bandwidth;
    algorithms::StepOptions servers;
    servers.servers = n;
    auto reduced = CollectiveKind::ReduceScatter, gathered = CollectiveKind::AllGather,
         both = CollectiveKind::AllReduce;
    double direct = played("naive_exchange", reduced, V, cluster) + played("naive_exchange", gathered, V / n, cluster);
    std::vector<Law> list = {
        {"naive exchange: (N-1) S/B", (n - 1) * time, bandwidthTerm(naive, both, V, cluster), 1e-3},
        {"master-worker: 2 (N-1) S/B", 2 * (n - 1) * time, bandwidthTerm("master_worker", both, V, cluster), 1e-3},
        {"parameter server with N servers: direct reduce_scatter and all_gather", direct,
         played("parameter_server", both, V, cluster, servers), 1e-2},
        {"ring reduce_scatter: (N-1)/N V/B", (n - 1) * time / n, bandwidthTerm("ring", reduced, V, cluster), 1e-3},
        {"ring all_gather: (N-1)/N V/B", (n - 1) * time / n, bandwidthTerm("ring", gathered, V / n, cluster), 1e-3},
        {"ring reduce_scatter on the wire: (p-1) V", double(n - 1) * V, wire("ring", reduced, n, V), 1e-12},
        {"ring all_gather on the wire: (p-1) V", double(n - 1) * V, wire("ring", gathered, n, V), 1e-12},
        {"ring all_reduce on the wire: 2 (p-1) V", 2.0 * (n - 1) * V, wire("ring", both, n, V), 1e-12},
    };
    for (const Law &law : list) {
      double error = std::abs(law.got / law.expected - 1);
      if (!(error <= law.tolerance)) {
        std::printf("%s: %s, N = %d: expected %.9g, got %.9g\n", control ? "rejected" : "FAILS", law.name, n,
                    law.expected, law.got);
        return !control;
      }
      worst = std::max(worst, error);
      ++laws;
    }
    if (!(played("naive_exchange", both, 8, cluster) < played("ring", both, 8, cluster))) {
      std::printf("FAILS: 8 bytes on %d ranks: expected the naive exchange to beat the ring\n", n);
      return 1;
    }
  }
  std::printf("%d laws on 2 to 64 ranks, worst deviation %.2g; at 8 B the naive exchange beats the ring\n", laws,
              worst);
  return control;
}

} // namespace braid::test
