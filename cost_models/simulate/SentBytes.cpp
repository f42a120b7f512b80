//===- SentBytes.cpp - bytes that a rank sends in a step, counted ------------------------------------------------===//
//
// For each collective that the schedule runs, the step programs of its algorithm are made and every send is counted, as often
// as the block runs. NCCL's ring and tree send what Braid's ring and double binary tree do, and the halves of a composed
// all_reduce what a ring does. No formula is used, so that the formulas of what a system sends (Systems.h) can be checked
// against it.
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Systems.h"
#include <map>
#include <tuple>

using namespace braid::cost;
namespace algorithms = braid::algorithms;

namespace {

class Counter {
public:
  explicit Counter(const Cluster &cluster) : cluster(cluster) {}

  /// Mean over the ranks of all groups.
  double of(const CollectiveSpec &spec, const std::string &algorithm) {
    if (!spec.groups)
      return 0;
    double sent = 0, ranks = 0;
    for (const std::vector<int> &group : spec.groups->groups) {
      int n = int(group.size());
      sent += share(spec.kind, group, algorithm) * double(algorithms::bufferBytes(spec.kind, n, spec.bytes.value));
      ranks += n;
    }
    if (spec.kind == CollectiveKind::Permute)
      return double(spec.bytes.value) * double(spec.groups->pairs.size()) / std::max(1, spec.groups->size());
    return ranks > 0 ? sent / ranks : 0;
  }

private:
  /// Sent by all ranks of a group together, in units of the buffer.
  double share(CollectiveKind kind, const std::vector<int> &group, const std::string &name) {
    int n = int(group.size());
    algorithms::StepOptions options;
    std::string problem;
    const algorithms::Algorithm *algorithm =
        algorithms::parse(name == "tree" ? "double_binary_tree" : name, options, problem);
    if (!algorithm || !algorithm->serves(kind, n))
      algorithm = fallback(kind, n);
    if (!algorithm)
      return 0;
    for (int rank : group)
      options.hosts.push_back(rank < cluster.ranks() ? cluster.hostOf(rank) : 0);
    if (!algorithms::granted(*algorithm, options))
      algorithm = fallback(kind, n);
    auto [place, first] = shares.try_emplace({algorithm->name, int(kind), options.hosts}, 0);
    if (!first)
      return place->second;
    for (int rank = 0; rank < n; ++rank) {
      algorithms::StepProgram program = algorithm->program(kind, n, rank, options);
      int64_t chunks = 0;
      for (const algorithms::Step &step : program.steps)
        chunks += step.action == algorithms::Action::Send ? step.count : 0;
      place->second += double(chunks) / program.chunks;
    }
    return place->second;
  }
  static const algorithms::Algorithm *fallback(CollectiveKind kind, int n) {
    for (const char *name : {"ring", "pairwise_exchange", "binomial_tree", "direct"})
      if (const algorithms::Algorithm *algorithm = algorithms::find(name); algorithm && algorithm->serves(kind, n))
        return algorithm;
    return nullptr;
  }

  const Cluster &cluster;
  std::map<std::tuple<std::string, int, std::vector<int>>, double> shares;
};

} // namespace

double braid::cost::sentBytes(const Program &program, const Schedule &schedule, const Pricer &pricer) {
  Counter counter(pricer.cluster());
  std::vector<double> times = runs(program);
  double sent = 0;
  for (size_t b = 0; b < program.blocks.size(); ++b)
    for (const Bucket &bucket : schedule.blocks[b].buckets) {
      CollectiveSpec spec = mergedSpec(program.blocks[b], bucket);
      if (times[b] > 0)
        sent += times[b] * counter.of(spec, pricer.candidates(spec)[bucket.candidate].algorithm);
    }
  return sent;
}
