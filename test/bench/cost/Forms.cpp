//===- Forms.cpp - closed forms beside the played programs --------------------------------------------------------===//
//
//   cost_forms [--dense] [--only ALGORITHM] [--ranks N]... [--control]     every algorithm of the registry, on one switch and on
//                                                                        two levels
//
// --ranks: these instead; beyond 128 what is played are all ranks by the player of the forms, which finds the same times as the other
// one (test/unit/ClosedFormTest.cpp) and has no queue at a second size. With --control the closed forms know nothing of the spines' latency.
// A line for each fabric, algorithm and collective: the worst error over ranks and sizes, and where it is.
//===------------------------------------------------------------------------------------------------------------===//
#include "../../unit/PricedClusters.h"
#include "braid/runtime/algorithms/Levels.h"
#include "cost_models/pricing/ClosedForms.h"
#include "cost_models/pricing/Kinds.h"
#include "cost_models/pricing/Played.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace braid::cost;
namespace alg = braid::algorithms;

namespace {

struct Machine {
  const char *name, *builder;
  int perHost, hostsPerLeaf;
};
const Machine machines[] = {{"one switch", "single_switch", 1, 0},
                            {"two levels, 4 hosts a leaf", "fat_tree", 1, 4},
                            {"two levels, 2 x 8 a leaf", "fat_tree", 8, 2},
                            {"one host", "single_switch", 0, 0}};

Cluster clusterOf(const Machine &fabric, int ranks) {
  int perHost = fabric.perHost ? fabric.perHost : ranks;
  int hosts = (ranks + perHost - 1) / perHost;
  if (fabric.hostsPerLeaf)
    hosts = (hosts + fabric.hostsPerLeaf - 1) / fabric.hostsPerLeaf * fabric.hostsPerLeaf;
  Cluster cluster = quietCluster(hosts, perHost);
  cluster.topology = fabric.builder;
  cluster.hostsPerLeaf = fabric.hostsPerLeaf ? fabric.hostsPerLeaf : hosts;
  cluster.oversubscription = 1;
  if (fabric.hostsPerLeaf)
    cluster.spineLatency = microseconds(0.5);
  return cluster;
}

struct Worst {
  double error = 0;
  int ranks = 0, segments = 1, compared = 0, missing = 0, players = 0;
  int64_t bytes = 0;
  void see(double e, int n, int s, int64_t b) {
    ++compared;
    if (e > error)
      error = e, ranks = n, segments = s, bytes = b;
  }
  void print(const char *what) const {
    if (compared)
      std::printf(", %d %s, worst %.2f %% (%d ranks, %d segments, %s)", compared, what, error * 100, ranks, segments,
                  toString(Bytes{bytes}).c_str());
  }
};

std::unique_ptr<KindProgram> everyoneOf(const alg::Algorithm &algorithm, CollectiveKind kind, int ranks,
                                        alg::StepOptions options, const Topology &topology) {
  std::vector<int> hosts;
  for (int rank = 0; rank < ranks; ++rank)
    hosts.push_back(topology.cluster().hostOf(rank));
  options.hosts = alg::levels(std::move(hosts));
  return KindProgram::everyone(algorithm, kind, ranks, options, topology, 0);
}

} // namespace

