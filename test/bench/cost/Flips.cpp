//===- Flips.cpp - two fabrics that differ in the shape of their noise alone -----------------------------------------===//
//
//   cost_flips [--control]
//
// Steady and tailed have the same mean latency and the same mean bandwidth: all draws have mean one. With --control they have the same
// shape too. For each size the algorithm that is best at p50 and at p99 on each, and how many messages it takes:
//
//   start-up tails   256 hosts under one switch, all_reduce: a job's latency varies by 2 % or by 60 %, a message's noise by sigma 0.1
//                    or 1. Latencies are paid for each message of a chain, so that at the tail the shorter chain wins. Counted: the
//                    messages of the longest chain.
//   bandwidth tails  16 hosts in a fat tree with 2:1 oversubscription, reduce_scatter: a flow's bandwidth varies by sigma 0 or 0.5. PAT
//                    adds up on the way, so that fewer bytes cross the spines: each rank sends 4 messages, half of its bytes through
//                    one flow, and the slowest such flow counts. A naive exchange sends 15 small ones through 15 flows, whose mean is
//                    near one. So at the tail more, smaller and more spread messages win, over dearer links. (A ring, best without noise
//                    for large buffers, sends as many, but all through one flow.) Counted: the messages that a rank sends.
//===------------------------------------------------------------------------------------------------------------===//
#include "../../unit/PricedClusters.h"
#include <cstdio>
#include <cstring>

using namespace braid::cost;

namespace {

struct Choice {
  std::string algorithm;
  double messages = 0;
  bool operator==(const Choice &o) const { return algorithm == o.algorithm; }
};

struct Study {
  const char *name;
  Cluster cluster;
  CollectiveKind kind;
  int64_t smallest, largest;
  double (*messages)(const Candidate &c, CollectiveKind kind, int ranks);
};

double inChain(const Candidate &c, CollectiveKind, int) { return c.serialMessages; }

double sent(const Candidate &c, CollectiveKind kind, int ranks) {
  braid::algorithms::StepOptions options;
  for (int rank = 0; rank < ranks; ++rank) // one rank on each host
    options.hosts.push_back(rank);
  double count = 0;
  for (const braid::algorithms::Step &step :
       braid::algorithms::find(c.algorithm)->program(kind, ranks, 0, options).steps)
    count += step.action == braid::algorithms::Action::Send && !step.more;
  return count;
}

std::vector<int64_t> sizesOf(const Study &study) {
  std::vector<int64_t> sizes;
  for (int64_t bytes = study.smallest; bytes <= study.largest; bytes = bytes * 5 / 4 / 256 * 256)
    sizes.push_back(bytes);
  return sizes;
}

Choice best(const Pricer &pricer, const Study &study, int64_t bytes, double q) {
  CollectiveSpec spec = specOf(study.kind, bytes, nullptr);
  const std::vector<Candidate> &all = pricer.candidates(spec);
  Choice choice;
  double least = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    double time = pricer.quantile(spec, i, q).first.value;
    if (i == 0 || time < least) {
      least = time;
      choice = {all[i].algorithm, study.messages(all[i], study.kind, study.cluster.ranks())};
    }
  }
  return choice;
}

/// At p50 and at p99, by size.
struct Choices {
  std::vector<Choice> at50, at99;
  bool operator==(const Choices &o) const { return at50 == o.at50 && at99 == o.at99; }
};

Choices choicesOf(const Study &study, const FabricProfile &profile) {
  Cluster cluster = study.cluster;
  cluster.inter.profile = profile;
  Pricer pricer(cluster, packed(cluster), Engine::Braid, BucketForm::OneLaunch);
  Choices list;
  for (int64_t bytes : sizesOf(study)) {
    list.at50.push_back(best(pricer, study, bytes, 0.5));
    list.at99.push_back(best(pricer, study, bytes, 0.99));
  }
  return list;
}

void compare(const Study &study, FabricProfile steadyNoise, FabricProfile tailedNoise) {
  steadyNoise.name = "infiniband";
  tailedNoise.name = "roce";
  Choices steady = choicesOf(study, steadyNoise), tailed = choicesOf(study, tailedNoise);
  std::vector<int64_t> sizes = sizesOf(study);
  int atTail = 0, fewer = 0, more = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Choice &a = steady.at99[i], &b = tailed.at99[i];
    if (a == b)
      continue;
    bool flips = steady.at50[i] == tailed.at50[i];
    atTail += flips;
    fewer += b.messages < a.messages;
    more += b.messages > a.messages;
    std::printf("  %-12s p50: %s; p99: steady %s (%.0f messages), tailed %s (%.0f messages)\n",
                toString(Bytes{sizes[i]}).c_str(),
                flips ? ("both " + steady.at50[i].algorithm).c_str()
                      : (steady.at50[i].algorithm + " and " + tailed.at50[i].algorithm).c_str(),
                a.algorithm.c_str(), a.messages, b.algorithm.c_str(), b.messages);
  }
  // What a profile is called does not count, only its data.
  std::swap(steadyNoise.name, tailedNoise.name);
  bool named = choicesOf(study, steadyNoise) == steady && choicesOf(study, tailedNoise) == tailed;
  std::printf("%s: %zu sizes, %d flip at p99 and not at p50; at p99 %d to fewer messages, %d to more; %s\n", study.name,
              sizes.size(), atTail, fewer, more,
              named ? "choices follow the data, not the name" : "choices follow the name");
}

} // namespace

int main(int argc, char **argv) {
  bool control = argc > 1 && !std::strcmp(argv[1], "--control");
  FabricProfile steady, tailed;
  steady.latencyRebaseSigma = 0.02;
  steady.bulkMean = 0.1;
  steady.bulkSigma = 0.1;
  tailed = steady;
  tailed.latencyRebaseSigma = 0.6;
  tailed.bulkSigma = 1;
  Cluster flat = quietCluster(256, 1), leaves = quietCluster(16, 1);
  flat.topology = "single_switch";
  compare({"start-up tails", flat, CollectiveKind::AllReduce, 1024, 64 << 20, inChain}, steady,
          control ? steady : tailed);
  leaves.topology = "fat_tree";
  leaves.hostsPerLeaf = 4;
  leaves.oversubscription = 2;
  leaves.spineLatency = microseconds(1);
  tailed = steady;
  tailed.flowSigma = 0.5;
  compare({"bandwidth tails", leaves, CollectiveKind::ReduceScatter, 256 << 10, 16 << 20, sent}, steady,
          control ? steady : tailed);
  return 0;
}
