//===- ClosedForms.cpp - formulas for what playing a step program takes -----------------------------------------===//
#include "pricing/ClosedForms.h"
#include "braid/runtime/algorithms/Levels.h"
#include "pricing/Kinds.h"
#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace braid::cost {

Seconds ringTime(CollectiveKind kind, int n, Bytes operand, const UniformMachine &machine) {
  if (n <= 1)
    return {};
  double block = double(operand.value) / (kind == CollectiveKind::AllGather ? 1 : n);
  double steps = kind == CollectiveKind::AllReduce ? 2 * (n - 1) : n - 1;
  double reducing = kind == CollectiveKind::AllGather ? 0 : n - 1;
  return machine.alpha * steps + Seconds{steps * block / machine.bandwidth.value} +
         Seconds{machine.reduction.value > 0 ? reducing * block / machine.reduction.value : 0};
}

Seconds doubleTreeTime(int n, Bytes operand, int segments, const UniformMachine &machine) {
  if (n <= 1)
    return {};
  double h = std::floor(std::log2(n));
  double segment = double(operand.value) / 2 / segments; // each tree carries a half
  double transfer = segment / machine.bandwidth.value;
  double reduce = machine.reduction.value > 0 ? segment / machine.reduction.value : 0;
  double alpha = machine.alpha.value;
  // Two children share the link into their parent, and the link out of it: a level costs two transfers, but for two
  // ranks.
  double level = n == 2 ? transfer : 2 * transfer;
  double first = 2 * h * (alpha + level) + h * reduce - (n == 2 ? 0 : transfer);
  // Then one segment of each tree follows in a turn. An inner rank passes up to four of them through its link (in one
  // tree to its parent and two children, in the other to its parent); and a rank at depth h has 2 h messages ahead of
  // it for 2 h + 1 segments.
  double turn = std::max((n == 2 ? 2 : 4) * transfer, 2 * h / (2 * h + 1) * (alpha + level + reduce / 2));
  return Seconds{first + (segments - 1) * turn};
}