int main(int argc, char **argv) {
  bool dense = false, control = false;
  const char *only = nullptr;
  std::vector<int> ranks = {2, 3, 4, 5, 6, 8, 12, 16, 17, 24, 31, 32, 48, 64, 100, 128}, asked;
  for (int i = 1; i < argc; ++i) {
    dense |= !std::strcmp(argv[i], "--dense");
    control |= !std::strcmp(argv[i], "--control");
    if (!std::strcmp(argv[i], "--only"))
      only = argv[++i];
    if (!std::strcmp(argv[i], "--ranks"))
      asked.push_back(std::atoi(argv[++i]));
  }
  if (dense) {
    ranks.clear();
    for (int n = 2; n <= 64; ++n)
      ranks.push_back(n);
    ranks.insert(ranks.end(), {100, 128});
  }
  if (!asked.empty())
    ranks = asked;
  std::vector<int64_t> sizes = {8, 1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 24, int64_t(1) << 30};
  const CollectiveKind kinds[] = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather,
                                  CollectiveKind::AllToAll,  CollectiveKind::Permute,       CollectiveKind::Broadcast,
                                  CollectiveKind::Reduce,    CollectiveKind::Gather,        CollectiveKind::Scatter,
                                  CollectiveKind::Barrier};
  double worstOfAll = 0, worstEstimate = 0;
  int missing = 0, estimates = 0, served = 0;
  for (const Machine &fabric : machines)
    for (const alg::Algorithm &algorithm : alg::registry()) {
      if (algorithm.needs != alg::Needs::Nothing || (only && algorithm.name != only))
        continue;
      for (CollectiveKind kind : kinds) {
        Worst worst, estimate;
        for (int n : ranks) {
          if (!algorithm.serves(kind, n))
            continue;
          Cluster cluster = clusterOf(fabric, n);
          Result<Topology> topology = Topology::build(cluster);
          if (!topology) {
            std::fprintf(stderr, "%s\n", topology.error().message.c_str());
            return 1;
          }
          Placement placement = packed(cluster, n);
          PlayedNetwork network(*topology, placement);
          std::shared_ptr<const RankGroups> groups = groupsOf(n);
          if (kind == CollectiveKind::Permute) {
            auto pairs = std::make_shared<RankGroups>();
            for (int r = 0; r < n; ++r)
              pairs->pairs.push_back({r, (r + 1) % n});
            groups = pairs;
          }
          for (int segments : {1, 8, 64}) {
            alg::StepOptions options;
            options.segments = segments;
            if (segments > 1 && algorithm.wireChunks(kind, n, options) == algorithm.wireChunks(kind, n, {}) &&
                algorithm.name != "pat")
              continue;
            if (segments > n && algorithm.name == "pat")
              continue;
            std::unique_ptr<PlayedCollective> played;
            std::unique_ptr<KindProgram> everyone;
            if (n <= mostPlayedRanks)
              played = std::make_unique<PlayedCollective>(algorithm, kind, *groups, options, *topology, placement);
            else
              everyone = everyoneOf(algorithm, kind, n, options, *topology);
            std::unique_ptr<ClosedForm> form = ClosedForm::make(algorithm, kind, n, options, *topology, 0);
            if (!form) {
              ++worst.missing;
              continue;
            }
            worst.players = std::max(worst.players, form->players());
            for (int64_t bytes : sizes) {
              PlayOptions play;
              play.reduction = cluster.device.reduction;
              std::optional<Seconds> exact;
              if (everyone)
                exact = everyone->play({bytes}, network.links, play.reduction);
              else if (Result<Seconds> time = played->play({bytes}, network, play))
                exact = *time;
              std::vector<Topology::Link> links = network.links;
              for (Topology::Link &link : links)
                if (control && link.level == Topology::Level::Spine)
                  link.latency = {};
              std::optional<Seconds> formed = form->time({bytes}, links, cluster.device.reduction);
              double error = formed && exact ? std::abs(formed->value / exact->value - 1) : 9;
              if (kind == CollectiveKind::Permute && n == 1)
                continue;
              (form->exact() ? worst : estimate).see(error, n, segments, bytes);
            }
          }
        }
        if (!worst.compared && !estimate.compared && !worst.missing)
          continue;
        std::printf("%-26s  %-18s  %-14s  %3d not, at most %4d ranks count", fabric.name, algorithm.name.c_str(),
                    alg::name(kind), worst.missing, worst.players);
        worst.print("compared");
        estimate.print("estimates");
        std::printf("\n");
        std::fflush(stdout);
        ++served;
        missing += worst.missing;
        estimates += estimate.compared;
        worstOfAll = std::max(worstOfAll, worst.error);
        worstEstimate = std::max(worstEstimate, estimate.error);
      }
    }
  std::printf("%d algorithms with their collectives and machines; without a form: %d; estimates: %d\n", served, missing,
              estimates);
  std::printf("worst error of estimates: %.2f %%\n", worstEstimate * 100);
  std::printf("worst error of closed forms: %.2f %%\n", worstOfAll * 100);
  return 0;
}
