//===- EmitOpenMpiRules.cpp - choices as rules of Open MPI's component coll/tuned -------------------------------===//
//
// Open MPI's algorithms that Braid has as step programs are priced by playing those on the cluster (by the calibration `messages`
// where the file has one); its other algorithms have no price and are not chosen. The file:
//
//   number of collectives
//     for each: its number, how many sizes of communicators; for each: ranks, how many rules; for each:
//       bytes   algorithm   fan in/out   segment in bytes         for messages of so many bytes and more; algorithm 0: Open MPI's own
//
// A communicator takes the last entry that is not larger than it is, so entries of no rules stand around the one of ours.
// Read in: open-mpi/ompi, ompi/mca/coll/tuned/coll_tuned_dynamic_file.c and coll_tuned_decision_dynamic.c (4.1, 5.0).
//===------------------------------------------------------------------------------------------------------------===//
#include "braid/cost_models/Choices.h"
#include <algorithm>
#include <cmath>

namespace braid::cost {

namespace {

/// An algorithm of both.
struct Pair {
  const char *braid;
  int number;
  const char *openMpi;
};

/// A collective of Open MPI, with the number of its kind in rules.
struct Tuned {
  int number;
  const char *name;
  CollectiveKind kind;
  bool ofResult; ///< its size is that of all operands: what everyone, or the root, gets
  std::vector<Pair> algorithms;
};

const std::vector<Tuned> &tunedCollectives() {
  using K = CollectiveKind;
  static const std::vector<Tuned> all = {
      {0,
       "allgather",
       K::AllGather,
       true,
       {{"master_worker", 1, "linear"},
        {"bruck", 2, "bruck"},
        {"recursive_doubling", 3, "recursive_doubling"},
        {"ring", 4, "ring"}}},
      {2,
       "allreduce",
       K::AllReduce,
       false,
       {{"master_worker", 1, "basic_linear"},
        {"binomial_tree", 2, "nonoverlapping"},
        {"recursive_doubling", 3, "recursive_doubling"},
        {"ring", 4, "ring"},
        {"halving_doubling", 6, "rabenseifner"}}},
      {3,
       "alltoall",
       K::AllToAll,
       false,
       {{"naive_exchange", 1, "linear"}, {"pairwise_exchange", 2, "pairwise"}, {"bruck", 3, "modified_bruck"}}},
      {7,
       "bcast",
       K::Broadcast,
       false,
       {{"naive_exchange", 1, "basic_linear"},
        {"pipelined_chain", 3, "pipeline"},
        {"binomial_tree", 6, "binomial"},
        {"scatter_allgather", 9, "scatter_allgather_ring"}}},
      {9, "gather", K::Gather, true, {{"naive_exchange", 1, "basic_linear"}, {"binomial_tree", 2, "binomial"}}},
      {11,
       "reduce",
       K::Reduce,
       false,
       {{"naive_exchange", 1, "linear"}, {"pipelined_chain", 3, "pipeline"}, {"binomial_tree", 5, "binomial"}}},
      {12,
       "reduce_scatter",
       K::ReduceScatter,
       false,
       {{"halving_doubling", 2, "recursive_halving"}, {"ring", 3, "ring"}}},
      {13,
       "reduce_scatter_block",
       K::ReduceScatter,
       false,
       {{"master_worker", 1, "basic_linear"}, {"halving_doubling", 3, "recursive_halving"}}},
      {15, "scatter", K::Scatter, false, {{"naive_exchange", 1, "basic_linear"}, {"binomial_tree", 2, "binomial"}}},
  };
  return all;
}

const Pair *pairOf(const Tuned &tuned, const Candidate &candidate) {
  for (const Pair &pair : tuned.algorithms)
    if (candidate.algorithm == pair.braid)
      return &pair;
  return nullptr;
}

/// Bytes of a pipeline's segments, the power of two nearest to a chunk; 0: not cut.
int64_t segmentOf(const Candidate &candidate, int64_t bytes) {
  if (candidate.chunks <= 1)
    return 0;
  // setting: no segment is shorter than 1 KiB, of which the start-up is all
  double chunk = std::max(1024.0, double(bytes) / candidate.chunks / std::max(1, candidate.channels));
  return int64_t(1) << std::lround(std::log2(chunk));
}

class Rules {
public:
  Rules(const Cluster &cluster, int ranks, Bytes most) : cluster(cluster), ranks(ranks), most(most) {
    for (int rank = 0; rank < ranks; ++rank) {
      placement.deviceOf.push_back(rank);
      everyone->groups.resize(1);
      everyone->groups[0].push_back(rank);
    }
  }