namespace {
class OfKinds : public ClosedForm {
public:
  OfKinds(std::unique_ptr<KindProgram> program, bool isExact) : program(std::move(program)), isExact(isExact) {}
  bool exact() const override { return isExact; }
  std::optional<Seconds> time(Bytes operand, const std::vector<Topology::Link> &links,
                              BytesPerSecond reduction) const override {
    return program->play(operand, links, reduction);
  }
  int players() const override { return program->players(); }
  std::string how() const override { return program->how; }

private:
  std::unique_ptr<KindProgram> program;
  bool isExact;
};

/// A pipeline once it is full: every segment takes as long as the one before.
constexpr int filled = 8;
class Pipeline : public ClosedForm {
public:
  Pipeline(std::unique_ptr<KindProgram> full, std::unique_ptr<KindProgram> twice, int segments)
      : full(std::move(full)), twice(std::move(twice)), segments(segments) {}
  std::optional<Seconds> time(Bytes operand, const std::vector<Topology::Link> &links,
                              BytesPerSecond reduction) const override {
    double segment = double(operand.value) / segments;
    std::optional<Seconds> some = full->playSized(segment * filled, links, reduction);
    std::optional<Seconds> more = twice->playSized(segment * 2 * filled, links, reduction);
    if (!some || !more)
      return std::nullopt;
    return *more + (*more - *some) * (double(segments - 2 * filled) / filled);
  }
  bool exact() const override { return false; }
  int players() const override { return twice->players(); }
  std::string how() const override { return twice->how; }

private:
  std::unique_ptr<KindProgram> full, twice;
  int segments;
};

/// A line of ranks along which segments follow each other. The first segment meets every link. Each one after it is one turn
/// behind, that of the busiest link or reducer; in an all_reduce, rank d holds segments up besides, since it has the way to rank 0 and
/// back ahead of it (PipelinedChain.cpp).
class Chain : public ClosedForm {
public:
  Chain(CollectiveKind kind, int ranks, int segments, const Topology &topology, int first)
      : kind(kind), ranks(ranks), segments(segments) {
    for (int rank = 0; rank + 1 < ranks; ++rank) {
      if (kind != CollectiveKind::Reduce)
        ways.push_back(topology.path(first + rank, first + rank + 1));
      if (kind != CollectiveKind::Broadcast)
        back.push_back(topology.path(first + rank + 1, first + rank));
    }
    for (const std::vector<Topology::Path> *paths : {&ways, &back})
      for (const Topology::Path &path : *paths)
        for (int link : path)
          ++uses[link];
  }
  std::optional<Seconds> time(Bytes operand, const std::vector<Topology::Link> &links,
                              BytesPerSecond reduction) const override {
    double segment = double(operand.value) / segments;
    double reduce = kind == CollectiveKind::Broadcast || reduction.value <= 0 ? 0 : segment / reduction.value;
    double turn = reduce, first = 0, held = 0;
    for (auto [link, times] : uses)
      turn = std::max(turn, times * segment / links[link].bandwidth.value);
    for (int hop = 0; hop + 1 < ranks; ++hop) {
      first += (ways.empty() ? 0 : hopTime(ways[hop], segment, links)) +
               (back.empty() ? 0 : hopTime(back[hop], segment, links) + reduce);
      if (kind == CollectiveKind::AllReduce) // round trips of rank hop + 1 that a segment waits for
        held = std::max(held, first * waits(hop + 1));
    }
    return Seconds{first + std::max(held, (segments - 1) * turn)};
  }
  bool exact() const override { return kind != CollectiveKind::AllReduce || segments == 1; }
  int players() const override { return ranks; }
  std::string how() const override { return "a line of ranks"; }

private:
  static double hopTime(const Topology::Path &path, double bytes, const std::vector<Topology::Link> &links) {
    double latency = 0, slowest = 0;
    for (int link : path) {
      latency += links[link].latency.value;
      slowest = std::max(slowest, bytes / links[link].bandwidth.value);
    }
    return latency + slowest;
  }
  /// 2 d + 1 segments for a round trip of 2 d messages.
  double waits(int d) const {
    int q = (segments - 1) / (2 * d + 1), t = (segments - 1) % (2 * d + 1);
    return q + (t > 1 ? double((t - 1) / 2) / d : 0);
  }

  CollectiveKind kind;
  int ranks, segments;
  std::vector<Topology::Path> ways, back;
  std::unordered_map<int, int> uses; ///< link -> messages of one segment
};
} // namespace

std::unique_ptr<ClosedForm> ClosedForm::make(const algorithms::Algorithm &algorithm, CollectiveKind kind, int ranks,
                                             const algorithms::StepOptions &asked, const Topology &topology,
                                             int first) {
  const Cluster &cluster = topology.cluster();
  algorithms::StepOptions options = asked;
  std::vector<int> hosts(ranks);
  for (int rank = 0; rank < ranks; ++rank)
    hosts[rank] = cluster.hostOf(first + rank);
  options.hosts = algorithms::levels(std::move(hosts));
  bool shared = cluster.oversubscription > 1 || (cluster.hosts > 1 && cluster.nicsPerHost < cluster.devicesPerHost);
  if ((algorithm.name == "pipelined_chain" && !shared) ||
      (algorithm.name == "ring" && kind == CollectiveKind::Broadcast))
    return std::make_unique<Chain>(kind, ranks, options.segments, topology, first);
  algorithms::StepOptions fewer = options;
  bool pipeline = algorithm.name == "double_binary_tree";
  if (pipeline && options.segments > 2 * filled)
    fewer.segments = 2 * filled;
  auto program = KindProgram::make(algorithm, kind, ranks, fewer, topology, first);
  if (!program)
    return nullptr;
  if (fewer.segments == options.segments)
    return std::make_unique<OfKinds>(std::move(program), !pipeline);
  fewer.segments = filled;
  return std::make_unique<Pipeline>(KindProgram::make(algorithm, kind, ranks, fewer, topology, first),
                                    std::move(program), options.segments);
}

} // namespace braid::cost
