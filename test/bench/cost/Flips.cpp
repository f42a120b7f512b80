//===- Flips.cpp - two fabrics that differ in the shape of their latency alone ---------------------------------------===//
//
//   cost_flips [--control]       hosts under one switch, all_reduce of 1 KiB to 64 MiB
//
// Steady and tailed have the same mean latency (all draws have mean one) and the same bandwidth; a job's latency varies by 2 % or by 60 %, a
// message's noise by sigma 0.1 or 1. For each size: the algorithm that is best at p50 and at p99 on each, and its serial messages.
// With --control the two have the same shape.
//===------------------------------------------------------------------------------------------------------------===//
#include "../../unit/PricedClusters.h"
#include <cstdio>
#include <cstring>

using namespace braid::cost;

namespace {

FabricProfile profileOf(const char *name, double job, double sigma) {
  FabricProfile p;
  p.name = name;
  p.latencyRebaseSigma = job;
  p.bulkMean = 0.1;
  p.bulkSigma = sigma;
  return p;
}

struct Choice {
  std::string algorithm;
  double messages = 0;
  bool operator==(const Choice &o) const { return algorithm == o.algorithm; }
};

Choice best(const Pricer &pricer, int64_t bytes, double q) {
  CollectiveSpec spec = specOf(CollectiveKind::AllReduce, bytes, nullptr);
  const std::vector<Candidate> &all = pricer.candidates(spec);
  Choice choice;
  double least = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    double time = pricer.quantile(spec, i, q).first.value;
    if (i == 0 || time < least) {
      least = time;
      choice = {all[i].algorithm, all[i].serialMessages};
    }
  }
  return choice;
}

std::vector<Choice> choices(const FabricProfile &profile, double q) {
  Cluster cluster = quietCluster(256, 1);
  cluster.topology = "single_switch";
  cluster.inter.profile = profile;
  Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
  std::vector<Choice> list;
  for (int64_t bytes = 1024; bytes <= 64 << 20; bytes = bytes * 5 / 4 / 256 * 256)
    list.push_back(best(pricer, bytes, q));
  return list;
}

} // namespace

int main(int argc, char **argv) {
  bool control = argc > 1 && !std::strcmp(argv[1], "--control");
  FabricProfile steady = profileOf("infiniband", 0.02, 0.1);
  FabricProfile tailed = control ? profileOf("roce", 0.02, 0.1) : profileOf("roce", 0.6, 1);
  std::vector<Choice> steady50 = choices(steady, 0.5), steady99 = choices(steady, 0.99);
  std::vector<Choice> tailed50 = choices(tailed, 0.5), tailed99 = choices(tailed, 0.99);
  int flips = 0, fewer = 0, more = 0;
  int64_t bytes = 1024;
  for (size_t i = 0; i < steady50.size(); ++i, bytes = bytes * 5 / 4 / 256 * 256) {
    if (!(steady50[i] == tailed50[i]) || steady99[i] == tailed99[i])
      continue;
    ++flips;
    (tailed99[i].messages < steady99[i].messages ? fewer : more)++;
    std::printf("%-12s p50: both %s; p99: steady %s (%.0f messages), tailed %s (%.0f messages)\n",
                toString(Bytes{bytes}).c_str(), steady50[i].algorithm.c_str(), steady99[i].algorithm.c_str(),
                steady99[i].messages, tailed99[i].algorithm.c_str(), tailed99[i].messages);
  }
  // What a profile is called does not count, only its data.
  std::swap(steady.name, tailed.name);
  bool named = choices(steady, 0.99) == steady99 && choices(tailed, 0.99) == tailed99;
  std::printf("%zu sizes: %d flip at p99 and not at p50, %d to fewer messages, %d to more; %s\n", steady50.size(),
              flips, fewer, more, named ? "choices follow the data, not the name" : "choices follow the name");
  return 0;
}