  std::string of(const Tuned &tuned) {
    Pricer pricer(cluster, placement, Engine::Braid, BucketForm::OneLaunch);
    int64_t unit = tuned.ofResult ? ranks : 1;
    CollectiveSpec spec;
    spec.kind = tuned.kind;
    spec.groups = everyone;
    auto rank = [&](int64_t size) -> Ranking {
      spec.bytes = {size};
      for (const Candidate &candidate : pricer.candidates(spec))
        if (pairOf(tuned, candidate))
          return {&candidate};
      return {};
    };
    auto segment = [&](const Ranking &ranking, int64_t bytes) {
      const Pair *pair = ranking.empty() ? nullptr : pairOf(tuned, *ranking[0]);
      return pair && std::string(pair->openMpi) == "pipeline" ? segmentOf(*ranking[0], bytes) : 0;
    };
    auto identity = [&](const Ranking &ranking, int64_t bytes) {
      return ranking.empty() ? std::string() : ranking[0]->algorithm + " " + std::to_string(segment(ranking, bytes));
    };
    std::string lines;
    int count = 0;
    // setting: a choice goes on where the next is less than 2 % better
    for (const ChoiceRange &range : choiceRanges(std::max<int64_t>(1, most.value / unit), rank, identity, 1.02, 4)) {
      const Pair *pair = range.first.empty() ? nullptr : pairOf(tuned, *range.first[0]);
      int64_t cut = segment(range.first, range.from);
      std::string why = "# nothing of Open MPI's is priced here";
      if (pair)
        why = std::string("# ") + pair->openMpi + (cut ? " in segments" : "") + ": " + toString(range.first[0]->time) +
              " at first, " + toString(range.last[0]->time) + " at " + toString(Bytes{range.to * unit}) + "; Braid's " +
              pair->braid;
      lines += "      " + std::to_string(count ? range.from * unit : 0) + " " +
               std::to_string(pair ? pair->number : 0) + " 0 " + std::to_string(cut) + "  " + why + "\n";
      ++count;
    }
    lines += "      " + std::to_string((most.value / unit + 1) * unit) + " 0 0 0  # larger ones: Open MPI's own\n";
    return std::string("\n  ") + std::to_string(tuned.number) + "  # " + tuned.name +
           "\n  3  # sizes of communicators\n" + own(0) + "    " + std::to_string(ranks) + "  # ranks\n    " +
           std::to_string(count + 1) + "  # rules\n" + lines + own(ranks + 1);
  }

private:
  static std::string own(int from) {
    return "    " + std::to_string(from) + "  # ranks and more: Open MPI's own\n    1\n      0 0 0 0\n";
  }

  const Cluster &cluster;
  int ranks;
  Bytes most;
  Placement placement;
  std::shared_ptr<RankGroups> everyone = std::make_shared<RankGroups>();
};

} // namespace

Result<std::string> emitOpenMpiRules(const Cluster &cluster, int ranks, Bytes most) {
  if (cluster.ranks() < 2)
    return Error{"cluster, expected at least 2 devices, got 1: nothing to choose", cluster.path};
  if (ranks < 2 || ranks > cluster.ranks())
    return Error{"ranks, expected 2 to " + std::to_string(cluster.ranks()) + ", got " + std::to_string(ranks),
                 cluster.path};
  Rules rules(cluster, ranks, most);
  std::string out = "# Open MPI, coll/tuned: algorithms for " + std::to_string(ranks) + " ranks of cluster " +
                    cluster.name + " (" + cluster.hash +
                    ")\n# mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename FILE\n" +
                    "# Predicted times are of Braid's step programs; sizes are bytes of the whole message.\n" +
                    std::to_string(tunedCollectives().size()) + "  # collectives\n";
  for (const Tuned &tuned : tunedCollectives())
    out += rules.of(tuned);
  return out;
}

} // namespace braid::cost
